package source

import (
	"fmt"
	"regexp"
	"slices"

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
		return usage("name the file that lists the genes", "genes: expected one of sgd_features and table")
	}
	if s.Genes.FeatureType == "" {
		s.Genes.FeatureType = "ORF"
	}
	if t := s.Genes.Table; t != nil {
		if err := required("genes.table", setting{"file", t.File}, setting{"column", t.Column}); err != nil {
			return err
		}
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
	if s.GEM.ReactionNodes == "" {
		s.GEM.ReactionNodes = WholeReactions
	}
	if s.GEM.ReactionNodes != WholeReactions && s.GEM.ReactionNodes != Combinations {
		return usage("", "gem.reaction_nodes: found %q, expected whole or combinations", s.GEM.ReactionNodes)
	}
	relations := make(map[string]string)
	for i := range s.Edges {
		if err := s.prepareEdges(i, relations); err != nil {
			return err
		}
	}
	return nil
}

// prepareEdges is prepared for one source of edges; relations maps the names of earlier sources to
// their places.
func (s *GraphSpec) prepareEdges(i int, relations map[string]string) error {
	edges, place := &s.Edges[i], fmt.Sprintf("edges.%d", i)
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
		names = []string{edges.Table.Relation}
	case edges.BioGRID != nil:
		place += ".biogrid"
		if err := edges.BioGRID.check(place); err != nil {
			return err
		}
		names = []string{edges.BioGRID.Relation}
	default:
		place += ".tf_matrix"
		if err := required(place, setting{"file", edges.TFMatrix.File}, setting{"relation", edges.TFMatrix.Relation}); err != nil {
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
		return usage("set above: 0 to keep every pair with a score, or at_least: 400 for STRING's medium confidence",
			"%s: expected one of above and at_least, found neither", place)
	}
	return nil
}

func (t *EdgeTableSpec) check(place string) error {
	err := required(place, setting{"file", t.File}, setting{"relation", t.Relation},
		setting{"source", t.Source}, setting{"target", t.Target})
	if err == nil {
		err = t.Cutoff.check(place)
	}
	switch {
	case err != nil:
		return err
	case t.Weight == "" && (t.isSet() || t.Nonzero):
		return usage("name the weight column", "%s.weight: missing, although above, at_least or nonzero is set", place)
	case t.isSet() && t.Nonzero:
		return usage("remove one of them", "%s: found both nonzero and above or at_least, expected one of them", place)
	case t.IndexBase != 0 && t.IndexBase != 1:
		return usage("", "%s.index_base: found %d, expected 0 or 1", place, t.IndexBase)
	case t.IndexBase != 0 && t.IDs == "":
		return usage("name the file of the ids that the numbers refer to", "%s.ids: missing, although index_base is set", place)
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
