package table

import (
	"strconv"

	"github.com/dustin/go-humanize/english"

	"tcbuild/fault"
	"tcbuild/ingest/inputfile"
)

// Matrix is the header of a wide table: a name and numbers in each row. The header may lack
// the first column's name, as in tables that R writes:
//
//	      YPD   YPGal
//	YAL1  0.98  0.73
type Matrix struct {
	Options TextOptions // with the columns' numbers as unique names
	First   string      // the first column's name, or "" if the header has none
	Names   []string    // the other columns' names; "" if the header has none
}

// OpenMatrix reads the header of a wide table.
func OpenMatrix(file *inputfile.File, options TextOptions) (*Matrix, error) {
	path := file.Path()
	rows, err := Head(file, 2, options)
	if err != nil {
		return nil, err
	}
	if len(rows) < 2 {
		return nil, fault.New(fault.Input, "check that it is the right file",
			"read matrix %s: found %s, expected a header and a row per gene",
			path, english.Plural(len(rows), "row", ""))
	}
	header, width := rows[0], len(rows[1])
	if isSheet(path) {
		width = len(header) // a row ends with its last value
	}
	m := &Matrix{Options: options}
	if m.Options.Header = options.Columns == nil; !m.Options.Header {
		header = options.Columns
	}
	switch len(header) {
	case width:
		m.First, m.Names = header[0], header[1:]
	case width - 1:
		m.Names = header
	default:
		return nil, fault.New(fault.Input, "check the delimiters",
			"read matrix %s: found %d fields in the header and %d in the first row, "+
				"expected the same number, or one fewer in the header", path, len(header), width)
	}
	if len(m.Names) == 0 {
		return nil, fault.New(fault.Input, "check the delimiter",
			"read matrix %s: found a single column, expected one of names and at least "+
				"one of numbers", path)
	}
	m.Options.Columns = make([]string, width)
	for k := range width {
		m.Options.Columns[k] = strconv.Itoa(k)
	}
	return m, nil
}
