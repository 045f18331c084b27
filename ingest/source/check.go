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
)

// prepared returns the spec with defaults filled in, or an error for invalid settings. Its errors
// are of kind fault.Usage and name the setting.
func (s GraphSpec) prepared() (GraphSpec, error) {
	s.Edges = slices.Clone(s.Edges)
	err := s.prepare()
	return s, err
}

func (s *GraphSpec) prepare() error {
	if (s.Genes.SGDFeatures == "") == (s.Genes.Table == nil) {
		return usage("name the file that lists the genes", "%s: expected one of sgd_features and table", at(cmp.Or(s.Genes.Place, s.Place), "genes"))
	}
	if s.Genes.FeatureType == "" {
		s.Genes.FeatureType = "ORF"
	}
	if t := s.Genes.Table; t != nil {
		if err := required(at(t.Place, "genes.table"), setting{"file", t.File}, setting{"column", t.Column}); err != nil {
			return err
		}
	}
	if err := s.Aliases.check("aliases.tables"); err != nil {
		return err
	}
	if s.SelfLoops == "" {
		s.SelfLoops = LoopsKeep
	}
	if s.UnknownGenes == "" {
		s.UnknownGenes = ingest.RefuseUnknownGenes
	}
	if err := s.UnknownGenes.Check(); err != nil {
		return usage(fault.HintOf(err), "%w", err)
	}
	if err := s.SelfLoops.check("self_loops"); err != nil {
		return err
	}
	if s.MaxDropped == nil {
		s.MaxDropped = new(DefaultMaxDropped)
	}
	if err := checkMaxDropped(*s.MaxDropped); err != nil {
		return err
	}
	if s.GEM.File == "" && s.GEM != (GEMSpec{}) {
		return usage("name the model's file; for a graph without metabolism, remove the section: ~gem", "%s: missing", at(s.GEM.Place, "gem.file"))
	}
	if s.GEM.ReactionNodes == "" {
		s.GEM.ReactionNodes = WholeReactions
	}
	if s.GEM.ReactionNodes != WholeReactions && s.GEM.ReactionNodes != Combinations {
		return usage("", "%s: found %q, expected whole or combinations", at(s.GEM.Place, "gem.reaction_nodes"), s.GEM.ReactionNodes)
	}
	if err := s.Ontology.prepare(); err != nil {
		return err
	}
	relations := make(map[string]string)
	for i := range s.Edges {
		if err := s.prepareEdges(i, relations); err != nil {
			return err
		}
	}
	return nil
}

// check names the tables by key.
func (a AliasesSpec) check(key string) error {
	for i, t := range a.Tables {
		err := required(at(t.Place, fmt.Sprintf("%s.%d", key, i)), setting{"file", t.File}, setting{"id", t.ID}, setting{"names", strings.Join(t.Names, ",")})
		if err != nil {
			return err
		}
	}
	return nil
}

