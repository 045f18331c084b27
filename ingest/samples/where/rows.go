package where

// RowsSpec says which rows of a table count.
type RowsSpec struct {
	// keep only rows for which this expression is true, such as 'score >= 700 and mode ==
	// "binding"'; docs/input.md, Filters, describes the language
	Where string `yaml:"where"`
	// more such expressions, each with a label for the rows that it drops. where is applied first,
	// and does not replace the filters of a public source
	Filters []RowFilter `yaml:"filters"`
}

// RowFilter is an expression that is true for the rows to keep.
type RowFilter struct {
	Keep    string `yaml:"keep"`    // expression that is true for rows to keep (required)
	Dropped string `yaml:"dropped"` // label of the dropped rows in the report, such as "of another organism" (required)
}
