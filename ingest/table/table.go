// Package table streams the rows of a table, in any of these file formats:
//
//	.tsv .csv .txt .tab   text, one row per line; also compressed, .gz or .zst, and in a .zip;
//	                      files of other endings if their delimiter is given
//	.xlsx                 a sheet of an Excel file
//	.parquet              Apache Parquet
//	.arrow .feather       Apache Arrow IPC file, not stream
//
// Memory is bounded: text is held one buffer at a time, Excel its different texts, Parquet a few
// thousand rows, Arrow one of the file's record batches.
package table

import (
	"cmp"
	"io"
	"iter"
	"path/filepath"
	"slices"
	"strings"
	"unicode/utf8"

	"tcbuild/fault"
	"tcbuild/ingest/inputfile"
	"tcbuild/ingest/table/arrowfile"
	"tcbuild/ingest/table/parquetfile"
	"tcbuild/ingest/table/rows"
)

// Formats names the file name endings of tables, see IsTable, for messages. Open also takes a .zip.
const Formats = ".tsv, .csv, .txt or .tab (also .gz or .zst of these), .xlsx, .parquet, " +
	".arrow or .feather"

// TextOptions is the layout of a text file or sheet. The zero value is a file with a header line
// and the delimiter of its extension. Parquet and Arrow files describe their own layout.
type TextOptions struct {
	// Delimiter separates fields: 0 is a comma in .csv and a tab elsewhere, ' ' is any run of
	// spaces and tabs. Quotes follow RFC 4180; with a tab or ' ' they are read only if the first
	// field of the file is in quotes, or all fields of a column below the header; with a tab, also
	// around fields that Excel quotes.
	Delimiter byte
	// DelimiterSetting is how users write the delimiter ; for hints; "" if they cannot set it.
	DelimiterSetting string
	// Columns names the columns. Without it, the first line is the header. It is an error for
	// Parquet and Arrow files, whose own columns could differ; so are SkipLines and Comment.
	Columns []string
	// Member is the file to read in a .zip, if it has several.
	Member string
	// Sheet is the sheet to read of an .xlsx; "" is the first visible one.
	Sheet string
	// SkipLines is the number of lines before the header, or before the first row.
	SkipLines int
	// Comment begins the lines that are left out, wherever they are; "" if there are none.
	Comment string
	// Header says that the first line is a header even if Columns is set, which then replaces it.
	Header bool
}

// What a table's rows are read into.
type (
	Batch = rows.Batch
	Kind  = rows.Kind
)

const (
	Unknown = rows.Unknown
	Number  = rows.Number
	Text    = rows.Text
	List    = rows.List
	Other   = rows.Other

	PlainNumber     = rows.PlainNumber
	PlainNumberHint = rows.PlainNumberHint
)

// A Reader reads a table from its first row to its last. It is not safe for
// concurrent use, and must be closed.
type Reader struct {
	rows.Source // its column names are not empty, unique, valid UTF-8
	file        *inputfile.File
	batch       Batch
}

// OpenFile reads an open file as a table, from its start. The caller keeps ownership of the file,
// which must stay open as long as the Reader; a
// file with bad content is closed. Every pass over a file gives the same rows, unless
// the file's Unchanged returns an error in the end.
func OpenFile(file *inputfile.File, options TextOptions) (*Reader, error) {
	if file.Size() == 0 {
		return nil, fault.New(fault.Input, "make the file again",
			"open table %s: the file is empty, expected a table", file.Path())
	}
	s, err := openSource(file.Path(), file.Reader(), options)
	if err != nil {
		return nil, inputfile.Explain(err, file)
	}
	return &Reader{Source: s, file: file}, nil
}

// Path is the file's path, with the sheet or the file in it that is read: screen.xlsx/SGA.
func (r *Reader) Path() string {
	if text, ok := r.Source.(*textSource); ok {
		return text.path
	}
	return r.file.Path()
}

// hintOfEnding says how to make a table of a file that people have.
func hintOfEnding(format string) string {
	switch format {
	case ".h5ad", ".zarr":
		return "tcbuild.build in Python reads AnnData files"
	case ".xls", ".ods":
		return "save it as .xlsx"
	}
	return "save it in one of these formats, or give it the ending of its format; " +
		"text of another ending needs its delimiter named"
}

