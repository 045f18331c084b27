// Package source turns public files (tables, matrices, a genome-scale metabolic model, an ontology)
// into a cell graph, and screens into samples, and accounts for every row that it reads.
package source

import (
	"go.yaml.in/yaml/v4"

	"tcbuild/conf"
	"tcbuild/ingest"
)

// GraphSpec names the sources of one cell graph; its yaml tags are the keys of settings. Paths are
// relative to the working directory; files may be compressed where ingest/table reads them so.
//
// docs/SETTINGS.md and conf/tcbuild.schema.json are generated from the specs: a field's comment is
// what users read of its key, and ends with (required) or (default: VALUE) where it has one.
type GraphSpec struct {
	Genes GenesSpec `yaml:"genes"` // the gene list, sorted bytewise (required)
	// tables of other names of genes; each takes precedence over the next. Without them,
	// only ids are known
	Aliases []AliasTable `yaml:"aliases"`
	// tables of nodes of further types. The nodes of a type without a table are the ids that its edges
	// name, in the order of their first rows
	Nodes []NodesSpec `yaml:"nodes"`
	Edges []EdgesSpec `yaml:"edges"` // sources of edges, between genes if they name no other type
	GEM   GEMSpec     `yaml:"gem"`   // the metabolic part; without it the graph has none
	// terms as nodes gene_ontology, with the genes that they annotate; without it the graph has
	// none
	Ontology OntologySpec `yaml:"gene_ontology"`

	// what happens to edges of a gene with itself: keep them, drop them (none), or drop them, then
	// add one of every gene at the end, as torchcell does (append) (default: keep)
	SelfLoops SelfLoops `yaml:"self_loops"`
	// what happens to a name that no gene, or more than one, has: an edge cannot be without its
	// node, so drop-sample and drop-gene both drop the edge, and count it; a reaction's rule keeps
	// the name, and as nothing deletes that gene, it counts as present (default: error)
	UnknownGenes ingest.UnknownGenes `yaml:"unknown_genes"`
	// the share of a source's rows that may be dropped for names of no gene, or of several; more is
	// an error (default: 0.5)
	MaxDropped *float64 `yaml:"max_dropped"`
	// public files that 'tcbuild ingest fetch' downloads, and whose digests it checks
	Downloads []Download `yaml:"downloads" json:"-"`

	Place conf.Place `yaml:"-" json:"-"` // for errors; may be empty
}

// GenesSpec is a gene list in a column of a table.
type GenesSpec struct {
	// a public source, such as sgd_features, whose values the other keys change
	Source   conf.SourceName `yaml:"source" section:"genes"`
	TextSpec `yaml:",inline"`
	RowsSpec `yaml:",inline"`
	Column   string `yaml:"column"` // the column of the ids, by name or by number from 0 (required without gem)
	// a metabolic model, in place of file and column: the genes that its rules name
	GEM string `yaml:"gem"`

	Place conf.Place `yaml:"-" json:"-"` // for errors; may be empty
}

// RowsSpec says which rows of a table count.
type RowsSpec struct {
	// an expression that is true for the rows to keep, such as 'score >= 700 and mode ==
	// "binding"'; docs/input.md, Filters, has the language
	Where string `yaml:"where"`
	// further such expressions, each with what the account of rows calls the others; where comes
	// before them, and leaves a public source's as they are
	Filters []Filter `yaml:"filters"`
}

// Filter is an expression that is true for the rows to keep.
type Filter struct {
	Keep    string `yaml:"keep"`    // the expression (required)
	Dropped string `yaml:"dropped"` // the reason in the account of rows, such as of another organism (required)
}

