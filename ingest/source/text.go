package source

import (
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
	Member  string   `yaml:"member"`  // the text table to read in a .zip, if it has several
	// a character, or tab, comma or space, which is runs of spaces; with it, a file of any ending
	// is read as text (default: by the file's name)
	Delimiter string `yaml:"delimiter"`
	SkipLines int    `yaml:"skip_lines"` // the number of lines before the header (default: 0)
	Comment   string `yaml:"comment"`    // what lines begin with that are no rows
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
	options, err := t.options()
	if err != nil {
		return nil, err
	}
	return openTable(files, t.File, options)
}

func (t TextSpec) options() (table.TextOptions, error) {
	delimiter, err := ParseDelimiter(t.Delimiter)
	if t.SkipLines < 0 {
		err = badSetting("", "skip_lines: found %d, expected 0 or more", t.SkipLines)
	}
	return table.TextOptions{
		Delimiter: delimiter, Columns: t.Columns, Member: t.Member, SkipLines: t.SkipLines, Comment: t.Comment,
	}, err
}

// ParseDelimiter returns the delimiter that a setting names: a single
// character, or tab, comma, or space, which means runs of spaces. ""
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
		return 0, fault.New(fault.Usage, "write a semicolon in quotes: 'delimiter=;'",
			"read settings: delimiter: found %q, expected one ASCII character, or tab, comma or space", name)
	}
	return name[0], nil
}

// findColumn returns the number of the column that settings name.
func findColumn(reader *table.Reader, file, name string) (int, error) {
	columns := reader.Columns()
	if number := slices.Index(columns, name); number >= 0 {
		return number, nil
	}
	number, err := strconv.Atoi(name)
	if err != nil || number < 0 || number >= len(columns) {
		return 0, fault.New(fault.Input, "name an existing column, or give a number from 0",
			"read %s: found no column %q, expected one of %s", file, name, strings.Join(columns, ", "))
	}
	return number, nil
}
