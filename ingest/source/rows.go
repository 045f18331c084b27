package source

import (
	"fmt"

	"tcbuild/conf"
	"tcbuild/fault"
	"tcbuild/ingest"
	"tcbuild/ingest/inputfile"
	"tcbuild/ingest/table"
	"tcbuild/ingest/where"
)

// checkRows returns an error for a filter that lacks a key.
func checkRows(place conf.Place, s where.RowsSpec) error {
	for k, filter := range s.Filters {
		filters := place + conf.Place(fmt.Sprintf(".filters.%d", k))
		if err := required(filters, "keep", filter.Keep, "dropped", filter.Dropped); err != nil {
			return err
		}
	}
	return nil
}

// sourceRows are the rows of a table that count.
type sourceRows struct {
	*where.Table
	refused ingest.Account // rows that filters drop
	after   func()         // if set, it is called after each batch
}

// openRows opens a table, and finds columns of it by name.
func openRows(files *inputfile.Files, text table.TextSpec, rows where.RowsSpec, names ...string) (*sourceRows, []int, error) {
	table, columns, err := where.OpenTable(files, text, rows, names...)
	if err != nil {
		return nil, nil, err
	}
	r := &sourceRows{Table: table}
	return r, columns, nil
}

// refuses reports whether a row does not count, and counts it.
func (r *sourceRows) refuses(batch *table.Batch, i int) (bool, error) {
	label, drops, err := r.Drops(batch, i)
	if !drops {
		return false, err
	}
	r.refused.Rows++
	r.refused.Drop(ingest.FilteredOut, label, batch.First+int64(i), nil)
	return true, nil
}

// each visits the rows in order, accounts for the others, and closes the table. Errors say what was
// read, and which row.
func (r *sourceRows) each(what string, report *ingest.Account, visit func(batch *table.Batch, i int) error) error {
	defer r.Close()
	defer func() { report.Merge(&r.refused) }()
	for batch, err := range r.Batches() {
		for i := 0; err == nil && i < batch.Len; i++ {
			var refused bool
			if refused, err = r.refuses(batch, i); err == nil && !refused {
				report.Rows++
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