// AliasTable is a table of genes and other names of theirs.
type AliasTable struct {
	// a public source, such as sgd_features, whose values the other keys change
	Source      conf.SourceName `yaml:"source" section:"aliases"`
	TextSpec    `yaml:",inline"`
	RowsSpec    `yaml:",inline"`
	ID          string   `yaml:"id"`           // the column of gene ids or other known names (required)
	Names       []string `yaml:"names"`        // the columns of other names (required)
	Split       string   `yaml:"split"`        // what separates several names in a field
	StripPrefix string   `yaml:"strip_prefix"` // what some names begin with and edges do not have
	// ids that are no genes are features, too, whose names are not taken for a gene's; only in the
	// first table
	Features bool `yaml:"features"`
	// what the account of rows calls the ids, and the names of each column; each takes precedence
	// over the next (default: all names are alike)
	Kinds []string `yaml:"kinds"`

	Place conf.Place `yaml:"-" json:"-"` // for errors; may be empty
}

// NodesSpec is a table of nodes of a type that has no section of its own.
type NodesSpec struct {
	Type     string `yaml:"type"` // such as complex or pathway (required)
	TextSpec `yaml:",inline"`
	RowsSpec `yaml:",inline"`
	Column   string              `yaml:"column"` // the column of the ids, by name or by number from 0 (required)
	Keep     map[string]KeptType `yaml:"keep"`   // further columns that the graph carries, as in edges

	Place conf.Place `yaml:"-" json:"-"` // for errors; may be empty
}

// EdgesSpec is a source of edges: an edge list in two columns of a table, or a matrix.
// Columns are given by name or by 0-based number.
type EdgesSpec struct {
	// a public source, such as string; 'tcbuild ingest sources' lists them, and prints the keys that
	// each sets, which the other keys of the entry change
	Source   conf.SourceName `yaml:"source" section:"edges"`
	TextSpec `yaml:",inline"`
	RowsSpec `yaml:",inline"`
	// the node type of the sources; strip_prefix, name and upper_case are for names of genes only
	// (default: gene)
	FromType string `yaml:"from_type"`
	ToType   string `yaml:"to_type"` // of the targets, as from_type (default: gene)
	// the edge type is FROM_TYPE__RELATION__TO_TYPE; {column} in it stands for the name of the column of
	// weights, and {COLUMN} for the value of another column, so that each value has an edge type of
	// its own; what a name cannot contain becomes _ (required)
	Relation string `yaml:"relation"`
	// the column of sources; if several, the first that has a name in the row, which - is not
	// (required but for a matrix)
	From Texts `yaml:"from"`
	To   Texts `yaml:"to"` // the column of targets, as from
	// true stores a pair once, in the orientation and order of its first row; false stores each
	// row's edge, from -> to, as always between two node types (required between nodes of one type, but for a matrix)
	Undirected  *bool  `yaml:"undirected"`
	StripPrefix string `yaml:"strip_prefix"` // what is before each name and not part of it
	// a regular expression whose first group is the name; a field that it does not match is an
	// error
	Name      string `yaml:"name"`
	UpperCase bool   `yaml:"upper_case"` // names are read in capitals, as protein names (Abf1) need it
	// what separates several names in a field; each of them has the row's edges
	Split string `yaml:"split"`
	// a column of weights, which the graph carries; of several, each makes an edge type
	Weight     Texts            `yaml:"weight"`
	WeightName string           `yaml:"weight_name"` // what the graph calls the weight (default: as its column)
	Cutoff     `yaml:",inline"` // in the unit of the weight; none keeps every row
	Nonzero    bool             `yaml:"nonzero"` // an edge needs a weight other than 0
	// further columns that the graph carries, each with its type: number, integer or text; a
	// missing value is a null
	Keep      map[string]KeptType `yaml:"keep"`
	IDs       string              `yaml:"ids"`        // a file of ids, for tables with numbers of its lines
	IndexBase int                 `yaml:"index_base"` // the number of the first line of ids: 0, 1 (default: 0)
	// the table is a matrix of targets and transcription factors, whose header may lack a name for
	// the first column: each value but 0, or each in the range, is an edge factor -> target with
	// that weight. Rows are targets, with a factor per column, or factors, as in YEASTRACT's matrix
	Matrix MatrixRows `yaml:"matrix"`
	// columns of a matrix that hold no values, such as descriptions, by name or by number from 0;
	// those without a name are left out, too
	Ignore []string `yaml:"ignore"`
	// a regular expression whose first group is the gene in the name of a matrix's column; a column
	// that it does not match is an error
	ColumnName string    `yaml:"column_name"`
	SelfLoops  SelfLoops `yaml:"self_loops"` // of this source of genes (default: the top level's)
	Ablation   `yaml:",inline"`

	Place conf.Place `yaml:"-" json:"-"` // for errors; may be empty
}

