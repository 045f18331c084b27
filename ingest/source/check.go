package source

import (
	"cmp"
	"fmt"
	"maps"
	"reflect"
	"regexp"
	"slices"
	"strings"

	"github.com/dustin/go-humanize/english"

	"tcbuild/conf"
	"tcbuild/fault"
	"tcbuild/ingest"
	"tcbuild/ingest/graph"
)

// prepared returns the spec with defaults filled in, or an error for invalid settings. Its errors
// are of kind fault.Usage and name the setting.
func (s GraphSpec) prepared() (GraphSpec, error) {
	s.Edges = slices.Clone(s.Edges)
	err := s.prepare()
	return s, err
}

func (s *GraphSpec) prepare() error {
	s.SelfLoops = cmp.Or(s.SelfLoops, LoopsKeep)
	s.UnknownGenes = cmp.Or(s.UnknownGenes, ingest.RefuseUnknownGenes)
	given := s.GEM != GEMSpec{}
	s.GEM.ReactionNodes = cmp.Or(s.GEM.ReactionNodes, WholeReactions)
	if s.MaxDropped == nil {
		s.MaxDropped = new(DefaultMaxDropped)
	}
	place := at(cmp.Or(s.Genes.Place, s.Place), "genes")
	if s.Genes.GEM != "" && s.Genes.File+s.Genes.Column != "" {
		return usage("to take the genes of the model, remove the table: ~genes.source ~genes.file", "%s: found both gem and a table, expected one of them", place)
	}
	err := cmp.Or(required(place, setting{"file", cmp.Or(s.Genes.GEM, s.Genes.File)}, setting{"column", cmp.Or(s.Genes.GEM, s.Genes.Column)}),
		s.Genes.RowsSpec.check(place), checkAliases("aliases", s.Aliases))
	if err != nil {
		return err
	}
	if err := s.UnknownGenes.Check(); err != nil {
		return usage(fault.HintOf(err), "%w", err)
	}
	if err := cmp.Or(s.SelfLoops.check("self_loops"), checkMaxDropped(*s.MaxDropped)); err != nil {
		return err
	}
	if given && s.GEM.File == "" {
		return usage("name the model's file; for a graph without metabolism, remove the section: ~gem", "%s: missing", at(s.GEM.Place, "gem.file"))
	}
	if err := cmp.Or(oneOf(at(s.GEM.Place, "gem.reaction_nodes"), s.GEM.ReactionNodes, WholeReactions, Combinations), s.Ontology.prepare()); err != nil {
		return err
	}
	types := map[string]bool{ingest.Gene: true, ingest.Reaction: s.GEM.File != "", ingest.Metabolite: s.GEM.File != ""}
	if s.Ontology.File != "" {
		types[geneOntology] = true
	}
	for i, nodes := range s.Nodes {
		if err := nodes.check(nodes.place(i), types); err != nil {
			return err
		}
	}
	relations := make(map[string]string)
	for i := range s.Edges {
		if err := s.prepareEdges(i, types, relations); err != nil {
			return err
		}
	}
	return nil
}

// checkAliases names the tables by key.
func checkAliases(key string, tables []AliasTable) error {
	for i, t := range tables {
		place := at(t.Place, fmt.Sprintf("%s.%d", key, i))
		err := cmp.Or(required(place, setting{"file", t.File}, setting{"id", t.ID}, setting{"names", strings.Join(t.Names, ",")}), t.RowsSpec.check(place))
		switch {
		case err != nil:
			return err
		case t.Features && i > 0:
			return usage("name it first", "%s: found features in table %d, expected them in the first one", place, i+1)
		case t.Kinds != nil && len(t.Kinds) != 1+len(t.Names):
			return usage("", "%s.kinds: found %d, expected one for id and each of names", place, len(t.Kinds))
		}
	}
	return nil
}

// check returns an error for a type that an earlier table or a section has. types has those, with
// false for one that only the missing section could make.
func (n NodesSpec) check(place string, types map[string]bool) error {
	err := cmp.Or(required(place, setting{"type", n.Type}, setting{"file", n.File}, setting{"column", n.Column}), n.RowsSpec.check(place), checkKept(place, n.Keep))
	if err != nil {
		return err
	}
	if wrong := graph.WrongNodeType(n.Type); wrong != "" {
		return usage("", "%s.type: %s", place, wrong)
	}
	if _, taken := types[n.Type]; taken {
		return usage("give each type one table; genes, gem and gene_ontology make their own", "%s.type: found %s, which has other nodes", place, n.Type)
	}
	types[n.Type] = true
	return nil
}

// checkKept checks the types of columns that are carried.
func checkKept(place string, keep map[string]KeptType) (err error) {
	for _, name := range slices.Sorted(maps.Keys(keep)) {
		err = cmp.Or(err, oneOf(place+".keep."+name, keep[name], KeptNumber, KeptInteger, KeptText))
	}
	return err
}

