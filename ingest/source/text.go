package source

import (
	"errors"
	"math"
	"slices"
	"strconv"
	"strings"

	"tcbuild/fault"
	"tcbuild/ingest/inputfile"
	"tcbuild/ingest/table"
)

// TextSpec names a table and says how its text is laid out. Settings refer to
// its columns by name or by 0-based number.
type TextSpec struct {
	// a text table, compressed or not, Arrow or Parquet (required)
	File    string   `yaml:"file"`
	Columns []string `yaml:"columns"` // names the columns of a text file without a header line
	// a character, or tab, comma or space, which is runs of blanks (default: by the file's name)
	Delimiter string `yaml:"delimiter"`
}

// openTable opens a file as a table. The file stays open in files, so that later passes read the
// same content.
func openTable(files *inputfile.Files, path string, options table.TextOptions) (*table.Reader, error) {
	file, err := files.Open(path)
	if err != nil {
		return nil, err
	}
	return table.OpenFile(file, options)
}

// open opens the table.
func (t TextSpec) open(files *inputfile.Files) (*table.Reader, error) {
	delimiter, err := ParseDelimiter(t.Delimiter)
	if err != nil {
		return nil, err
	}
	return openTable(files, t.File, table.TextOptions{Delimiter: delimiter, Columns: t.Columns})
}

// ParseDelimiter returns the delimiter that a setting names: a single
// character, or tab, comma, or space, which means runs of blanks. ""
// gives 0: by the file's extension. Errors are of kind fault.Usage.
func ParseDelimiter(name string) (byte, error) {
	switch name {
	case "":
		return 0, nil
	case "tab":
		return '\t', nil
	case "comma":
		return ',', nil
	case "space":
		return ' ', nil
	}
	if len(name) != 1 {
		return 0, fault.New(fault.Usage, "",
			"read settings: delimiter: found %q, expected one ASCII character, or tab, comma or space", name)
	}
	return name[0], nil
}

// findColumns returns the numbers of the columns that settings name.
func findColumns(reader *table.Reader, file string, names []string) ([]int, error) {
	columns := reader.Columns()
	numbers := make([]int, len(names))
	for k, name := range names {
		number := slices.Index(columns, name)
		if number < 0 {
			var err error
			number, err = strconv.Atoi(name)
			if err != nil || number < 0 || number >= len(columns) {
				return nil, fault.New(fault.Input, "name an existing column, or give a number from 0",
					"read %s: found no column %q, expected one of %s", file, name, strings.Join(columns, ", "))
			}
		}
		numbers[k] = number
	}
	return numbers, nil
}

// finite reads a finite number, or NaN if it is missing.
func finite(batch *table.Batch, column, i int) (float64, error) {
	value, _, err := batch.Number(column, i)
	if err == nil && math.IsInf(value, 0) {
		err = errors.New("found an infinite value, expected a finite number or a missing one")
	}
	return value, err
}
