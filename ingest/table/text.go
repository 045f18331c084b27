package table

import (
	"bytes"
	"encoding/csv"
	"errors"
	"fmt"
	"io"
	"strings"
	"unicode/utf8"

	"github.com/apache/arrow/go/v17/arrow"
	"github.com/dustin/go-humanize/english"

	"tcbuild/fault"
	"tcbuild/ingest/table/rows"
)

const (
	textBuffer = 256 << 10 // initial buffer size, small enough for a core's cache
	maxRecord  = 64 << 20  // longest row; a longer one is not a table's
)

// textSource splits a text file into rows and fields. A row is a line: a batch is the lines that
// are complete in the buffer. Lines without a quote are split in place; encoding/csv reads the
// others.
type textSource struct {
	path      string
	in        io.ReadCloser
	delimiter byte
	header    []string
	width     int // fields in a row, of which the last ones may have no name and no values

	buffer     []byte
	begin, end int   // buffer[begin:end] is read but not yet split
	torn       error // the error that ended reading; io.EOF at a clean end

	quoted *csv.Reader
	text   bytes.Reader // the line that quoted reads

	failed error // error for the next Fill
	line   int64 // 1-based line of buffer[begin]
}

// openText opens a text table. The header is its first line.
func openText(path string, in io.ReadCloser, delimiter byte) (*textSource, error) {
	s := &textSource{path: path, in: in, delimiter: delimiter, buffer: make([]byte, textBuffer),
		line: 1}
	s.quoted = csv.NewReader(&s.text)
	s.quoted.Comma, s.quoted.FieldsPerRecord, s.quoted.ReuseRecord = rune(delimiter), -1, true
	if err := s.refill(); err != nil {
		return nil, err
	}
	text := s.buffer[:s.end]
	if bytes.HasPrefix(text, []byte("\xff\xfe")) || bytes.HasPrefix(text, []byte("\xfe\xff")) {
		return nil, fault.New(fault.Input, "save the file as UTF-8 text",
			"read %s: found UTF-16, expected UTF-8", path)
	}
	s.begin = len(text) - len(bytes.TrimPrefix(text, []byte("\xef\xbb\xbf")))
	if err := s.readHeader(); err != nil {
		return nil, err
	}
	return s, s.checkHeader()
}

// readHeader splits the first line into the column names.
func (s *textSource) readHeader() error {
	fields, err := s.mustRecord(nil)
	if err == io.EOF {
		return fault.New(fault.Input, "make the file again",
			"read %s: the file is empty, expected a header line", s.path)
	}
	if err != nil {
		return err
	}
	for _, f := range fields {
		s.header = append(s.header, string(s.buffer[f.Start:f.End]))
	}
	for s.width = len(fields); len(s.header) > 1 && s.header[len(s.header)-1] == ""; {
		s.header = s.header[:len(s.header)-1]
	}
	return nil
}

func (s *textSource) Columns() []string { return s.header }

func (s *textSource) Kind(int) rows.Kind { return rows.Unknown }

func (s *textSource) Metadata(int, string) string { return "" }

func (s *textSource) Pandas() string { return "" }

func (s *textSource) Type(int) arrow.DataType { return arrow.BinaryTypes.String }

func (s *textSource) KeepType(int) {}

func (s *textSource) Where(row int64) string { return fmt.Sprintf("%s:%d", s.path, row+2) }

func (s *textSource) Close() error { return s.in.Close() }

func (s *textSource) Fill(b *rows.Batch) error {
	if s.failed != nil {
		return s.failed
	}
	b.Width, b.Len = s.width, 0
	fields, err := s.mustRecord(b.Fields[:0])
	for more := true; more && err == nil; {
		at := b.Len * s.width
		if found := len(fields) - at; found != s.width || s.width > len(s.header) {
			if err = s.checkWidth(fields[at:]); err != nil {
				break
			}
			fields = append(fields, make([]rows.Span, s.width-found)...)
		}
		b.Len++
		fields, more, err = s.record(fields)
	}
	if b.Len == 0 {
		return err
	}
	s.failed = err // returned after the rows before it
	b.Data, b.Fields = s.buffer, fields[:b.Len*s.width]
	return nil
}

// checkWidth returns an error for a row with fewer or more fields than the header. Columns at the
// end that have no name, as Excel writes them, have no values.
func (s *textSource) checkWidth(row []rows.Span) error {
	place := fmt.Sprintf("%s:%d", s.path, s.line-1)
	if len(row) < len(s.header) || len(row) > s.width {
		hint := "check the delimiters of this row and the header"
		if s.line == 3 && len(row) == s.width+1 {
			hint += indexHint
		}
		return fault.New(fault.Input, hint, "read %s: found %s, expected %d", place,
			english.Plural(len(row), "field", ""), s.width)
	}
	for k, f := range row[len(s.header):] {
		if value := s.buffer[f.Start:f.End]; len(bytes.TrimSpace(value)) > 0 {
			return fault.New(fault.Input, "name the column, or remove it",
				"read %s: found %s in column %d, which has no name", place, fault.Quote(value),
				len(s.header)+k+1)
		}
	}
	return nil
}

// mustRecord appends the fields of the next row, and refills the buffer if it has no complete row.
// It returns io.EOF after the last row.
func (s *textSource) mustRecord(fields []rows.Span) ([]rows.Span, error) {
	for {
		fields, ok, err := s.record(fields)
		if ok || err != nil {
			return fields, err
		}
		switch {
		case s.torn == nil:
			err = s.refill()
		case s.torn == io.EOF:
			err = io.EOF
		default:
			err = rows.Damaged(s.path, fmt.Sprintf("after line %d", s.line-1), s.torn)
		}
		if err != nil {
			return fields, err
		}
	}
}