// openSource opens a table in the format of its file name's ending.
func openSource(path string, in *io.SectionReader, options TextOptions) (s rows.Source, err error) {
	format, compression := Format(path)
	layout := options.Columns != nil || options.Comment != "" || options.SkipLines > 0
	asText := isText(format) || format == ".zip" || isSheet(path)
	if layout && IsTable(path) && !asText {
		return nil, fault.New(fault.Input,
			"give a text file, such as SGD_features.tab, or omit the settings of its lines",
			"open table %s: found a %s file, which has column names, "+
				"expected text without a header",
			path, format)
	}
	switch {
	case asText, options.Delimiter != 0 && !IsTable(path):
		s, err = openTextFile(path, in, options)
	case format == ".parquet" && compression == "":
		s, err = parquetfile.Open(path, in)
	case isArrow(format) && compression == "":
		s, err = arrowfile.Open(path, in)
	case format == ".arrows":
		err = arrowfile.StreamError(path)
	default:
		err = fault.New(fault.Input, hintOfEnding(format),
			"open table %s: found ending %q, expected %s, or .zip", path, format+compression,
			Formats)
	}
	if err != nil {
		return nil, err
	}
	if err := checkNames(path, s.Columns()); err != nil {
		s.Close()
		return nil, err
	}
	return s, nil
}

// Indexes returns the columns in which pandas stored the unnamed index of a data frame. Their
// values mean nothing, unless users name the column.
func (r *Reader) Indexes() map[string]bool { return rows.Indexes(r.Columns(), r.Pandas()) }

// Next returns the next rows, or io.EOF after the last. The batch is valid until the next call.
// Damage and malformed rows are a fault.Input. If the file changed while it was read, Next returns
// a fault.Busy, after the last row at the latest.
func (r *Reader) Next() (*Batch, error) {
	r.batch.First += int64(r.batch.Len)
	r.batch.Len = 0
	if err := r.Fill(&r.batch); err != nil {
		r.batch.Len = 0
		if err == io.EOF {
			return nil, cmp.Or(r.file.Unchanged(), err)
		}
		return nil, inputfile.Explain(err, r.file)
	}
	return &r.batch, nil
}

// Batches yields the batches that Next returns, up to the last or an error.
func (r *Reader) Batches() iter.Seq2[*Batch, error] {
	return func(yield func(*Batch, error) bool) {
		for {
			b, err := r.Next()
			if err == io.EOF || !yield(b, err) || err != nil {
				return
			}
		}
	}
}

// Each calls visit for the rows in order, up to the last or an error.
func (r *Reader) Each(visit func(batch *Batch, i int) error) error {
	for batch, err := range r.Batches() {
		if err != nil {
			return err
		}
		for i := range batch.Len {
			if err := visit(batch, i); err != nil {
				return err
			}
		}
	}
	return nil
}

// Format splits a file name's ending into the table format (".tsv") and the compression (".gz",
// ".zst" or ""), both in lower case.
func Format(path string) (format, compression string) {
	name := strings.ToLower(path)
	extension := filepath.Ext(name)
	if extension == ".gz" || extension == ".zst" {
		return filepath.Ext(strings.TrimSuffix(name, extension)), extension
	}
	return extension, ""
}

// IsTable reports whether a file name has a table's ending. Excel's lock files, such as
// ~$gene.xlsx, are no tables.
func IsTable(name string) bool {
	format, compression := Format(name)
	if strings.HasPrefix(name, "~$") {
		return false
	}
	binary := format == ".xlsx" || format == ".parquet" || isArrow(format)
	return isText(format) || binary && compression == ""
}

func isArrow(format string) bool { return format == ".arrow" || format == ".feather" }

func isSheet(path string) bool { return strings.HasSuffix(strings.ToLower(path), ".xlsx") }

// defaultDelimiter is the delimiter of text files with an ending.
func defaultDelimiter(format string) byte {
	if format == ".csv" {
		return ','
	}
	return '\t'
}

func isText(format string) bool {
	return slices.Contains([]string{".tsv", ".csv", ".txt", ".tab"}, format)
}

// CheckUTF8 returns an error for a text that no graph or dataset could carry.
func CheckUTF8(text []byte) error {
	if utf8.Valid(text) {
		return nil
	}
	return fault.New(fault.Input, "save the file as UTF-8 text",
		"found %s, which is not valid UTF-8", fault.Quote(text))
}

// Head returns the fields of a text file's first n rows, including any header line, or of all rows
// if there are fewer. Rows may differ in length. It ignores options.Columns and options.Header.
func Head(file *inputfile.File, n int, options TextOptions) ([][]string, error) {
	options.Columns, options.Header = []string{}, false
	s, err := openTextFile(file.Path(), file.Reader(), options)
	if err != nil {
		return nil, err
	}
	defer s.Close()
	var rows [][]string
	for len(rows) < n {
		fields, err := s.mustRecord(nil)
		if err == io.EOF {
			break
		}
		if err != nil {
			return nil, err
		}
		row := make([]string, len(fields))
		for i, f := range fields {
			row[i] = string(s.buffer[f.Start:f.End])
		}
		rows = append(rows, row)
	}
	return rows, nil
}
