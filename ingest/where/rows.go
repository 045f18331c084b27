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
	Keep string `yaml:"keep" required:"yes"` // expression that is true for rows to keep (required)
	// label of the dropped rows in the report, such as "of another organism" (required)
	Dropped string `yaml:"dropped" required:"yes"`
}

const notKept = "not kept by where"

// Table is a table whose rows are filtered.
type Table struct {
	*table.Reader
	EndOfBatch func() // if set, Each calls it after the rows of a batch, whose texts end then
	filters    []compiledFilter
}

// compiledFilter is a compiled expression. To it, a row is a sample whose attributes are the values
// of the columns that the expression names.
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
	filter, used, err := CompileRows("read settings: "+place, spec.Keep, t.Columns())
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

// Each visits the rows that count, in order, and closes the table. account counts all rows, and the
// others by the first filter that drops them. Errors say what was read, and which row.
func (t *Table) Each(
	what string, account *ingest.Account, visit func(batch *table.Batch, i int) error,
) error {
	defer t.Close()
	dropped := make([]ingest.Account, len(t.filters)) // so that they are in the filters' order
	for batch, err := range t.Batches() {
		if err != nil {
			return err
		}
		for i := range batch.Len {
			row := batch.First + int64(i)
			account.Rows++
			filter, err := t.dropping(batch, i)
			switch {
			case err != nil:
			case filter < len(dropped):
				dropped[filter].Drop(ingest.FilteredOut, t.filters[filter].label, row, nil)
			default:
				err = visit(batch, i)
			}
			if err != nil {
				return fault.New(fault.Input, fault.HintOf(err),
					"read %s %s: %w", what, t.Where(row), err)
			}
		}
		if t.EndOfBatch != nil {
			t.EndOfBatch()
		}
	}
	for k := range dropped {
		account.Merge(&dropped[k])
	}
	return nil
}

// dropping returns the first filter that drops row i of a batch, by its number; the number of
// filters if the row counts.
func (t *Table) dropping(batch *table.Batch, i int) (filter int, err error) {
	for k := range t.filters {
		f := &t.filters[k]
		if err := f.read(batch, i); err != nil || !f.filter.Keeps(&f.row) {
			return k, err
		}
	}
	return len(t.filters), nil
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
