package source

import (
	"cmp"
	"fmt"
	"maps"
	"reflect"
	"regexp"
	"slices"
	"strings"

	"tcbuild/conf"
	"tcbuild/fault"
	"tcbuild/ingest"
	"tcbuild/ingest/graph"
	"tcbuild/ingest/names"
)

// prepared returns the spec with defaults filled in, or an error for invalid settings. Its errors
// are of kind fault.Usage and name the setting.
func (s GraphSpec) prepared() (GraphSpec, error) {
	s.Nodes, s.Edges, s.Ontology.Annotations = slices.Clone(s.Nodes), slices.Clone(s.Edges), slices.Clone(s.Ontology.Annotations)
	err := s.prepare()
	return s, err
}

func (s *GraphSpec) prepare() error {
	s.SelfLoops = cmp.Or(s.SelfLoops, LoopsKeep)
	s.UnknownGenes = cmp.Or(s.UnknownGenes, RefuseNames)
	hasModel := s.GEM != GEMSpec{}
	s.GEM.ReactionNodes = cmp.Or(s.GEM.ReactionNodes, WholeReactions)
	if s.MaxDropped == nil {
		s.MaxDropped = new(ingest.DefaultMaxDropped)
	}
	place := at(cmp.Or(s.Genes.Place, s.Place), "genes")
	s.Genes.Place = place
	err := cmp.Or(
		refuse(s.Genes.GEM != "" && s.Genes.File+s.Genes.Column != "", "to take the genes of the model, remove the table: ~genes.source ~genes.file",
			"%s: found both gem and a table, expected one of them", place),
		required(place, "file", cmp.Or(s.Genes.GEM, s.Genes.File), "column", cmp.Or(s.Genes.GEM, s.Genes.Column)),
		checkRows(place, s.Genes.RowsSpec))
	if err != nil {
		return err
	}
	if s.Aliases, err = prepareAliases("aliases", s.Aliases); err != nil {
		return err
	}
	err = cmp.Or(oneOf("unknown_genes", s.UnknownGenes, RefuseNames, DropNames), s.SelfLoops.check("self_loops"), checkMaxDropped(*s.MaxDropped),
		refuse(hasModel && s.GEM.File == "", "name the model's file; for a graph without metabolism, remove the section: ~gem", "%s: missing", at(s.GEM.Place, "gem.file")),
		oneOf(at(s.GEM.Place, "gem.reaction_nodes"), s.GEM.ReactionNodes, WholeReactions, Combinations), s.Ontology.prepare())
	if err != nil {
		return err
	}
	types := map[string]bool{ingest.Gene: true, ingest.Reaction: s.GEM.File != "", ingest.Metabolite: s.GEM.File != ""}
	if s.Ontology.File != "" {
		types[geneOntology] = true
	}
	for i := range s.Nodes {
		s.Nodes[i].Place = at(s.Nodes[i].Place, "nodes.%d", i)
		if err := s.Nodes[i].check(types); err != nil {
			return err
		}
	}
	relations := make(map[string]conf.Place)
	for i := range s.Edges {
		if err := s.prepareEdges(i, types, relations); err != nil {
			return err
		}
	}
	return nil
}

// prepareAliases returns the tables with the places of their settings, which are below key.
func prepareAliases(key string, tables []names.AliasTable) ([]names.AliasTable, error) {
	tables = slices.Clone(tables)
	for i, t := range tables {
		place := at(t.Place, "%s.%d", key, i)
		tables[i].Place = place
		err := cmp.Or(required(place, "file", t.File, "id", t.ID, "names", strings.Join(t.Names, ",")), checkRows(place, t.RowsSpec),
			refuse(t.Kinds != nil && len(t.Kinds) != 1+len(t.Names), "", "%s.kinds: found %d, expected one for id and each of names", place, len(t.Kinds)))
		if err != nil {
			return nil, err
		}
	}
	return tables, nil
}

// check returns an error for a type that an earlier table or a section has. types has those, with
// false for one that only the missing section could make.
func (n NodesSpec) check(types map[string]bool) error {
	place := n.Place
	wrong := graph.WrongNodeType(n.Type)
	_, taken := types[n.Type]
	types[n.Type] = true
	return cmp.Or(required(place, "type", n.Type, "file", n.File, "column", n.Column), checkRows(place, n.RowsSpec), checkKept(place, n.Keep),
		refuse(wrong != "", "", "%s.type: %s", place, wrong),
		refuse(taken, "give each type one table; genes, gem and gene_ontology make their own", "%s.type: found %s, which has other nodes", place, n.Type))
}

// checkKept checks the types of columns that are carried.
func checkKept(place conf.Place, keep map[string]KeptType) (err error) {
	for _, name := range slices.Sorted(maps.Keys(keep)) {
		err = cmp.Or(err, oneOf(place+conf.Place(".keep."+name), keep[name], KeptNumber, KeptInteger, KeptText))
	}
	return err
}

