// Package networks reads edges. In go tables with a pair of names in each row, and matrices of
// factors and targets; out come the edges of each type, and an account of the rows:
//
//	protein1     protein2     experiments
//	4932.YAL001C 4932.YBR123C 902           →  YAL001C - YBR123C, with the weight 902
package networks

import (
	"cmp"
	"fmt"
	"maps"
	"math"
	"regexp"
	"slices"
	"strings"

	"tcbuild/conf"
	"tcbuild/fault"
	"tcbuild/ingest"
	"tcbuild/ingest/graph"
	"tcbuild/ingest/table"
	"tcbuild/ingest/where"
)

// Spec is a source of edges: an edge list in two columns of a table, or a matrix.
type Spec struct {
	// public source, such as string; the other keys override its settings. 'tcbuild ingest sources'
	// lists the sources and prints their settings
	Source         conf.SourceName `yaml:"source" section:"edges"`
	table.TextSpec `yaml:",inline" required:"file"`
	where.RowsSpec `yaml:",inline" forms:"table"`
	// node type of the source nodes; strip_prefix, name and upper_case apply to gene names only
	// (default: gene)
	FromType string `yaml:"from_type" default:"gene"`
	ToType   string `yaml:"to_type" default:"gene"` // node type of the target nodes (default: gene)
	// relation in the edge type FROM_TYPE__RELATION__TO_TYPE. {column} is replaced with the name of
	// the weight column. {COLUMN} is replaced with the row's value in that column, so that each
	// value makes its own edge type; characters that names cannot contain become _ (required)
	Relation string `yaml:"relation" required:"yes"`
	// column of source nodes; if several are listed, the first that is neither empty nor - in the
	// row (required except for a matrix)
	From []string `yaml:"from" forms:"table" required:"yes"`
	// column of target nodes; several as for from
	To []string `yaml:"to" forms:"table" required:"yes"`
	// true: store each pair once, in the direction and position of its first row; false: store an
	// edge from -> to for each row, as is always done between two node types (required between
	// nodes of one type, except for a matrix)
	Undirected *bool `yaml:"undirected" forms:"table"`
	// prefix that every name has, to be removed
	StripPrefix string `yaml:"strip_prefix" forms:"table"`
	// regular expression whose first group is the name; a field that does not match is an error
	Name conf.Pattern `yaml:"name" forms:"table"`
	// convert names to upper case, such as the protein name Abf1
	UpperCase bool `yaml:"upper_case"`
	// separator between names in a field; each name gets the row's edges
	Split string `yaml:"split" forms:"table"`
	// column of weights to store in the graph; if several are listed, each makes its own edge type
	Weight []string `yaml:"weight" forms:"table"`
	// name of the weight in the graph (default: the column's name)
	WeightName string           `yaml:"weight_name"`
	Cutoff     `yaml:",inline"` // in the unit of the weight; without it, every row is kept
	// keep only edges whose weight is not 0
	Nonzero bool `yaml:"nonzero" forms:"table"`
	// more columns to store in the graph, each with its type: number, integer or text; missing
	// values become null
	Keep map[string]KeptType `yaml:"keep" forms:"table" words:"number integer text"`
	// file with one id per line, for tables that give line numbers instead of names
	IDs string `yaml:"ids" forms:"table"`
	// number of the first line of ids, 0 or 1 (default: 0)
	IndexBase int `yaml:"index_base"`
	// read the table as a matrix of transcription factors and their targets. Each value other than
	// 0, or within min and max, becomes an edge factor -> target with that weight. targets: one
	// target per row, one factor per column; factors: the reverse, as in YEASTRACT's matrix. The
	// header may omit the name of the first column
	Matrix MatrixRows `yaml:"matrix" words:"targets factors"`
	// columns of a matrix to ignore, such as descriptions; those without a name are always ignored
	Ignore []string `yaml:"ignore" forms:"matrix"`
	// regular expression whose first group is the gene in a matrix's column name; a column that
	// does not match is an error
	ColumnName conf.Pattern `yaml:"column_name" forms:"matrix"`
	// overrides the top-level self_loops for this source (default: the top-level value)
	SelfLoops SelfLoops `yaml:"self_loops" words:"keep none append"`
	Ablation  `yaml:",inline"`
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

// SelfLoops says what to do with edges from a gene to itself.
type SelfLoops string

const (
	LoopsKeep SelfLoops = "keep"
	LoopsNone SelfLoops = "none" // drop them
	// drop them, then add one for every gene at the end, as torchcell does
	LoopsAppend SelfLoops = "append"
)

// Form is table or matrix: each has settings of its own.
func (s *Spec) Form() string {
	if s.Matrix != "" {
		return "matrix"
	}
	return "table"
}

// Check returns an error for settings that contradict each other.
func (s *Spec) Check() error {
	isTable := s.Form() == "table"
	readsNames := s.StripPrefix+s.Split+string(s.Name) != "" || s.UpperCase
	hasRange := s.Min != nil || s.Max != nil
	isIndexed := s.IndexBase != 0
	lacksWeight := isTable && len(s.Weight) == 0
	wrong := func(hint, format string, args ...any) error {
		return fault.New(fault.Usage, hint, format, args...)
	}
	switch {
	case s.OfGenes():
	case s.SelfLoops != "":
		return wrong("remove it", "found self_loops for edges that are not of genes")
	case s.Matrix != "" || s.IDs != "":
		return wrong("remove it, or from_type and to_type",
			"found matrix or ids for edges that are not of genes")
	case s.FromType != s.ToType && s.Undirected != nil && *s.Undirected:
		return wrong("omit it", "found undirected: true for edges between two node types")
	}
	switch {
	case isTable && s.Undirected == nil && s.FromType == s.ToType:
		return wrong("true stores a pair once; false stores an edge per row, from -> to",
			"undirected: missing")
	case s.IDs != "" && readsNames:
		return wrong("remove them", "found ids beside strip_prefix, name, upper_case or split, "+
			"which are about names")
	case lacksWeight && (hasRange || s.Nonzero):
		return wrong("name the weight column",
			"weight: missing, although min, max or nonzero is set")
	case hasRange && s.Nonzero:
		return wrong("remove one of them; of a source, with nonzero: false",
			"found both nonzero and min or max, expected one of them")
	case s.Min != nil && s.Max != nil && *s.Min > *s.Max:
		return wrong("", "found min %v above max %v", *s.Min, *s.Max)
	case isIndexed && s.IndexBase != 1:
		return wrong("", "index_base: found %d, expected 0 or 1", s.IndexBase)
	case isIndexed && s.IDs == "":
		return wrong("name the file of the ids that the numbers refer to",
			"ids: missing, although index_base is set")
	case s.Top != nil && lacksWeight:
		return wrong("name the weight column", "weight: missing, although top is set")
	}
	for _, relation := range s.Relations() {
		_, by, _ := GroupedBy(relation)
		isKnown := by == "" || !isTable // otherwise when the table has been read
		if err := graph.CheckRelation(relation); isKnown && err != nil {
			return err
		}
	}
	return nil
}

// OfGenes reports whether the edges are between genes.
func (s *Spec) OfGenes() bool {
	return s.FromType == ingest.Gene && s.ToType == ingest.Gene
}

// Relations are the names of the edge types, one per column of weights, in which {COLUMN} may stand
// for the value of a column.
func (s *Spec) Relations() (relations []string) {
	if len(s.Weight) == 0 {
		return []string{s.Relation}
	}
	for _, weight := range s.Weight {
		relations = append(relations, strings.ReplaceAll(s.Relation, "{column}", weight))
	}
	return relations
}

// EdgeType is the type of edges with a relation.
func (s *Spec) EdgeType(relation string) ingest.EdgeType {
	return ingest.EdgeType{Source: s.FromType, Relation: relation, Target: s.ToType}
}

// GroupedBy returns the column whose values have edge types of their own, and what is around the
// values in the names of their relations. column is empty if there is none.
func GroupedBy(relation string) (before, column, after string) {
	before, rest, found := strings.Cut(relation, "{")
	column, after, closed := strings.Cut(rest, "}")
	if !found || !closed {
		return relation, "", ""
	}
	return before, column, after
}

// notInRelations are characters that the relation of an edge type cannot contain.
var notInRelations = regexp.MustCompile(`[^A-Za-z0-9.-]+`)

// condition is what the weight of an edge must meet.
type condition struct {
	least, most float64
	isRange     bool
	nonzero     bool
	refused     string // describes the rows that do not meet it
}

// condition returns the condition that the settings have.
func (s *Spec) condition() condition {
	c := condition{least: math.Inf(-1), most: math.Inf(1), isRange: true}
	if s.Min != nil {
		c.least = *s.Min
	}
	if s.Max != nil {
		c.most = *s.Max
	}
	name := cmp.Or(s.WeightName, "weight")
	switch {
	case s.Min != nil && s.Max != nil:
		c.refused = fmt.Sprintf("with no %s from %v to %v", name, c.least, c.most)
	case s.Max != nil:
		c.refused = fmt.Sprintf("with no %s of at most %v", name, c.most)
	case s.Min != nil:
		c.refused = fmt.Sprintf("with no %s of at least %v", name, c.least)
	default:
		c = condition{nonzero: s.Nonzero || s.Matrix != "", refused: "with a weight of 0 or none"}
	}
	return c
}

// isMet reports whether a weight, NaN if it is missing, meets the condition.
func (c condition) isMet(weight float64) bool {
	switch {
	case c.isRange:
		return weight >= c.least && weight <= c.most
	case c.nonzero:
		return weight != 0 && !math.IsNaN(weight)
	}
	return true
}

// columns are the names of all columns that the settings have, by their use.
func (s *Spec) columns() []string {
	return slices.Concat[[]string](s.From, s.To, s.Weight, slices.Sorted(maps.Keys(s.Keep)))
}
