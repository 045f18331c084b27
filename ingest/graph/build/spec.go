// Package build makes a cell graph of public sources. In goes a specification, which names tables,
// models and ontologies; out come the graph, and an account of every row that was read.
package build

import (
	"errors"
	"io/fs"
	"os"
	"slices"

	"tcbuild/conf"
	"tcbuild/fault"
	"tcbuild/ingest"
	"tcbuild/ingest/graph"
	"tcbuild/ingest/graph/models"
	"tcbuild/ingest/graph/networks"
	"tcbuild/ingest/graph/ontologies"
	"tcbuild/ingest/names"
	"tcbuild/ingest/table"
	"tcbuild/ingest/where"
	"tcbuild/internal/download"
)

// Spec names the sources of one cell graph; its yaml tags are the keys of settings. Paths are
// relative to the working directory; files may be compressed where ingest/table reads them so.
//
// docs/SETTINGS.md and conf/tcbuild.schema.json are generated from the specs: a field's comment is
// what users read of its key, and ends with (required) or (default: VALUE) where it has one.
type Spec struct {
	// the gene list; genes are sorted by the bytes of their ids (required)
	Genes GenesSpec `yaml:"genes" required:"yes"`
	// tables of other gene names, in order of precedence; without them, only ids are recognized
	Aliases []names.AliasTable `yaml:"aliases"`
	// whether names that differ by case are the same gene's, as in yeast; a mouse's Kras is not
	// human KRAS (default: false)
	IgnoreCase bool `yaml:"ignore_case"`
	// tables of nodes of other types. Without a table, a type's nodes are the ids in its edges, in
	// order of first appearance
	Nodes []NodesSpec     `yaml:"nodes"`
	Edges []networks.Spec `yaml:"edges"` // sources of edges, by default between genes
	GEM   models.Spec     `yaml:"gem"`   // metabolic model to add to the graph
	// ontology to add to the graph: terms become nodes of type gene_ontology, linked to the genes
	// that they annotate
	Ontology ontologies.Spec `yaml:"gene_ontology"`

	// what to do with edges from a gene to itself: keep; none, which drops them; or append, which
	// drops them and adds one for every gene at the end, as torchcell does (default: keep)
	SelfLoops networks.SelfLoops `yaml:"self_loops" words:"keep none append" default:"keep"`
	// what to do with names that match no gene, or several: error, or drop-gene, which drops and
	// counts the edge. Reaction rules keep such names; they count as present, since nothing can
	// delete them (default: error)
	UnknownGenes ingest.UnknownGenes `yaml:"unknown_genes" words:"error drop-gene" default:"error"`
	// largest share of a source's rows to drop because a name matches no gene, or several; more is
	// an error (default: 0.5)
	MaxDropped *float64 `yaml:"max_dropped"`
	// public files that 'tcbuild ingest fetch' downloads and checks
	Downloads []download.Entry `yaml:"downloads" json:"-"`

	Place conf.Place `yaml:"-" json:"-"` // for errors; may be empty
}

// GenesSpec is a gene list in a column of a table.
type GenesSpec struct {
	// public source, such as sgd_features; the other keys override its settings
	Source         conf.SourceName `yaml:"source" section:"genes"`
	table.TextSpec `yaml:",inline" forms:"table" required:"file"`
	where.RowsSpec `yaml:",inline" forms:"table"`
	// column of gene ids (required without gem)
	Column string `yaml:"column" forms:"table" required:"yes"`
	// metabolic model whose reaction rules name the genes; replaces file and column
	GEM string `yaml:"gem"`
}

// Form is table, or model.
func (s *GenesSpec) Form() string {
	if s.GEM != "" {
		return "model"
	}
	return "table"
}

// Check returns an error for both a model and a table.
func (s *GenesSpec) Check() error {
	if s.GEM != "" && s.File != "" {
		return fault.New(fault.Usage, "to take the genes of the model, remove the table: "+
			"~genes.source ~genes.file", "found both gem and a table, expected one of them")
	}
	return nil
}

// NodesSpec is a table of nodes of a type that has no section of its own.
type NodesSpec struct {
	// node type, such as complex or pathway (required)
	Type           string `yaml:"type" required:"yes"`
	table.TextSpec `yaml:",inline" required:"file"`
	where.RowsSpec `yaml:",inline"`
	Column         string `yaml:"column" required:"yes"` // column of node ids (required)
	// more columns to store in the graph, as in edges
	Keep map[string]networks.KeptType `yaml:"keep" words:"number integer text"`
}