// ofGenes reports whether the edges are between genes.
func (t *EdgesSpec) ofGenes() bool { return t.FromType == ingest.Gene && t.ToType == ingest.Gene }

// setTypes fills in the types of the nodes, and what follows from them.
func (t *EdgesSpec) setTypes(types map[string]bool) error {
	place := t.Place
	t.FromType, t.ToType = cmp.Or(t.FromType, ingest.Gene), cmp.Or(t.ToType, ingest.Gene)
	for _, nodeType := range []string{t.FromType, t.ToType} {
		made, known := types[nodeType]
		wrong := graph.WrongNodeType(nodeType)
		err := cmp.Or(refuse(known && !made, "name a model in the section gem", "%s: found edges of type %s, whose nodes only a model makes", place, nodeType),
			refuse(wrong != "", "", "%s: node type %s", place, wrong))
		if err != nil {
			return err
		}
	}
	if t.ofGenes() {
		return nil
	}
	err := cmp.Or(
		refuse(t.SelfLoops != "", "remove it", "%s.self_loops: found it for edges that are not of genes", place),
		refuse(t.Matrix != "" || t.IDs != "", "remove it, or from_type and to_type", "%s: found matrix or ids for edges that are not of genes", place),
		refuse(t.FromType != t.ToType && t.Undirected != nil && *t.Undirected, "omit it", "%s.undirected: found true for edges between two node types", place))
	if t.FromType != t.ToType {
		t.Undirected = new(bool)
	}
	t.SelfLoops = LoopsKeep
	return err
}

// prepareEdges is prepared for one source of edges; relations maps the edge types of earlier
// sources to their places.
func (s *GraphSpec) prepareEdges(i int, types map[string]bool, relations map[string]conf.Place) error {
	edges := &s.Edges[i]
	place := at(edges.Place, "edges.%d", i)
	edges.Place = place
	if err := edges.setTypes(types); err != nil {
		return err
	}
	edges.SelfLoops = cmp.Or(edges.SelfLoops, s.SelfLoops)
	if err := cmp.Or(edges.SelfLoops.check(place+".self_loops"), edges.check()); err != nil {
		return err
	}
	for _, name := range edges.relations() {
		if _, by, _ := cutPlaceholder(name); by != "" && edges.Matrix == "" {
			continue
		}
		made := edges.edgeType(name)
		reserved := graph.WrongEdgeType(made) != "" || name == ingest.GPR.Relation || name == ingest.RMR.Relation || made == ingest.MRM
		other, taken := relations[made.String()]
		err := cmp.Or(checkRelation(place+".relation: found", name),
			refuse(reserved, "choose another name", "%s.relation: found %q, which is reserved for the metabolic part", place, name),
			refuse(taken, "give every edge type its own name; {column} in a relation stands for the score column", "%s.relation: %q is also the name of edges of %s", place, name, other))
		if err != nil {
			return err
		}
		relations[made.String()] = place
	}
	return nil
}

// at says where the setting is that a key names. place is where its section is, without or with the
// keys above it.
func at(place conf.Place, key string, args ...any) conf.Place {
	return conf.Place(strings.TrimPrefix(fmt.Sprintf("%s: "+key, append([]any{place}, args...)...), ": "))
}

// relationName matches what an edge type's name, and so its file's name, can contain.
var relationName = regexp.MustCompile(`^[A-Za-z0-9](_?[A-Za-z0-9.-])*$`)

func checkRelation(found conf.Place, name string) error {
	return refuse(!relationName.MatchString(name), "use only letters, digits, _ - and .", "%s %q, expected a name for an edge type and its file", found, name)
}

// checkPattern returns an error for a pattern without a group, which would be the name.
func checkPattern(place conf.Place, text string) error {
	pattern, err := regexp.Compile(text)
	if err != nil {
		return usage("write it as https://github.com/google/re2/wiki/Syntax says", "%s: %w", place, err)
	}
	return refuse(text != "" && pattern.NumSubexp() == 0, "put the name in parentheses, as in ^(.+)_YPD$", "%s: found %q, expected a group", place, text)
}

