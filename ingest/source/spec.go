// Package source turns public files (STRING links, edge tables, SGD's feature list, a genome-scale
// metabolic model) into a cell graph, and accounts for every row that it reads.
package source

import "tcbuild/ingest"

// GraphSpec names the sources of one cell graph; its yaml tags are the keys of settings. Paths are
// relative to the working directory; files may be compressed where ingest/table reads them so.
//
// docs/SETTINGS.md and conf/tcbuild.schema.json are generated from the specs: a field's comment is
// what users read of its key, and ends with (required) or (default: VALUE) where it has one.
type GraphSpec struct {
	// the gene list, sorted bytewise; one of its two keys (required)
	Genes   GenesSpec   `yaml:"genes"`
	Aliases AliasesSpec `yaml:"aliases"` // other names of genes; without them, only ids are known
	Edges   []EdgesSpec `yaml:"edges"`   // sources of gene-gene edges, each with one key of a kind
	GEM     GEMSpec     `yaml:"gem"`     // the metabolic part; without it the graph has none

	// what happens to edges of a gene with itself: keep them, drop them (none), or drop them, then
	// add one of every gene at the end, as torchcell does (append) (default: keep)
	SelfLoops SelfLoops `yaml:"self_loops"`
	// what happens to a name that no gene, or more than one, has: an edge cannot be without its
	// node, so drop-sample and drop-gene both drop the edge, and count it; a reaction's rule keeps
	// the name, and as nothing deletes that gene, it counts as present (default: error)
	UnknownGenes ingest.UnknownGenes `yaml:"unknown_genes"`
}

// GenesSpec names the gene list, in one of two ways.
type GenesSpec struct {
	SGDFeatures string     `yaml:"sgd_features"` // a file SGD_features.tab
	FeatureType string     `yaml:"feature_type"` // which of its features are genes (default: ORF)
	Table       *GeneTable `yaml:"table"`        // a column of a table
}

// GeneTable is a gene list in a column of a table.
type GeneTable struct {
	TextSpec `yaml:",inline"`
	Column   string `yaml:"column"` // the column of the ids, by name or by number from 0 (required)
}

// AliasesSpec names a file with other names of genes.
type AliasesSpec struct {
	SGDFeatures string `yaml:"sgd_features"` // a file SGD_features.tab
}

// EdgesSpec names one source of gene-gene edges: exactly one of its kinds is set.
type EdgesSpec struct {
	// a STRING links file: undirected pairs, each stored once, with its score, in the orientation
	// and order of their first rows
	STRING *LinksSpec     `yaml:"string"`
	Table  *EdgeTableSpec `yaml:"table"` // an edge list in two columns of a table
	// a BioGRID file, tab2 or tab3: undirected pairs, each stored once, as with string
	BioGRID *BioGRIDSpec `yaml:"biogrid"`
	// a matrix with targets as rows and transcription factors as columns; the header may lack a
	// name for the first column. Each value but 0 is an edge factor -> target with that weight
	TFMatrix  *TFMatrixSpec `yaml:"tf_matrix"`
	SelfLoops SelfLoops     `yaml:"self_loops"` // of this source (default: that of the top level)
}

// LinksSpec is a STRING links file.
type LinksSpec struct {
	File string `yaml:"file"` // protein.links…txt, .gz or not (required)
	// edge types are gene__RELATION__gene, where {column} stands for the column (required)
	Relation string   `yaml:"relation"`
	Columns  []string `yaml:"columns"` // score columns; each makes an edge type (required)
	// one of its two is set; scores are probabilities times 1000, from 0 to 999
	Cutoff `yaml:",inline"`
}

// Cutoff is the weight that an edge needs: one of Above and AtLeast is set, or none. A missing
// weight is not enough.
type Cutoff struct {
	Above     *float64 `yaml:"above"`     // an edge needs a weight above this
	AtLeast   *float64 `yaml:"at_least"`  // in place of above: this weight or more
	Threshold *float64 `yaml:"threshold"` // refused: it did not say which
}

// EdgeTableSpec is an edge list in two columns of a table. Columns are given
// by name or by 0-based number.
type EdgeTableSpec struct {
	TextSpec `yaml:",inline"`
	Relation string `yaml:"relation"` // the edge type is gene__RELATION__gene (required)
	// the column of sources: a name, or number from 0 (required)
	Source  string           `yaml:"source"`
	Target  string           `yaml:"target"` // the column of targets (required)
	Weight  string           `yaml:"weight"` // a column of weights, which the graph carries
	Cutoff  `yaml:",inline"` // in the unit of the weight; none keeps every row
	Nonzero bool             `yaml:"nonzero"` // an edge needs a weight other than 0
	// store a pair once, in the orientation and order of its first row
	Undirected bool   `yaml:"undirected"`
	IDs        string `yaml:"ids"`        // a file of ids, for tables with numbers of its lines
	IndexBase  int    `yaml:"index_base"` // the number of the first line of ids: 0, 1 (default: 0)
}

// BioGRIDSpec is a BioGRID file in its formats tab2 and tab3.
type BioGRIDSpec struct {
	File     string `yaml:"file"`     // a file .tab2.txt or .tab3.txt (required)
	Relation string `yaml:"relation"` // the edge type is gene__RELATION__gene (required)
	Type     string `yaml:"type"`     // the experimental systems: physical or genetic (required)
	Organism string `yaml:"organism"` // the taxon of both genes (default: 559292, of S288C)
}

// TFMatrixSpec is a matrix of targets x transcription factors. Its edges are stored row by row.
type TFMatrixSpec struct {
	TextSpec `yaml:",inline"`
	Relation string `yaml:"relation"` // the edge type is gene__RELATION__gene (required)
}

// GEMSpec names the metabolic part.
type GEMSpec struct {
	// a model in the YAML of cobrapy and RAVEN (.yml, .yaml), in SBML (.xml, .sbml), or in the text
	// table of RAVEN and yeast-GEM (.txt), each also with .gz
	File string `yaml:"file"`
	// what a reaction becomes: one node (whole), or torchcell's nodes, one per alternative set of
	// genes and direction (combinations) (default: whole)
	ReactionNodes ReactionNodes `yaml:"reaction_nodes"`
}

// SelfLoops says what happens to edges of a gene with itself.
type SelfLoops string

const (
	LoopsKeep SelfLoops = "keep"
	LoopsNone SelfLoops = "none" // drop them
	// drop them, then add one of every gene at the end, as torchcell does
	LoopsAppend SelfLoops = "append"
)
