// Package source turns public files (STRING links, edge tables, SGD's feature list, a genome-scale
// metabolic model) into a cell graph, and accounts for every row that it reads.
package source

import (
	"tcbuild/conf"
	"tcbuild/ingest"
)

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

	Place conf.Place `yaml:"-" json:"-"` // for errors; may be empty
}

// GenesSpec names the gene list, in one of two ways.
type GenesSpec struct {
	SGDFeatures string     `yaml:"sgd_features"` // a file SGD_features.tab
	FeatureType string     `yaml:"feature_type"` // which of its features are genes (default: ORF)
	Table       *GeneTable `yaml:"table"`        // a column of a table

	Place conf.Place `yaml:"-" json:"-"` // for errors; may be empty
}

// GeneTable is a gene list in a column of a table.
type GeneTable struct {
	TextSpec `yaml:",inline"`
	Column   string `yaml:"column"` // the column of the ids, by name or by number from 0 (required)

	Place conf.Place `yaml:"-" json:"-"` // for errors; may be empty
}

// AliasesSpec names files with other names of genes.
type AliasesSpec struct {
	// a file SGD_features.tab: systematic and standard names, aliases, SGD ids
	SGDFeatures string       `yaml:"sgd_features"`
	Tables      []AliasTable `yaml:"tables"` // names of other databases, such as Entrez and UniProt
}

// AliasTable is a table of genes and other names of theirs.
type AliasTable struct {
	TextSpec    `yaml:",inline"`
	ID          string   `yaml:"id"`           // the column of gene ids or other known names (required)
	Names       []string `yaml:"names"`        // the columns of other names (required)
	Split       string   `yaml:"split"`        // what separates several names in a field
	StripPrefix string   `yaml:"strip_prefix"` // what some names begin with and edges do not have

	Place conf.Place `yaml:"-" json:"-"` // for errors; may be empty
}

// EdgesSpec names one source of gene-gene edges: exactly one of its kinds is set.
type EdgesSpec struct {
	// a STRING links file: undirected pairs, each stored once, with its score, in the orientation
	// and order of their first rows
	STRING *LinksSpec     `yaml:"string"`
	Table  *EdgeTableSpec `yaml:"table"` // an edge list in two columns of a table
	// a BioGRID file, tab2 or tab3: undirected pairs, each stored once, as with string
	BioGRID *BioGRIDSpec `yaml:"biogrid"`
	// a matrix of targets and transcription factors; the header may lack a name for the first
	// column. Each value but 0, or each in the range, is an edge factor -> target with that weight
	TFMatrix  *TFMatrixSpec `yaml:"tf_matrix"`
	SelfLoops SelfLoops     `yaml:"self_loops"` // of this source (default: that of the top level)

	Place conf.Place `yaml:"-" json:"-"` // for errors; may be empty
}

// LinksSpec is a STRING links file.
type LinksSpec struct {
	File string `yaml:"file"` // protein.links…txt, .gz or not (required)
	// edge types are gene__RELATION__gene, where {column} stands for the column (required)
	Relation string   `yaml:"relation"`
	Columns  []string `yaml:"columns"` // score columns; each makes an edge type (required)
	// min or max is set; scores are probabilities times 1000, from 0 to 999
	Cutoff `yaml:",inline"`
}

// Cutoff is the range of an edge's weight. A missing weight is outside of it.
type Cutoff struct {
	Min *float64 `yaml:"min"` // the least weight of an edge, itself included
	Max *float64 `yaml:"max"` // the greatest weight of an edge, itself included
}

// EdgeTableSpec is an edge list in two columns of a table. Columns are given
// by name or by 0-based number.
type EdgeTableSpec struct {
	TextSpec `yaml:",inline"`
	// the edge type is gene__RELATION__gene; {COLUMN} in it stands for the value of a column, so
	// that each value has an edge type of its own, and what a name cannot contain becomes _
	// (required)
	Relation string `yaml:"relation"`
	// the column of sources: a name, or number from 0 (required)
	Source string `yaml:"source"`
	Target string `yaml:"target"` // the column of targets (required)
	// true stores a pair once, in the orientation and order of its first row; false stores each
	// row's edge, source -> target (required)
	Undirected *bool `yaml:"undirected"`
	// an expression that is true for the rows to keep, such as 'score >= 700 and mode ==
	// "binding"'; docs/DESIGN.md, Filters, has the language
	Where       string `yaml:"where"`
	StripPrefix string `yaml:"strip_prefix"` // what is before each name and not part of it
	// a regular expression whose first group is the name; a field that it does not match is an
	// error
	Name      string `yaml:"name"`
	UpperCase bool   `yaml:"upper_case"` // names are read in capitals, as those of proteins (Abf1) need it
	// what separates several names in a field; each of them has the row's edges
	Split   string           `yaml:"split"`
	Weight  string           `yaml:"weight"` // a column of weights, which the graph carries
	Cutoff  `yaml:",inline"` // in the unit of the weight; none keeps every row
	Nonzero bool             `yaml:"nonzero"` // an edge needs a weight other than 0
	// further columns that the graph carries, each with its type: number, integer or text; a
	// missing value is a null
	Keep      map[string]KeptType `yaml:"keep"`
	IDs       string              `yaml:"ids"`        // a file of ids, for tables with numbers of its lines
	IndexBase int                 `yaml:"index_base"` // the number of the first line of ids: 0, 1 (default: 0)
}