// place says where the settings of the table are.
func (n NodesSpec) place(i int) string { return at(n.Place, fmt.Sprintf("nodes.%d", i)) }

// ofGenes reports whether the edges are between genes.
func (t *EdgesSpec) ofGenes() bool { return t.FromType == ingest.Gene && t.ToType == ingest.Gene }

// setTypes fills in the types of the nodes, and what follows from them.
func (t *EdgesSpec) setTypes(place string, types map[string]bool) error {
	t.FromType, t.ToType = cmp.Or(t.FromType, ingest.Gene), cmp.Or(t.ToType, ingest.Gene)
	for _, nodeType := range []string{t.FromType, t.ToType} {
		if made, known := types[nodeType]; known && !made {
			return usage("name a model in the section gem", "%s: found edges of type %s, whose nodes only a model makes", place, nodeType)
		}
		if wrong := graph.WrongNodeType(nodeType); wrong != "" {
			return usage("", "%s: node type %s", place, wrong)
		}
	}
	if t.ofGenes() {
		return nil
	}
	switch {
	case t.SelfLoops != "":
		return usage("remove it", "%s.self_loops: found it for edges that are not of genes", place)
	case t.Matrix != "" || t.IDs != "":
		return usage("remove it, or from_type and to_type", "%s: found matrix or ids for edges that are not of genes", place)
	case t.FromType != t.ToType && t.Undirected != nil && *t.Undirected:
		return usage("omit it", "%s.undirected: found true for edges between two node types", place)
	case t.FromType != t.ToType:
		t.Undirected = new(bool)
	}
	t.SelfLoops = LoopsKeep
	return nil
}

// prepareEdges is prepared for one source of edges; relations maps the edge types of earlier sources
// to their places.
func (s *GraphSpec) prepareEdges(i int, types map[string]bool, relations map[string]string) error {
	edges := &s.Edges[i]
	place := edges.place(i)
	if err := edges.setTypes(place, types); err != nil {
		return err
	}
	edges.SelfLoops = cmp.Or(edges.SelfLoops, s.SelfLoops)
	if err := cmp.Or(edges.SelfLoops.check(place+".self_loops"), edges.check(place)); err != nil {
		return err
	}
	for _, name := range edges.relations() {
		if _, by, _ := cutPlaceholder(name); by != "" && edges.Matrix == "" {
			continue
		}
		if !relationName.MatchString(name) {
			return usage("use only letters, digits, _ - and .",
				"%s.relation: found %q, expected a name for an edge type and its file", place, name)
		}
		made := edges.edgeType(name)
		if wrong := graph.WrongEdgeType(made); wrong != "" || name == ingest.GPR.Relation || name == ingest.RMR.Relation || made == ingest.MRM {
			return usage("choose another name", "%s.relation: found %q, which is reserved for the metabolic part", place, name)
		}
		if other, taken := relations[made.String()]; taken {
			return usage("give every edge type its own name; {column} in a relation stands for the score column",
				"%s.relation: %q is also the name of edges of %s", place, name, other)
		}
		relations[made.String()] = place
	}
	return nil
}

// place says where the settings of the source are.
func (e *EdgesSpec) place(i int) string {
	return at(e.Place, fmt.Sprintf("edges.%d", i))
}

// at says where the setting is that key names.
func at(place conf.Place, key string) string {
	if place == "" {
		return key
	}
	return fmt.Sprintf("%s: %s", place, key)
}

// relationName matches what an edge type's name, and so its file's name, can contain.
var relationName = regexp.MustCompile(`^[A-Za-z0-9](_?[A-Za-z0-9.-])*$`)

// checkPattern returns an error for a pattern without a group, which would be the name.
func checkPattern(place, text string) error {
	pattern, err := regexp.Compile(text)
	switch {
	case err != nil:
		return usage("write it as https://github.com/google/re2/wiki/Syntax says", "%s: %w", place, err)
	case text != "" && pattern.NumSubexp() == 0:
		return usage("put what is the name in parentheses, as in ^(.+)_YPD$", "%s: found %q, expected a group", place, text)
	}
	return nil
}

