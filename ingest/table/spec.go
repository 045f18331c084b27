package table

import (
	"slices"

	"tcbuild/conf"
	"tcbuild/fault"
	"tcbuild/ingest/inputfile"
)

// TextSpec names a table and says how its text is laid out:
//
//	{file: string.txt.gz, delimiter: space, comment: "#"}
type TextSpec struct {
	// table to read: text (may be compressed), Excel, Arrow or Parquet (required)
	File    string   `yaml:"file" forms:"*"`
	Columns []string `yaml:"columns"` // column names, for a text file without a header line
	Member  string   `yaml:"member"`  // name of the table inside a .zip that has several
	Sheet   string   `yaml:"sheet"`   // sheet of an .xlsx file (default: the first visible one)
	// column separator: a character, tab, comma, or space for runs of spaces; if set, the file is
	// read as text whatever its extension (default: by the file's name)
	Delimiter string `yaml:"delimiter"`
	SkipLines int    `yaml:"skip_lines"` // number of lines to skip before the header (default: 0)
	Comment   string `yaml:"comment"`    // skip lines that start with this text

	Place conf.Place `yaml:"-" json:"-"` // of the settings, for errors; may be empty
}

// Options returns the layout of the text.
func (t TextSpec) Options() (TextOptions, error) {
	delimiter, isNamed := map[string]byte{"": 0, "tab": '\t', "comma": ',',
		"space": ' '}[t.Delimiter]
	switch {
	case isNamed:
	case len(t.Delimiter) == 1:
		delimiter = t.Delimiter[0]
	default:
		return TextOptions{}, fault.New(fault.Usage, "write a semicolon in quotes: 'delimiter=;'",
			"read settings: delimiter: found %q, expected one ASCII character, or tab, "+
				"comma or space",
			t.Delimiter)
	}
	if t.SkipLines < 0 {
		return TextOptions{}, fault.New(fault.Usage, "",
			"read settings: skip_lines: found %d, expected 0 or more", t.SkipLines)
	}
	return TextOptions{
		Delimiter:        delimiter,
		DelimiterSetting: `delimiter: ";" to its entry in the settings`,
		Columns:          t.Columns,
		Member:           t.Member,
		Sheet:            t.Sheet,
		SkipLines:        t.SkipLines,
		Comment:          t.Comment,
	}, nil
}

// Open opens the table. The file stays open in files, so that later passes read the same content.
func (t TextSpec) Open(files *inputfile.Files) (*Reader, error) {
	options, err := t.Options()
	if err != nil {
		return nil, err
	}
	file, err := files.Open(t.File)
	if err != nil {
		return nil, err
	}
	return OpenFile(file, options)
}

// Column returns the number of the column that settings name.
func (r *Reader) Column(name string) (int, error) {
	columns := r.Columns()
	if number := slices.Index(columns, name); number >= 0 {
		return number, nil
	}
	const choose = "choose one of them; for a file without a header line, set columns"
	return 0, fault.New(fault.Input, fault.DidYouMean(name, columns, choose),
		"read %s: found no column %q, expected one of %s", r.Path(), name, fault.List(columns))
}