// BioGRIDSpec is a BioGRID file in its formats tab2 and tab3.
type BioGRIDSpec struct {
	File     string `yaml:"file"`     // a file .tab2.txt or .tab3.txt, or the .zip of them (required)
	Member   string `yaml:"member"`   // the file to read in a .zip, if it has several
	Relation string `yaml:"relation"` // the edge type is gene__RELATION__gene (required)
	Type     string `yaml:"type"`     // the experimental systems: physical or genetic (required)
	Organism string `yaml:"organism"` // the taxon of both genes (default: 559292, of S288C)
}

// TFMatrixSpec is a matrix of targets and transcription factors. Its edges are stored row by row.
type TFMatrixSpec struct {
	TextSpec `yaml:",inline"`
	Relation string `yaml:"relation"` // the edge type is gene__RELATION__gene (required)
	// what rows are: targets, with a factor per column, or factors, with a target per column, as in
	// YEASTRACT's regulation matrix (default: targets; an error if there are more columns than
	// rows)
	Rows MatrixRows `yaml:"rows"`
	// columns that hold no values, such as descriptions, by name or by number from 0; those without
	// a name are left out, too
	Ignore []string `yaml:"ignore"`
	// a regular expression whose first group is the gene in a column's name; a column that it does
	// not match is an error
	ColumnName string           `yaml:"column_name"`
	UpperCase  bool             `yaml:"upper_case"` // names are read in capitals, as those of proteins (Abf1) need it
	Cutoff     `yaml:",inline"` // none keeps every value but 0
}

// MatrixRows says what the rows of a matrix of regulations are.
type MatrixRows string

const (
	TargetRows MatrixRows = "targets"
	FactorRows MatrixRows = "factors"
)

// GEMSpec names the metabolic part.
type GEMSpec struct {
	// a model in the YAML of cobrapy and RAVEN (.yml, .yaml), in SBML (.xml, .sbml), or in the text
	// table of RAVEN and yeast-GEM (.txt), each also with .gz or .zst
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
	// GAF files, 1.0 to 2.2, also with .gz or .zst. A gene and a term have one edge
	// gene__RELATION__gene_ontology, at their first row, with all their evidence codes and
	// qualifiers, joined by |; rows with the qualifier NOT have none. Alternative ids, and obsolete
	// terms that one term replaces, are read as that term
	Annotations []string `yaml:"annotations"`
	Relation    string   `yaml:"relation"` // of annotations (default: has_annotation)
	// the column that names the gene: db_object_id, db_object_symbol, or db_object_synonym, the
	// first of them, which in SGD's file is the systematic name (default: db_object_id)
	Gene GeneColumn `yaml:"gene"`
	// an expression that is true for the rows to keep, as in tables; the columns are db,
	// db_object_id, db_object_symbol, qualifier, go_id, reference, evidence, with_from, aspect,
	// db_object_name, db_object_synonym, db_object_type, taxon, date, assigned_by, extension and
	// gene_product_form
	Where string `yaml:"where"`

	Place conf.Place `yaml:"-" json:"-"` // for errors; empty if there is no such section
}

// Terms says which terms of an ontology are nodes.
type Terms string

const (
	AllTerms       Terms = "all"
	AnnotatedTerms Terms = "annotated"
)

// GeneColumn is a column of GAF that names a gene.
type GeneColumn string

const (
	GeneID      GeneColumn = "db_object_id"
	GeneSymbol  GeneColumn = "db_object_symbol"
	GeneSynonym GeneColumn = "db_object_synonym"
)

// SelfLoops says what happens to edges of a gene with itself.
type SelfLoops string

const (
	LoopsKeep SelfLoops = "keep"
	LoopsNone SelfLoops = "none" // drop them
	// drop them, then add one of every gene at the end, as torchcell does
	LoopsAppend SelfLoops = "append"
)
