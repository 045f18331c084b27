// Package source turns public files (tables, matrices, a genome-scale metabolic model, an ontology)
// into a cell graph, and screens into samples, and accounts for every row that it reads.
package source

import (
	"tcbuild/conf"
	"tcbuild/ingest/names"
	"tcbuild/ingest/table"
	"tcbuild/ingest/where"
)

// GraphSpec names the sources of one cell graph; its yaml tags are the keys of settings. Paths are
// relative to the working directory; files may be compressed where ingest/table reads them so.
//
// docs/SETTINGS.md and conf/tcbuild.schema.json are generated from the specs: a field's comment is
// what users read of its key, and ends with (required) or (default: VALUE) where it has one.
type GraphSpec struct {
	Genes GenesSpec `yaml:"genes"` // the gene list; genes are sorted by the bytes of their ids (required)
	// tables of other gene names, in order of precedence; without them, only ids are recognized
	Aliases []names.AliasTable `yaml:"aliases"`
	// whether names that differ by case are the same gene's, as in yeast; a mouse's Kras is not human
	// KRAS (default: false)
	IgnoreCase bool `yaml:"ignore_case"`
	// tables of nodes of other types. Without a table, a type's nodes are the ids in its edges, in
	// order of first appearance
	Nodes []NodesSpec `yaml:"nodes"`
	Edges []EdgesSpec `yaml:"edges"` // sources of edges, by default between genes
	GEM   GEMSpec     `yaml:"gem"`   // metabolic model to add to the graph
	// ontology to add to the graph: terms become nodes of type gene_ontology, linked to the genes
	// that they annotate
	Ontology OntologySpec `yaml:"gene_ontology"`

	// what to do with edges from a gene to itself: keep; none, which drops them; or append, which
	// drops them and adds one for every gene at the end, as torchcell does (default: keep)
	SelfLoops SelfLoops `yaml:"self_loops"`
	// what to do with names that match no gene, or several: error, or drop-gene, which drops and
	// counts the edge. Reaction rules keep such names; they count as present, since nothing can
	// delete them (default: error)
	UnknownGenes UnknownNames `yaml:"unknown_genes"`
	// largest share of a source's rows to drop because a name matches no gene, or several; more is
	// an error (default: 0.5)
	MaxDropped *float64 `yaml:"max_dropped"`
	// public files that 'tcbuild ingest fetch' downloads and checks
	Downloads []Download `yaml:"downloads" json:"-"`

	Place conf.Place `yaml:"-" json:"-"` // for errors; may be empty
}

// GenesSpec is a gene list in a column of a table.
type GenesSpec struct {
	// public source, such as sgd_features; the other keys override its settings
	Source         conf.SourceName `yaml:"source" section:"genes"`
	table.TextSpec `yaml:",inline"`
	where.RowsSpec `yaml:",inline"`
	Column         string `yaml:"column"` // column of gene ids (required without gem)
	// metabolic model whose reaction rules name the genes; replaces file and column
	GEM string `yaml:"gem"`
}

// NodesSpec is a table of nodes of a type that has no section of its own.
type NodesSpec struct {
	Type           string `yaml:"type"` // node type, such as complex or pathway (required)
	table.TextSpec `yaml:",inline"`
	where.RowsSpec `yaml:",inline"`
	Column         string              `yaml:"column"` // column of node ids (required)
	Keep           map[string]KeptType `yaml:"keep"`   // more columns to store in the graph, as in edges
}

// EdgesSpec is a source of edges: an edge list in two columns of a table, or a matrix.
type EdgesSpec struct {
	// public source, such as string; the other keys override its settings. 'tcbuild ingest sources'
	// lists the sources and prints their settings
	Source         conf.SourceName `yaml:"source" section:"edges"`
	table.TextSpec `yaml:",inline"`
	where.RowsSpec `yaml:",inline"`
	// node type of the source nodes; strip_prefix, name and upper_case apply to gene names only
	// (default: gene)
	FromType string `yaml:"from_type"`
	ToType   string `yaml:"to_type"` // node type of the target nodes (default: gene)
	// relation in the edge type FROM_TYPE__RELATION__TO_TYPE. {column} is replaced with the name of
	// the weight column. {COLUMN} is replaced with the row's value in that column, so that each value
	// makes its own edge type; characters that names cannot contain become _ (required)
	Relation string `yaml:"relation"`
	// column of source nodes; if several are listed, the first that is neither empty nor - in the row
	// (required except for a matrix)
	From []string `yaml:"from"`
	To   []string `yaml:"to"` // column of target nodes; several as for from
	// true: store each pair once, in the direction and position of its first row; false: store an edge
	// from -> to for each row, as is always done between two node types (required between nodes of one
	// type, except for a matrix)
	Undirected  *bool  `yaml:"undirected"`
	StripPrefix string `yaml:"strip_prefix"` // prefix that every name has, to be removed
	// regular expression whose first group is the name; a field that does not match is an error
	Name      string `yaml:"name"`
	UpperCase bool   `yaml:"upper_case"` // convert names to upper case, such as the protein name Abf1
	// separator between names in a field; each name gets the row's edges
	Split string `yaml:"split"`
	// column of weights to store in the graph; if several are listed, each makes its own edge type
	Weight     []string         `yaml:"weight"`
	WeightName string           `yaml:"weight_name"` // name of the weight in the graph (default: the column's name)
	Cutoff     `yaml:",inline"` // in the unit of the weight; without it, every row is kept
	Nonzero    bool             `yaml:"nonzero"` // keep only edges whose weight is not 0
	// more columns to store in the graph, each with its type: number, integer or text; missing values
	// become null
	Keep      map[string]KeptType `yaml:"keep"`
	IDs       string              `yaml:"ids"`        // file with one id per line, for tables that give line numbers instead of names
	IndexBase int                 `yaml:"index_base"` // number of the first line of ids, 0 or 1 (default: 0)
	// read the table as a matrix of transcription factors and their targets. Each value other than 0,
	// or within min and max, becomes an edge factor -> target with that weight. targets: one target
	// per row, one factor per column; factors: the reverse, as in YEASTRACT's matrix. The header may
	// omit the name of the first column
	Matrix MatrixRows `yaml:"matrix"`
	// columns of a matrix to ignore, such as descriptions; those without a name are always ignored
	Ignore []string `yaml:"ignore"`
	// regular expression whose first group is the gene in a matrix's column name; a column that does
	// not match is an error
	ColumnName string    `yaml:"column_name"`
	SelfLoops  SelfLoops `yaml:"self_loops"` // overrides the top-level self_loops for this source (default: the top-level value)
	Ablation   `yaml:",inline"`
}