// prepareEdges is prepared for one source of edges; relations maps the names of earlier sources to
// their places.
func (s *GraphSpec) prepareEdges(i int, relations map[string]string) error {
	edges := &s.Edges[i]
	place := edges.place(i)
	if edges.SelfLoops == "" {
		edges.SelfLoops = s.SelfLoops
	}
	if err := edges.SelfLoops.check(place + ".self_loops"); err != nil {
		return err
	}
	var names []string
	switch {
	case edges.kinds() != 1:
		return usage("", "%s: expected one of string, table, biogrid and tf_matrix", place)
	case edges.STRING != nil:
		place += ".string"
		if err := edges.STRING.check(place); err != nil {
			return err
		}
		for _, column := range edges.STRING.Columns {
			names = append(names, edges.STRING.relation(column))
		}
	case edges.Table != nil:
		place += ".table"
		if err := edges.Table.check(place); err != nil {
			return err
		}
		if _, by, _ := edges.Table.groupedBy(); by == "" {
			names = []string{edges.Table.Relation}
		}
	case edges.BioGRID != nil:
		place += ".biogrid"
		if err := edges.BioGRID.check(place); err != nil {
			return err
		}
		names = []string{edges.BioGRID.Relation}
	default:
		place += ".tf_matrix"
		if err := edges.TFMatrix.check(place); err != nil {
			return err
		}
		names = []string{edges.TFMatrix.Relation}
	}
	for _, name := range names {
		if !relationName.MatchString(name) {
			return usage("use only letters, digits, _ - and .",
				"%s.relation: found %q, expected a name for an edge type and its file", place, name)
		}
		if name == ingest.GPR.Relation || name == ingest.RMR.Relation {
			return usage("choose another name", "%s.relation: found %q, which is reserved for the metabolic part", place, name)
		}
		if other, taken := relations[name]; taken {
			return usage("give every edge type its own name; {column} in a relation stands for the score column",
				"%s.relation: %q is also the name of edges of %s", place, name, other)
		}
		relations[name] = place
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

// kinds is the number of source kinds that are set.
func (e *EdgesSpec) kinds() int {
	n := 0
	for _, set := range []bool{e.STRING != nil, e.Table != nil, e.BioGRID != nil, e.TFMatrix != nil} {
		if set {
			n++
		}
	}
	return n
}

func (l *LinksSpec) check(place string) error {
	if err := required(place, setting{"file", l.File}, setting{"relation", l.Relation}); err != nil {
		return err
	}
	if len(l.Columns) == 0 {
		return usage("name score columns, such as experiments", "%s.columns: found none, expected at least one", place)
	}
	if err := l.Cutoff.check(place); err != nil {
		return err
	}
	if !l.isSet() {
		return usage("set min: 1 to keep every pair with a score, or min: 400 for STRING's medium confidence",
			"%s.min: missing", place)
	}
	return nil
}

func (m *TFMatrixSpec) check(place string) error {
	if err := required(place, setting{"file", m.File}, setting{"relation", m.Relation}); err != nil {
		return err
	}
	if m.Rows != "" && m.Rows != TargetRows && m.Rows != FactorRows {
		return usage("", "%s.rows: found %q, expected targets or factors", place, m.Rows)
	}
	if err := checkPattern(place+".column_name", m.ColumnName); err != nil {
		return err
	}
	return m.Cutoff.check(place)
}

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

func (t *EdgeTableSpec) check(place string) error {
	err := required(place, setting{"file", t.File}, setting{"relation", t.Relation},
		setting{"source", t.Source}, setting{"target", t.Target})
	if err == nil {
		err = t.Cutoff.check(place)
	}
	if err == nil {
		err = checkPattern(place+".name", t.Name)
	}
	for _, name := range slices.Sorted(maps.Keys(t.Keep)) {
		if err == nil {
			err = t.Keep[name].check(place + ".keep." + name)
		}
	}
	switch {
	case err != nil:
		return err
	case t.Undirected == nil:
		return usage("true stores a pair once; false stores an edge per row, source -> target", "%s.undirected: missing", place)
	case t.IDs != "" && (t.StripPrefix+t.Split+t.Name != "" || t.UpperCase):
		return usage("remove them", "%s: found ids beside strip_prefix, name, upper_case or split, which are about names", place)
	case t.Weight == "" && (t.isSet() || t.Nonzero):
		return usage("name the weight column", "%s.weight: missing, although min, max or nonzero is set", place)
	case t.isSet() && t.Nonzero:
		return usage("remove one of them", "%s: found both nonzero and min or max, expected one of them", place)
	case t.IndexBase != 0 && t.IndexBase != 1:
		return usage("", "%s.index_base: found %d, expected 0 or 1", place, t.IndexBase)
	case t.IndexBase != 0 && t.IDs == "":
		return usage("name the file of the ids that the numbers refer to", "%s.ids: missing, although index_base is set", place)
	}
	return nil
}

func (o *OntologySpec) prepare() error {
	place := at(o.Place, "gene_ontology")
	given := !reflect.ValueOf(*o).IsZero()
	o.Terms = cmp.Or(o.Terms, AllTerms)
	o.Gene = cmp.Or(o.Gene, GeneID)
	o.Relation = cmp.Or(o.Relation, "has_annotation")
	switch {
	case given && o.File == "":
		return usage("name the ontology, such as go-basic.obo; for a graph without terms, remove the section: ~gene_ontology", "%s.file: missing", place)
	case o.Terms != AllTerms && o.Terms != AnnotatedTerms:
		return usage("", "%s.terms: found %q, expected all or annotated", place, o.Terms)
	case o.Terms == AnnotatedTerms && len(o.Annotations) == 0:
		return usage("name GAF files", "%s.annotations: missing, although terms is annotated", place)
	case !slices.Contains([]GeneColumn{GeneID, GeneSymbol, GeneSynonym}, o.Gene):
		return usage("", "%s.gene: found %q, expected db_object_id, db_object_symbol or db_object_synonym", place, o.Gene)
	}
	names := append(slices.Sorted(maps.Values(o.Relations)), o.Relation)
	for _, name := range names {
		if !relationName.MatchString(name) {
			return usage("use only letters, digits, _ - and .", "%s: found relation %q, expected a name for an edge type and its file", place, name)
		}
	}
	return nil
}

func (l SelfLoops) check(place string) error {
	if l != LoopsKeep && l != LoopsNone && l != LoopsAppend {
		return usage("", "%s: found %q, expected keep, none or append", place, l)
	}
	return nil
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