func (t *EdgesSpec) check() error {
	place := t.Place
	ofTable := t.Matrix == ""
	err := cmp.Or(required(place, "file", t.File, "relation", t.Relation), t.Cutoff.check(place))
	if ofTable {
		err = cmp.Or(err, required(place, "from", strings.Join(t.From, ""), "to", strings.Join(t.To, "")))
	} else {
		err = cmp.Or(err, oneOf(place+".matrix", t.Matrix, TargetRows, FactorRows))
	}
	forTables, forMatrices := t.keysOfKind()
	err = cmp.Or(err, checkPattern(place+".name", t.Name), checkPattern(place+".column_name", t.ColumnName), checkKept(place, t.Keep), checkRows(place, t.RowsSpec),
		t.Ablation.check(place, !ofTable || len(t.Weight) > 0),
		refuse(!ofTable && forTables != "", "remove one of them", "%s: found both matrix and %s, which a matrix cannot have", place, forTables),
		refuse(ofTable && forMatrices != "", "say matrix: targets, or matrix: factors", "%s: found %s, expected it of a matrix only", place, forMatrices))
	if !ofTable || err != nil {
		return err
	}
	return cmp.Or(
		refuse(t.Undirected == nil, "true stores a pair once; false stores an edge per row, from -> to", "%s.undirected: missing", place),
		refuse(t.IDs != "" && (t.StripPrefix+t.Split+t.Name != "" || t.UpperCase), "remove them", "%s: found ids beside strip_prefix, name, upper_case or split, which are about names", place),
		refuse(len(t.Weight) == 0 && (t.isSet() || t.Nonzero), "name the weight column", "%s.weight: missing, although min, max or nonzero is set", place),
		refuse(t.isSet() && t.Nonzero, "remove one of them; of a source, with nonzero: false", "%s: found both nonzero and min or max, expected one of them", place),
		refuse(t.IndexBase != 0 && t.IndexBase != 1, "", "%s.index_base: found %d, expected 0 or 1", place, t.IndexBase),
		refuse(t.IndexBase != 0 && t.IDs == "", "name the file of the ids that the numbers refer to", "%s.ids: missing, although index_base is set", place))
}

// keysOfKind returns a key that is set and that a matrix cannot have, and one that only a matrix
// can have.
func (t *EdgesSpec) keysOfKind() (forTables, forMatrices string) {
	for key, set := range map[string]bool{"from": t.From != nil, "to": t.To != nil, "undirected": t.Undirected != nil, "weight": t.Weight != nil,
		"where": t.Where != "", "filters": t.Filters != nil, "split": t.Split != "", "strip_prefix": t.StripPrefix != "", "name": t.Name != "",
		"keep": t.Keep != nil, "ids": t.IDs != "", "nonzero": t.Nonzero} {
		if set {
			forTables = max(forTables, key)
		}
	}
	if t.ColumnName != "" {
		forMatrices = "column_name"
	}
	if t.Ignore != nil {
		forMatrices = "ignore"
	}
	return forTables, forMatrices
}

func (o *OntologySpec) prepare() error {
	place := at(o.Place, "gene_ontology")
	given := !reflect.ValueOf(*o).IsZero()
	o.Terms = cmp.Or(o.Terms, AllTerms)
	o.Relation = cmp.Or(o.Relation, "has_annotation")
	err := cmp.Or(
		refuse(given && o.File == "", "name the ontology, such as go-basic.obo; for a graph without terms, remove the section: ~gene_ontology", "%s.file: missing", place),
		refuse(o.Terms == AnnotatedTerms && len(o.Annotations) == 0, "name their files", "%s.annotations: missing, although terms is annotated", place),
		oneOf(place+".terms", o.Terms, AllTerms, AnnotatedTerms))
	for i, a := range o.Annotations {
		place := at(a.Place, "gene_ontology.annotations.%d", i)
		o.Annotations[i].Place = place
		err = cmp.Or(err, required(place, "file", a.File, "gene", a.Gene, "term", a.Term), checkRows(place, a.RowsSpec))
	}
	for _, name := range append(slices.Sorted(maps.Values(o.Relations)), o.Relation) {
		err = cmp.Or(err, checkRelation(place+": found relation", name))
	}
	return err
}

func (l SelfLoops) check(place conf.Place) error {
	return oneOf(place, l, LoopsKeep, LoopsNone, LoopsAppend)
}

// oneOf returns an error unless a setting has one of the values.
func oneOf[T ~string](place conf.Place, found T, values ...T) error {
	if err := fault.OneOf(string(place), found, values...); err != nil {
		return usage(fault.HintOf(err), "%w", err)
	}
	return nil
}

// required returns an error for the first setting of keys and values without a value.
func required(place conf.Place, settings ...string) (err error) {
	for k := 0; k < len(settings); k += 2 {
		err = cmp.Or(err, refuse(settings[k+1] == "", "", "%s.%s: missing", place, settings[k]))
	}
	return err
}

// refuse returns a usage error if a setting is wrong.
func refuse(wrong bool, hint, format string, args ...any) error {
	if !wrong {
		return nil
	}
	return usage(hint, format, args...)
}

func usage(hint, format string, args ...any) error {
	return fault.New(fault.Usage, hint, "check graph settings: "+format, args...)
}