// Cutoff is the range of an edge's weight. A missing weight is outside of it.
type Cutoff struct {
	Min *float64 `yaml:"min"` // the least weight of an edge, itself included
	Max *float64 `yaml:"max"` // the greatest weight of an edge, itself included
}

// Texts is a list of texts, or a single one.
type Texts []string

// UnmarshalYAML reads a text as a list of one.
func (t *Texts) UnmarshalYAML(node *yaml.Node) error {
	if node.Kind == yaml.ScalarNode {
		*t = Texts{node.Value}
		return nil
	}
	return conf.Decode(node, (*[]string)(t))
}

// MatrixRows says what the rows of a matrix of regulations are.
type MatrixRows string

const (
	TargetRows MatrixRows = "targets"
	FactorRows MatrixRows = "factors"
)

// GEMSpec names the metabolic part.
type GEMSpec struct {
	// a model in the YAML of cobrapy and RAVEN (.yml, .yaml), or in SBML (.xml, .sbml), each also with
	// .gz or .zst
	File string `yaml:"file"`
	// what a reaction becomes: one node (whole), or torchcell's nodes, one per alternative set of
	// genes and direction (combinations) (default: whole)
	ReactionNodes ReactionNodes `yaml:"reaction_nodes"`

	Place conf.Place `yaml:"-" json:"-"` // for errors; empty if there is no such section
}

// OntologySpec names an ontology and its annotations of genes.
type OntologySpec struct {
	// an ontology in OBO, such as go-basic.obo, also with .gz or .zst: its terms that are not
	// obsolete are nodes, in the file's order, with the columns name and namespace
	File string `yaml:"file"`
	// which relations of terms are edges, each with the name of the edges
	// gene_ontology__NAME__gene_ontology, term -> parent; relations of one name share an edge type,
	// which has a pair once (default: is_a and part_of, as they are called)
	Relations  map[string]string `yaml:"relations"`
	Namespaces []string          `yaml:"namespaces"` // of the terms to keep (default: all)
	Terms      Terms             `yaml:"terms"`      // the terms to keep: all, or those with genes and their ancestors (default: all)
	// tables of annotations, such as GAF files. A gene and a term have one edge
	// gene__RELATION__gene_ontology, at their first row, with all their evidence codes and
	// qualifiers, joined by |. Alternative ids, and obsolete terms that one term replaces, are read
	// as that term
	Annotations []AnnotationsSpec `yaml:"annotations"`
	Relation    string            `yaml:"relation"` // of annotations (default: has_annotation)

	Place conf.Place `yaml:"-" json:"-"` // for errors; empty if there is no such section
}

// AnnotationsSpec is a table of genes and terms that annotate them, with columns evidence and
// qualifier.
type AnnotationsSpec struct {
	// a public source, such as gaf, whose values the other keys change
	Source   conf.SourceName `yaml:"source" section:"annotations"`
	TextSpec `yaml:",inline"`
	RowsSpec `yaml:",inline"`
	Gene     string `yaml:"gene"`  // the column that names the gene (required)
	Split    string `yaml:"split"` // what separates several names in the field; the first counts
	Term     string `yaml:"term"`  // the column of the term's id (required)

	Place conf.Place `yaml:"-" json:"-"` // for errors; may be empty
}

// Terms says which terms of an ontology are nodes.
type Terms string

const (
	AllTerms       Terms = "all"
	AnnotatedTerms Terms = "annotated"
)

// SelfLoops says what happens to edges of a gene with itself.
type SelfLoops string

const (
	LoopsKeep SelfLoops = "keep"
	LoopsNone SelfLoops = "none" // drop them
	// drop them, then add one of every gene at the end, as torchcell does
	LoopsAppend SelfLoops = "append"
)
