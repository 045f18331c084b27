package table

import (
	"tcbuild/conf"
	"tcbuild/fault"
)

// TextSpec names a table and says how its text is laid out.
type TextSpec struct {
	// table to read: text (may be compressed), Arrow or Parquet (required)
	File    string   `yaml:"file"`
	Columns []string `yaml:"columns"` // column names, for a text file without a header line
	Member  string   `yaml:"member"`  // name of the table inside a .zip that has several
	// column separator: a character, tab, comma, or space for runs of spaces; if set, the file is
	// read as text whatever its extension (default: by the file's name)
	Delimiter string `yaml:"delimiter"`
	SkipLines int    `yaml:"skip_lines"` // number of lines to skip before the header (default: 0)
	Comment   string `yaml:"comment"`    // skip lines that start with this text

	Place conf.Place `yaml:"-" json:"-"` // where the settings of the table are, for errors; may be empty
}

// Options returns the layout of the text.
func (t TextSpec) Options() (options TextOptions, err error) {
	delimiter, named := map[string]byte{"": 0, "tab": '\t', "comma": ',', "space": ' '}[t.Delimiter]
	switch {
	case !named && len(t.Delimiter) != 1:
		return options, fault.New(fault.Usage, "write a semicolon in quotes: 'delimiter=;'",
			"read settings: delimiter: found %q, expected one ASCII character, or tab, comma or space", t.Delimiter)
	case t.SkipLines < 0:
		return options, fault.New(fault.Usage, "",
			"read settings: skip_lines: found %d, expected 0 or more", t.SkipLines)
	case !named:
		delimiter = t.Delimiter[0]
	}
	return TextOptions{
		Delimiter:        delimiter,
		DelimiterSetting: `delimiter: ";" to its entry in the settings`,
		Columns:          t.Columns, Member: t.Member, SkipLines: t.SkipLines, Comment: t.Comment,
	}, nil
}