// Cutoff is the range of an edge's weight. A missing weight is outside of it.
type Cutoff struct {
	Min *float64 `yaml:"min"` // smallest weight to keep, inclusive
	Max *float64 `yaml:"max"` // largest weight to keep, inclusive
}

// MatrixRows says what the rows of a matrix of regulations are.
type MatrixRows string

const (
	TargetRows MatrixRows = "targets"
	FactorRows MatrixRows = "factors"
)

// GEMSpec names the metabolic part.
type GEMSpec struct {
	// model in the YAML of cobrapy and RAVEN (.yml, .yaml) or in SBML (.xml, .sbml); may be compressed
	// (.gz, .zst)
	File string `yaml:"file"`
	// nodes per reaction: one (whole), or one per alternative set of genes and direction, as in
	// torchcell (combinations) (default: whole)
	ReactionNodes ReactionNodes `yaml:"reaction_nodes"`

	Place conf.Place `yaml:"-" json:"-"` // for errors; empty if there is no such section
}

// OntologySpec names an ontology and its annotations of genes.
type OntologySpec struct {
	// ontology in OBO format, such as go-basic.obo; may be compressed (.gz, .zst). Terms that are not
	// obsolete become nodes, in file order, with columns name and namespace
	File string `yaml:"file"`
	// relations between terms that become edges term -> parent, each with the NAME in its edge type
	// gene_ontology__NAME__gene_ontology. Relations with the same name share an edge type, which
	// stores each pair once (default: is_a and part_of, under these names)
	Relations  map[string]string `yaml:"relations"`
	Namespaces []string          `yaml:"namespaces"` // namespaces of the terms to keep (default: all)
	Terms      Terms             `yaml:"terms"`      // terms to keep: all, or only annotated ones and their ancestors (default: all)
	// tables of annotations, such as GAF files. A gene and a term share one edge
	// gene__RELATION__gene_ontology, in order of first appearance; its evidence codes and qualifiers
	// are joined by |. Alternative ids, and obsolete terms with a single replacement, are replaced
	// with the current term
	Annotations []AnnotationsSpec `yaml:"annotations"`
	Relation    string            `yaml:"relation"` // relation in the edge type of annotations (default: has_annotation)

	Place conf.Place `yaml:"-" json:"-"` // for errors; empty if there is no such section
}

// AnnotationsSpec is a table of genes and terms that annotate them, with columns evidence and
// qualifier.
type AnnotationsSpec struct {
	// public source, such as gaf; the other keys override its settings
	Source         conf.SourceName `yaml:"source" section:"annotations"`
	table.TextSpec `yaml:",inline"`
	where.RowsSpec `yaml:",inline"`
	Gene           string `yaml:"gene"`  // column of gene names (required)
	Split          string `yaml:"split"` // separator between names in a field; only the first name is read
	Term           string `yaml:"term"`  // column of term ids (required)
}

// Terms says which terms of an ontology are nodes.
type Terms string

const (
	AllTerms       Terms = "all"
	AnnotatedTerms Terms = "annotated"
)

// UnknownNames says what to do with names that match no gene, or several.
type UnknownNames string

const (
	RefuseNames UnknownNames = "error"
	DropNames   UnknownNames = "drop-gene" // and the edges
)

// SelfLoops says what to do with edges from a gene to itself.
type SelfLoops string

const (
	LoopsKeep SelfLoops = "keep"
	LoopsNone SelfLoops = "none" // drop them
	// drop them, then add one for every gene at the end, as torchcell does
	LoopsAppend SelfLoops = "append"
)
