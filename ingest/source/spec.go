// Package source turns public files - STRING links, edge tables, SGD's feature
// list, a genome-scale metabolic model - into a cell graph, and accounts for
// every row that it reads.
package source

import "tcbuild/ingest"

// GraphSpec names the sources of one cell graph. Paths are relative to the
// working directory; files may be compressed where ingest/table reads them so.
type GraphSpec struct {
	Genes   GenesSpec   `yaml:"genes"`
	Aliases AliasesSpec `yaml:"aliases"`
	Edges   []EdgesSpec `yaml:"edges"`
	GEM     GEMSpec     `yaml:"gem"`

	// SelfLoops is that of every entry of Edges that sets none of its own; "" is keep.
	SelfLoops SelfLoops `yaml:"self_loops"`
	// UnknownGenes is for edges, and rules of reactions, with a name that no gene, or more than
	// one, has; "" is error. An edge cannot be without its node, so both drop words drop the edge,
	// and count and name it in the report. Rules keep the name: nothing deletes that gene, so it
	// counts as present.
	UnknownGenes ingest.UnknownGenes `yaml:"unknown_genes"`
}

// GenesSpec names the gene list, in one of two ways. Ids are sorted bytewise.
type GenesSpec struct {
	SGDFeatures string     `yaml:"sgd_features"` // a file SGD_features.tab
	FeatureType string     `yaml:"feature_type"` // which of its features; "" is ORF
	Table       *GeneTable `yaml:"table"`
}

// GeneTable is a gene list in a column of a table.
type GeneTable struct {
	TextSpec `yaml:",inline"`
	Column   string `yaml:"column"`
}

// AliasesSpec names a file with other names of genes. Without one, edge
// sources must use the ids of the gene list.
type AliasesSpec struct {
	SGDFeatures string `yaml:"sgd_features"` // a file SGD_features.tab
}

// EdgesSpec names one source of gene-gene edges: exactly one of its kinds is set.
type EdgesSpec struct {
	STRING    *LinksSpec     `yaml:"string"`
	Table     *EdgeTableSpec `yaml:"table"`
	BioGRID   *BioGRIDSpec   `yaml:"biogrid"`
	TFMatrix  *TFMatrixSpec  `yaml:"tf_matrix"`
	SelfLoops SelfLoops      `yaml:"self_loops"` // "" is that of the GraphSpec
}

// LinksSpec is a STRING links file: its pairs are undirected and stored once,
// in the orientation and order of their first meeting, with their score.
type LinksSpec struct {
	File string `yaml:"file"`
	// its {column} is replaced, as in string12_0_{column}
	Relation string   `yaml:"relation"`
	Columns  []string `yaml:"columns"` // score columns; each makes an edge type
	// one of its two is set; scores are probabilities times 1000, from 0 to 999
	Cutoff `yaml:",inline"`
}

// Cutoff is the weight that an edge needs: one of Above and AtLeast is set, or none. A missing
// weight is not enough.
type Cutoff struct {
	Above     *float64 `yaml:"above"`     // more than this
	AtLeast   *float64 `yaml:"at_least"`  // this or more
	Threshold *float64 `yaml:"threshold"` // refused: it did not say which
}

// EdgeTableSpec is an edge list in two columns of a table. Columns are given
// by name or by 0-based number.
type EdgeTableSpec struct {
	TextSpec `yaml:",inline"`
	Relation string           `yaml:"relation"`
	Source   string           `yaml:"source"`
	Target   string           `yaml:"target"`
	Weight   string           `yaml:"weight"` // a column to carry; "" is none
	Cutoff   `yaml:",inline"` // in the unit of the weight; none keeps every row
	Nonzero  bool             `yaml:"nonzero"` // an edge needs a weight other than 0
	// store a pair once, in the orientation and order of its first meeting
	Undirected bool `yaml:"undirected"`
	// a file with an id per line, for tables that hold numbers of its lines
	IDs       string `yaml:"ids"`
	IndexBase int    `yaml:"index_base"` // number of the first line of IDs: 0 or 1
}

// BioGRIDSpec is a BioGRID file in its formats tab2 and tab3. Its pairs are
// undirected and stored once, in the orientation and order of their first meeting.
type BioGRIDSpec struct {
	File     string `yaml:"file"`
	Relation string `yaml:"relation"`
	Type     string `yaml:"type"` // the experimental system type: physical or genetic
	// taxon of both interactors; "" is 559292, S. cerevisiae S288C
	Organism string `yaml:"organism"`
}

// TFMatrixSpec is a matrix of targets x factors: genes in the first column, transcription
// factors in the header, which may lack a name for the first column. Values
// other than 0 become edges factor -> target, row by row, with the value as their weight.
type TFMatrixSpec struct {
	TextSpec `yaml:",inline"`
	Relation string `yaml:"relation"`
}

// GEMSpec names the metabolic part. Without a file the graph has none.
type GEMSpec struct {
	// File is a model in the YAML of cobrapy and RAVEN (.yml, .yaml), in SBML (.xml, .sbml), or in
	// the text table of RAVEN and yeast-GEM (.txt), each also with .gz.
	File          string        `yaml:"file"`
	ReactionNodes ReactionNodes `yaml:"reaction_nodes"` // "" is whole
}

// SelfLoops says what happens to edges of a gene with itself.
type SelfLoops string

const (
	LoopsKeep SelfLoops = "keep"
	LoopsNone SelfLoops = "none" // drop them
	// drop them, then add one of every gene at the end, as torchcell does
	LoopsAppend SelfLoops = "append"
)
