package source

import (
	"cmp"
	"fmt"
	"math"
	"slices"
	"strings"

	"tcbuild/conf"
	"tcbuild/fault"
	"tcbuild/ingest"
	"tcbuild/ingest/inputfile"
	"tcbuild/ingest/samples/where"
	"tcbuild/ingest/table"
)

// openTable opens a file as a table. The file stays open in files, so that later passes read the
// same content.
func openTable(files *inputfile.Files, path string, options table.TextOptions) (*table.Reader, error) {
	file, err := files.Open(path)
	if err != nil {
		return nil, err
	}
	return table.OpenFile(file, options)
}

// openText opens the table that settings name.
func openText(files *inputfile.Files, t table.TextSpec) (*table.Reader, error) {
	options, err := t.Options()
	if err != nil {
		return nil, err
	}
	return openTable(files, t.File, options)
}

// findColumn returns the number of the column that settings name.
func findColumn(reader *table.Reader, file, name string) (int, error) {
	columns := reader.Columns()
	number := slices.Index(columns, name)
	if number < 0 {
		return 0, fault.New(fault.Input, fault.DidYouMean(name, columns, "choose one of them; for a file without a header line, set columns"),
			"read %s: found no column %q, expected one of %s", file, name, strings.Join(columns, ", "))
	}
	return number, nil
}

// refusal says which rows of a table do not count, and why. The zero value refuses none.
type refusal struct {
	keeps   []func(batch *table.Batch, i int) (bool, error)
	refused []Count // by the first of keeps that was false
}

// newRefusal compiles the expressions, for a table with these columns.
func newRefusal(s where.RowsSpec, place conf.Place, names []string) (r refusal, err error) {
	add := func(key string, filter where.RowFilter) {
		if err == nil {
			var keeps func(*table.Batch, int) (bool, error)
			keeps, err = rowFilter(fmt.Sprintf("%s.%s", place, key), filter.Keep, names)
			r.keeps, r.refused = append(r.keeps, keeps), append(r.refused, Count{What: filter.Dropped})
		}
	}
	if s.Where != "" {
		add("where", where.RowFilter{Keep: s.Where, Dropped: notKept})
	}
	for k, filter := range s.Filters {
		add(fmt.Sprintf("filters.%d", k), filter)
	}
	return r, err
}

// refuses reports whether a row does not count, and counts it.
func (r *refusal) refuses(batch *table.Batch, i int) (bool, error) {
	for k, keeps := range r.keeps {
		if keep, err := keeps(batch, i); !keep || err != nil {
			r.refused[k].N++
			return true, err
		}
	}
	return false, nil
}

// rows is the number of rows that were refused.
func (r *refusal) rows() (n int) {
	for _, c := range r.refused {
		n += c.N
	}
	return n
}

// checkRows returns an error for a filter that lacks a key.
func checkRows(place conf.Place, s where.RowsSpec) error {
	for k, filter := range s.Filters {
		if err := required(place+conf.Place(fmt.Sprintf(".filters.%d", k)), "keep", filter.Keep, "dropped", filter.Dropped); err != nil {
			return err
		}
	}
	return nil
}

const notKept = "not kept by where"

// rowFilter compiles an expression over the rows of a table with these columns.
func rowFilter(place, expression string, names []string) (keeps func(batch *table.Batch, i int) (bool, error), err error) {
	filter, used, err := where.CompileRows("check graph settings: "+place, expression, names)
	if err != nil {
		return nil, err
	}
	columns := make([]keptColumn, len(used))
	for k, u := range used {
		columns[k] = keptColumn{slices.Index(names, u.Name), u.Name, KeptText}
		if u.Type == ingest.NumberAttribute {
			columns[k].kind = KeptNumber
		}
	}
	row := ingest.Sample{Attributes: make([]ingest.Value, len(used))}
	return func(batch *table.Batch, i int) (bool, error) {
		for k, column := range columns {
			c, err := column.read(batch, i)
			if err != nil {
				return false, fmt.Errorf("column %s, which where has as a %s: %w", fault.Quote(column.name), column.kind, err)
			}
			row.Attributes[k] = ingest.Value{Number: c.number, Text: c.text}
			if c.missing {
				row.Attributes[k] = ingest.Value{Number: math.NaN()}
			}
		}
		return filter.Keeps(&row), nil
	}, nil
}

// sourceRows are the rows of a table that count.
type sourceRows struct {
	*table.Reader
	refusal
	after func() // if set, it is called after each batch
}

// openRows opens a table, and finds columns of it by name.
func openRows(files *inputfile.Files, text table.TextSpec, rows where.RowsSpec, names ...string) (_ *sourceRows, columns []int, err error) {
	reader, err := openText(files, text)
	if err != nil {
		return nil, nil, err
	}
	r := &sourceRows{Reader: reader}
	for _, name := range names {
		column, failed := findColumn(reader, text.File, name)
		columns, err = append(columns, column), cmp.Or(err, failed)
	}
	if err == nil {
		r.refusal, err = newRefusal(rows, text.Place, reader.Columns())
	}
	if err != nil {
		reader.Close()
	}
	return r, columns, err
}

// each visits the rows in order, accounts for the others, and closes the table. Errors say what was
// read, and which row.
func (r *sourceRows) each(what string, report *SourceReport, visit func(batch *table.Batch, i int) error) error {
	defer r.Close()
	defer func() { report.drop(r.refused...) }()
	for batch, err := range r.Batches() {
		for i := 0; err == nil && i < batch.Len; i++ {
			report.Rows++
			var refused bool
			if refused, err = r.refuses(batch, i); err == nil && !refused {
				err = visit(batch, i)
			}
			if err != nil {
				err = fault.New(fault.Input, fault.HintOf(err), "read %s %s: %w", what, r.Where(batch.First+int64(i)), err)
			}
		}
		if err != nil {
			return err
		}
		if r.after != nil {
			r.after()
		}
	}
	return nil
}

// place is a row of a table; its text, for messages, takes longer to make than the row to read.
type place struct {
	reader *table.Reader
	row    int64
}

func (p place) String() string { return p.reader.Where(p.row) }
