package where

import (
	"cmp"
	"fmt"
	"math"
	"slices"

	"tcbuild/conf"
	"tcbuild/fault"
	"tcbuild/ingest"
	"tcbuild/ingest/inputfile"
	"tcbuild/ingest/table"
)

// RowsSpec says which rows of a table count:
//
//	{where: score >= 700, filters: [{keep: taxon == "9606", dropped: of another organism}]}
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

const notKept = "not kept by where"

// Table is a table of which only some rows count.
type Table struct {
	*table.Reader
	filters []compiledFilter
}

// compiledFilter is a compiled expression. To it, a row is a sample whose attributes are the values of
// the columns that the expression names.
type compiledFilter struct {
	label   string
	filter  *Filter
	columns []rowColumn
	row     ingest.Sample
}

type rowColumn struct {
	ingest.Attribute
	number int
}

// OpenTable opens a table, and finds columns of it by name. The caller closes the table; its file
// stays open in files.
func OpenTable(
	files *inputfile.Files, text table.TextSpec, rows RowsSpec, names ...string,
) (_ *Table, columns []int, err error) {
	reader, err := text.Open(files)
	if err != nil {
		return nil, nil, err
	}
	for _, name := range names {
		column, missing := reader.Column(name)
		columns, err = append(columns, column), cmp.Or(err, missing)
	}
	t := &Table{Reader: reader}
	if err == nil {
		err = t.compile(rows, text.Place)
	}
	if err != nil {
		reader.Close()
		return nil, nil, err
	}
	return t, columns, nil
}

// compile compiles the expressions of the settings at a place.
func (t *Table) compile(rows RowsSpec, place conf.Place) error {
	if rows.Where != "" {
		err := t.addFilter(fmt.Sprintf("%s.where", place), RowFilter{rows.Where, notKept})
		if err != nil {
			return err
		}
	}
	for k, spec := range rows.Filters {
		if err := t.addFilter(fmt.Sprintf("%s.filters.%d", place, k), spec); err != nil {
			return err
		}
	}
	return nil
}

func (t *Table) addFilter(place string, spec RowFilter) error {
	filter, used, err := CompileRows("check graph settings: "+place, spec.Keep, t.Columns())
	if err != nil {
		return err
	}
	f := compiledFilter{label: spec.Dropped, filter: filter}
	for _, attribute := range used {
		number := slices.Index(t.Columns(), attribute.Name)
		f.columns = append(f.columns, rowColumn{attribute, number})
	}
	f.row.Attributes = make([]ingest.Value, len(used))
	t.filters = append(t.filters, f)
	return nil
}

// Labels are the labels of the rows that filters drop, in the order in which these are applied.
func (t *Table) Labels() (labels []string) {
	for _, f := range t.filters {
		labels = append(labels, f.label)
	}
	return labels
}

// Drops returns the label of the first filter that drops row i of a batch. drops is false if the
// row counts.
func (t *Table) Drops(batch *table.Batch, i int) (label string, drops bool, err error) {
	for k := range t.filters {
		f := &t.filters[k]
		if err := f.read(batch, i); err != nil {
			return "", false, err
		}
		if !f.filter.Keeps(&f.row) {
			return f.label, true, nil
		}
	}
	return "", false, nil
}

// read reads the values of the expression's columns.
func (f *compiledFilter) read(batch *table.Batch, i int) error {
	for k, column := range f.columns {
		value, err := column.read(batch, i)
		if err != nil {
			return fmt.Errorf("column %s, which where has as a %s: %w",
				fault.Quote(column.Name), column.Type, err)
		}
		f.row.Attributes[k] = value
	}
	return nil
}

func (c rowColumn) read(batch *table.Batch, i int) (value ingest.Value, err error) {
	if c.Type == ingest.NumberAttribute {
		value.Number, _, err = batch.Number(c.number, i) // NaN if it is missing
		return value, err
	}
	if batch.Missing(c.number, i) {
		return ingest.Value{Number: math.NaN()}, nil
	}
	value.Text = batch.Text(c.number, i)
	return value, table.CheckUTF8(value.Text)
}