// prepared returns the spec with defaults, or an error for invalid settings.
func (s Spec) prepared() (Spec, error) {
	if err := conf.Check(&s); err != nil {
		return s, err
	}
	return s, s.checkTypes()
}

// Check returns an error for values that no graph has. It fills in defaults.
func (s *Spec) Check() error {
	if s.MaxDropped == nil {
		s.MaxDropped = new(ingest.DefaultMaxDropped)
	}
	if share := *s.MaxDropped; !(share >= 0 && share <= 1) {
		return fault.New(fault.Usage, "a half is 0.5",
			"max_dropped: found %v, expected a share from 0 to 1", share)
	}
	for i := range s.Edges {
		if s.Edges[i].SelfLoops == "" && s.Edges[i].OfGenes() {
			s.Edges[i].SelfLoops = s.SelfLoops
		}
	}
	return nil
}

// checkTypes returns an error for types of nodes and edges that two sources make, or none.
func (s *Spec) checkTypes() error {
	hasModel, hasTerms := s.GEM.File != "", s.Ontology.File != ""
	made := map[string]bool{
		ingest.Gene: true, ingest.Reaction: hasModel, ingest.Metabolite: hasModel,
	}
	if hasTerms {
		made[ontologies.TermType] = true
	}
	for _, nodes := range s.Nodes {
		if wrong := graph.WrongNodeType(nodes.Type); wrong != "" {
			return wrongType("", "%s.type: %s", nodes.Place, wrong)
		}
		if _, taken := made[nodes.Type]; taken {
			return wrongType(
				"give each type one table; genes, gem and gene_ontology make their own",
				"%s.type: found %s, which has other nodes", nodes.Place, nodes.Type)
		}
		made[nodes.Type] = true
	}
	relations := make(map[ingest.EdgeType]conf.Place) // of earlier sources
	for i := range s.Edges {
		if err := checkEdges(&s.Edges[i], made, relations); err != nil {
			return err
		}
	}
	return nil
}

// checkEdges checks the types of a source of edges. made has the types of nodes, with false for one
// that only the missing section could make.
func checkEdges(
	s *networks.Spec, made map[string]bool, relations map[ingest.EdgeType]conf.Place,
) error {
	for _, nodeType := range []string{s.FromType, s.ToType} {
		if exists, known := made[nodeType]; known && !exists {
			return wrongType("name a model in the section gem",
				"%s: found edges of type %s, whose nodes only a model makes", s.Place, nodeType)
		}
		if wrong := graph.WrongNodeType(nodeType); wrong != "" {
			return wrongType("", "%s: node type %s", s.Place, wrong)
		}
	}
	for _, relation := range s.Relations() {
		if _, by, _ := networks.GroupedBy(relation); by != "" && s.Matrix == "" {
			continue // its edge types are known when the table has been read
		}
		edgeType := s.EdgeType(relation)
		if isReserved(edgeType) {
			return wrongType("choose another name",
				"%s.relation: found %q, which is reserved for the metabolic part", s.Place,
				relation)
		}
		if other, taken := relations[edgeType]; taken {
			return wrongType("give every edge type its own name; "+
				"{column} in a relation stands for the score column",
				"%s.relation: %q is also the name of edges of %s", s.Place, relation, other)
		}
		relations[edgeType] = s.Place
	}
	return nil
}

func isReserved(t ingest.EdgeType) bool {
	isMetabolic := t.Relation == ingest.GPR.Relation || t.Relation == ingest.RMR.Relation
	return isMetabolic || t == ingest.MRM || graph.WrongEdgeType(t) != ""
}

func wrongType(hint, format string, args ...any) error {
	return fault.New(fault.Usage, hint, "read settings: "+format, args...)
}

// Files returns the paths of the files that Build reads, sorted.
func (s Spec) Files() []string {
	files := []string{s.Genes.File, s.Genes.GEM, s.GEM.File, s.Ontology.File}
	for _, table := range s.Ontology.Annotations {
		files = append(files, table.File)
	}
	for _, table := range s.Nodes {
		files = append(files, table.File)
	}
	for _, table := range s.Aliases {
		files = append(files, table.File)
	}
	for _, e := range s.Edges {
		files = append(files, e.File, e.IDs)
	}
	slices.Sort(files)
	return slices.DeleteFunc(slices.Compact(files), func(file string) bool { return file == "" })
}

// MissingDownload returns the first download whose file is not there.
func (s Spec) MissingDownload() (download.Entry, bool) {
	for _, file := range s.Downloads {
		if _, err := os.Stat(file.File); errors.Is(err, fs.ErrNotExist) {
			return file, true
		}
	}
	return download.Entry{}, false
}