// refill moves the rest to the front of the buffer, doubles a full buffer, and reads until the
// buffer is full.
func (s *textSource) refill() error {
	rest := s.buffer[s.begin:s.end]
	if len(rest) >= maxRecord {
		return fault.New(fault.Input, "check that the file is text",
			"read %s:%d: found a row of more than %d MiB", s.path, s.line, maxRecord>>20)
	}
	if len(rest) == len(s.buffer) {
		s.buffer = make([]byte, 2*len(rest))
	}
	copy(s.buffer, rest)
	s.begin, s.end = 0, len(rest)
	for s.end < len(s.buffer) && s.torn == nil {
		var n int
		n, s.torn = s.in.Read(s.buffer[s.end:])
		s.end += n
	}
	return nil
}

// record appends the fields of the next row. ok is false if the buffer has no complete row. An
// empty line, which encoding/csv would skip, is an error: in a table with one column it could be a
// row, and in any other it may be a lost row.
func (s *textSource) record(fields []rows.Span) (_ []rows.Span, ok bool, _ error) {
	line, next := s.buffer[s.begin:s.end], s.end
	if length := bytes.IndexByte(line, '\n'); length >= 0 {
		line, next = line[:length], s.begin+length+1
	} else if s.torn != io.EOF || len(line) == 0 {
		return fields, false, nil
	}
	record := bytes.TrimSuffix(line, []byte{'\r'})
	switch {
	case len(record) == 0:
		return fields, false, fault.New(fault.Input,
			"remove the line; if it is a row whose only field is empty, add a column, "+
				"such as sample_id",
			"read %s:%d: found an empty line, expected a row", s.path, s.line)
	case bytes.IndexByte(record, '"') < 0:
		fields = split(fields, record, s.begin, s.delimiter)
	default:
		values, err := s.readQuoted(s.buffer[s.begin:next])
		if err != nil {
			return fields, false, err
		}
		fields = s.replace(fields, values)
	}
	s.begin = next
	s.line++
	return fields, true, nil
}

// readQuoted reads the fields of a line by RFC 4180. A field that goes on in the next line is an
// error: a lost quote would join all rows up to the next one.
func (s *textSource) readQuoted(line []byte) ([]string, error) {
	s.text.Reset(line)
	values, err := s.quoted.Read()
	if err == nil {
		return values, nil
	}
	found := "a quote that is not closed in this line, or text after a closing quote"
	if errors.Is(err, csv.ErrBareQuote) {
		found = "a quote inside an unquoted field"
	}
	hint := `put quotes around a field that holds one, and double the quote inside it ` +
		`(in R: qmethod = "double"); put no line breaks into fields`
	if s.line == 1 && s.delimiter == ',' && bytes.Contains(line, []byte(`";`)) {
		hint = delimiterHint(';')
	}
	return nil, fault.New(fault.Input, hint, "read %s:%d: found %s", s.path, s.line, found)
}

// replace puts the fields of a line, which are shorter than the line, in its place.
func (s *textSource) replace(fields []rows.Span, values []string) []rows.Span {
	at := s.begin
	for _, value := range values {
		end := at + copy(s.buffer[at:], value)
		fields = append(fields, span(at, end))
		at = end
	}
	return fields
}

// checkHeader returns an error for a header that is one column, because the columns are separated
// by another delimiter than the file's ending says, or that is the whole file, because its lines
// end as on old Macs.
func (s *textSource) checkHeader() error {
	for _, name := range s.header {
		if strings.Contains(name, "\r") {
			return fault.New(fault.Input,
				"save it with Windows or Unix line endings, "+
					"not in Excel's text formats for Macintosh",
				"read header of %s: found a carriage return in %s, "+
					"expected lines that end with a line feed", s.path, fault.Quote(name))
		}
	}
	for _, found := range "\t;," {
		if len(s.header) == 1 && strings.ContainsRune(s.header[0], found) {
			return fault.New(fault.Input, delimiterHint(found),
				"read header of %s: found one column, %s, "+
					"expected columns separated by %q, not by %q",
				s.path, fault.Quote(s.header[0]), s.delimiter, found)
		}
	}
	return nil
}

// delimiterHint says how to read a table with another delimiter than its ending's.
func delimiterHint(found rune) string {
	switch found {
	case '\t':
		return "rename it to .tsv, which has tabs"
	case ',':
		return "rename it to .csv, which has commas"
	}
	return fmt.Sprintf("in Python, pandas.read_csv(FILE, sep=%q) reads it, "+
		"and tcbuild.build takes the table", found)
}

// indexHint continues the hint for a first column that has no name, which is an index that another
// program wrote.
const indexHint = `; an index is left out by pandas with index=False and by R with ` +
	`row.names = FALSE, or named: pandas has index_label="sample_id"`

// checkNames returns an error for column names that do not identify a column.
func checkNames(path string, names []string) error {
	first := make(map[string]int, len(names))
	for i, name := range names {
		switch j, seen := first[name]; {
		case !utf8.ValidString(name):
			return fault.New(fault.Input, "save the file as UTF-8 text",
				"read header of %s: name %s of column %d is not valid UTF-8", path,
				fault.Quote(name), i+1)
		case name == "":
			hint := "name the column"
			if i == 0 {
				hint += indexHint
			}
			return fault.New(fault.Input, hint,
				"read header of %s: found no name for column %d of %d", path, i+1, len(names))
		case seen:
			return fault.New(fault.Input, "rename the column",
				"read header of %s: columns %d and %d are both named %s, expected unique names",
				path, j+1, i+1, fault.Quote(name))
		}
		first[name] = i
	}
	return nil
}