func (t *EdgesSpec) check(place string) error {
	err := cmp.Or(required(place, setting{"file", t.File}, setting{"relation", t.Relation}), t.Cutoff.check(place))
	if t.Matrix == "" {
		err = cmp.Or(err, required(place, setting{"from", strings.Join(t.From, "")}, setting{"to", strings.Join(t.To, "")}))
	} else {
		err = cmp.Or(err, oneOf(place+".matrix", t.Matrix, TargetRows, FactorRows))
	}
	err = cmp.Or(err, checkPattern(place+".name", t.Name), checkPattern(place+".column_name", t.ColumnName))
	err = cmp.Or(err, checkKept(place, t.Keep), t.RowsSpec.check(place), t.Ablation.check(place, t.Matrix != "" || len(t.Weight) > 0))
	switch ofTables, ofMatrices := t.keysOfKind(); {
	case err != nil:
		return err
	case t.Matrix != "" && ofTables != "":
		return usage("remove one of them", "%s: found both matrix and %s, which a matrix cannot have", place, ofTables)
	case t.Matrix == "" && ofMatrices != "":
		return usage("say matrix: targets, or matrix: factors", "%s: found %s, expected it of a matrix only", place, ofMatrices)
	case t.Matrix != "":
		return nil
	case t.Undirected == nil:
		return usage("true stores a pair once; false stores an edge per row, from -> to", "%s.undirected: missing", place)
	case t.IDs != "" && (t.StripPrefix+t.Split+t.Name != "" || t.UpperCase):
		return usage("remove them", "%s: found ids beside strip_prefix, name, upper_case or split, which are about names", place)
	case len(t.Weight) == 0 && (t.isSet() || t.Nonzero):
		return usage("name the weight column", "%s.weight: missing, although min, max or nonzero is set", place)
	case t.isSet() && t.Nonzero:
		return usage("remove one of them; of a source, with nonzero: false", "%s: found both nonzero and min or max, expected one of them", place)
	case t.IndexBase != 0 && t.IndexBase != 1:
		return usage("", "%s.index_base: found %d, expected 0 or 1", place, t.IndexBase)
	case t.IndexBase != 0 && t.IDs == "":
		return usage("name the file of the ids that the numbers refer to", "%s.ids: missing, although index_base is set", place)
	}
	return nil
}

// keysOfKind returns a key that is set and that a matrix cannot have, and one that only a matrix
// can have.
func (t *EdgesSpec) keysOfKind() (ofTables, ofMatrices string) {
	for key, set := range map[string]bool{"from": t.From != nil, "to": t.To != nil, "undirected": t.Undirected != nil, "weight": t.Weight != nil,
		"where": t.Where != "", "filters": t.Filters != nil, "split": t.Split != "", "strip_prefix": t.StripPrefix != "", "name": t.Name != "",
		"keep": t.Keep != nil, "ids": t.IDs != "", "nonzero": t.Nonzero} {
		if set {
			ofTables = max(ofTables, key)
		}
	}
	switch {
	case t.Ignore != nil:
		ofMatrices = "ignore"
	case t.ColumnName != "":
		ofMatrices = "column_name"
	}
	return ofTables, ofMatrices
}

func (o *OntologySpec) prepare() error {
	place := at(o.Place, "gene_ontology")
	given := !reflect.ValueOf(*o).IsZero()
	o.Terms = cmp.Or(o.Terms, AllTerms)
	o.Relation = cmp.Or(o.Relation, "has_annotation")
	switch {
	case given && o.File == "":
		return usage("name the ontology, such as go-basic.obo; for a graph without terms, remove the section: ~gene_ontology", "%s.file: missing", place)
	case o.Terms == AnnotatedTerms && len(o.Annotations) == 0:
		return usage("name their files", "%s.annotations: missing, although terms is annotated", place)
	}
	if err := oneOf(place+".terms", o.Terms, AllTerms, AnnotatedTerms); err != nil {
		return err
	}
	for i, a := range o.Annotations {
		place := o.annotationsPlace(i)
		err := required(place, setting{"file", a.File}, setting{"gene", a.Gene}, setting{"term", a.Term})
		if err = cmp.Or(err, a.RowsSpec.check(place)); err != nil {
			return err
		}
	}
	names := append(slices.Sorted(maps.Values(o.Relations)), o.Relation)
	for _, name := range names {
		if !relationName.MatchString(name) {
			return usage("use only letters, digits, _ - and .", "%s: found relation %q, expected a name for an edge type and its file", place, name)
		}
	}
	return nil
}

// annotationsPlace says where the settings of a table are.
func (o *OntologySpec) annotationsPlace(i int) string {
	return at(o.Annotations[i].Place, fmt.Sprintf("gene_ontology.annotations.%d", i))
}

func (l SelfLoops) check(place string) error {
	return oneOf(place, l, LoopsKeep, LoopsNone, LoopsAppend)
}

// oneOf returns an error unless a setting has one of the values.
func oneOf[T ~string](place string, found T, values ...T) error {
	var names []string
	for _, value := range values {
		if names = append(names, string(value)); value == found {
			return nil
		}
	}
	return usage("", "%s: found %q, expected %s", place, found, english.WordSeries(names, "or"))
}

type setting struct{ key, value string }

func required(place string, settings ...setting) error {
	for _, s := range settings {
		if s.value == "" {
			return usage("", "%s.%s: missing", place, s.key)
		}
	}
	return nil
}

func usage(hint, format string, args ...any) error {
	return fault.New(fault.Usage, hint, "check graph settings: "+format, args...)
}
