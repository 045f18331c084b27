package table

import (
	"bytes"
	"fmt"
	"io"
	"sort"
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

// textSource splits a text file into rows and fields without copying either: a batch is the rows
// that are complete in the buffer.
type textSource struct {
	path      string
	in        io.ReadCloser
	delimiter byte
	// RFC 4180 quotes have a meaning; between tabs or spaces, if the first field has them, or all
	// fields of a column
	quoted   bool
	comment  []byte // begins the lines that are left out; empty if there are none
	header   []string
	headless bool // the file has no header line
	width    int  // fields in a row, of which the last ones may have no name and no values
	sheet    bool // lines are rows of an .xlsx file

	buffer     []byte
	begin, end int   // buffer[begin:end] is read but not yet split
	torn       error // the error that ended reading; io.EOF at a clean end

	failed   error // error for the next Fill
	line     int64 // 1-based line of buffer[begin]
	firstRow int64 // line of row 0
	row      int64 // row of buffer[begin]
	// ascending: a row, repeated for each line break inside its quotes and each comment after it
	breaks []int64
}

// openTextFile opens a text table, or the one in a .zip, in the format of its name's ending; or a
// sheet of an .xlsx as text.
func openTextFile(path string, file *io.SectionReader, options TextOptions) (*textSource, error) {
	format, compression := Format(path)
	if isSheet(path) {
		if options.Delimiter != 0 {
			return nil, fault.New(fault.Input, "omit delimiter",
				"open table %s: found a delimiter, expected none for a sheet", path)
		}
		name, in, err := openSheet(path, file, options.Sheet, options.SkipLines)
		if err != nil {
			return nil, err
		}
		options.Delimiter = '\t'
		return openText(path+"/"+name, in, options, true)
	}
	if options.Sheet != "" {
		return nil, fault.New(fault.Input, "omit sheet",
			"open table %s: found sheet %s, expected an .xlsx file", path,
			fault.Quote(options.Sheet))
	}
	var text io.Reader = file
	if format == ".zip" {
		name, content, err := openMember(path, file, options.Member)
		if err != nil {
			return nil, err
		}
		path, text = path+"/"+name, content
		format, compression = Format(name)
	}
	if !isText(format) && options.Delimiter == 0 {
		return nil, fault.New(fault.Input,
			"save the table as text, such as .tsv or .csv, or name its delimiter",
			"open table %s: found ending %q, expected a text table", path, format+compression)
	}
	in, err := Decompress(path, text)
	if err != nil {
		return nil, err
	}
	byEnding := options.Delimiter == 0
	if byEnding {
		options.Delimiter = defaultDelimiter(format)
	}
	s, err := openText(path, toUTF8(in), options, false)
	switch {
	case err != nil:
	case byEnding:
		err = checkHeader(path, s.Columns(), options)
	case !isText(format) && bytes.IndexByte(s.buffer[:s.end], 0) >= 0:
		err = fault.New(fault.Input, "save the table as text, such as .tsv or .csv",
			"open table %s: found a zero byte, expected text", path)
	}
	return s, err
}

func openText(path string, in io.ReadCloser, options TextOptions, isSheet bool) (
	*textSource, error) {
	s := &textSource{
		path: path, in: in, sheet: isSheet, delimiter: options.Delimiter,
		comment: []byte(options.Comment), header: options.Columns,
		buffer: make([]byte, textBuffer), line: 1,
	}
	if err := s.refill(); err != nil {
		return nil, err
	}
	s.begin = len(byteOrderMark(s.buffer[:s.end]))
	if isSheet {
		s.line += int64(options.SkipLines)
		options.SkipLines = 0
	}
	for range options.SkipLines {
		if err := s.skipLine(); err != nil {
			return nil, err
		}
	}
	text := s.buffer[s.begin:s.end]
	mayQuote := isSheet || s.delimiter != '\t' && s.delimiter != ' '
	s.quoted = mayQuote || startsQuoted(text, s.delimiter) || s.quotedColumn(text)
	s.width = len(s.header)
	if s.headless = s.header != nil && !options.Header; !s.headless {
		if err := s.readHeader(); err != nil {
			return nil, err
		}
	}
	s.firstRow = s.line
	return s, nil
}

func byteOrderMark(text []byte) []byte {
	if mark := []byte("\xef\xbb\xbf"); bytes.HasPrefix(text, mark) {
		return mark
	}
	return nil
}

// skipLine moves past the next line.
func (s *textSource) skipLine() error {
	for {
		if length := bytes.IndexByte(s.buffer[s.begin:s.end], '\n'); length >= 0 {
			s.begin += length + 1
			s.line++
			return nil
		}
		if s.torn == io.EOF {
			return fault.New(fault.Input, "check skip_lines",
				"read %s: found %s, expected a table after the lines to skip",
				s.path, english.Plural(int(s.line), "line", ""))
		}
		if s.torn != nil {
			return rows.Damaged(s.path, "at its start", s.torn)
		}
		s.begin = s.end
		if err := s.refill(); err != nil {
			return err
		}
	}
}

// readHeader splits the first line into the column names, unless they are given.
func (s *textSource) readHeader() error {
	fields, err := s.mustRecord(nil)
	if err == io.EOF {
		return fault.New(fault.Input, "make the file again",
			"read %s: the file is empty, expected a header line", s.path)
	}
	if err != nil {
		return err
	}
	s.breaks = nil // lines before and inside the header are before row 0
	if s.header != nil {
		return nil
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

func (s *textSource) Where(row int64) string {
	inside := sort.Search(len(s.breaks), func(i int) bool { return s.breaks[i] >= row })
	return fmt.Sprintf("%s:%d", s.path, s.firstRow+row+int64(inside))
}

func (s *textSource) Close() error { return s.in.Close() }

func (s *textSource) Fill(b *rows.Batch) error {
	if s.failed != nil {
		return s.failed
	}
	b.Width = s.width
	first := s.row
	fields, err := s.mustRecord(b.Fields[:0])
	for more := true; more && err == nil; {
		at := int(s.row-first) * s.width
		if found := len(fields) - at; found != s.width || s.width > len(s.header) {
			if fields, err = s.complete(fields, at); err != nil {
				break
			}
		}
		s.row++
		fields, more, err = s.record(fields)
	}
	if s.row == first {
		return err
	}
	s.failed = err // returned after the rows before it
	b.Data, b.Fields, b.Len = s.buffer, fields, int(s.row-first)
	return nil
}

// complete checks a row with fewer or more fields than columns; its fields begin at fields[at].
// A sheet's row ends with its last value. Columns at the end that have no name, as Excel writes
// them, have no values.
func (s *textSource) complete(fields []rows.Span, at int) ([]rows.Span, error) {
	found, named := len(fields)-at, len(s.header)
	for k := at + named; k < len(fields); k++ {
		f := fields[k]
		if value := s.buffer[f.Start:f.End]; found <= s.width && len(bytes.TrimSpace(value)) > 0 {
			return fields, fault.New(fault.Input, "name the column, or remove it",
				"read %s: found %s in column %d, which has no name",
				s.Where(s.row), fault.Quote(value), k-at+1)
		}
	}
	if found > s.width || found < named && !s.sheet {
		hint := "check the delimiters of this row and the header"
		if s.headless {
			hint = "check that it is the file whose columns the settings name, and its delimiter"
		}
		if s.row == 0 && found == named+1 {
			hint += indexHint
		}
		return fields, fault.New(fault.Input, hint, "read %s: found %s, expected %d",
			s.Where(s.row), english.Plural(found, "field", ""), s.width)
	}
	for range s.width - found {
		fields = append(fields, rows.Span{})
	}
	return fields, nil
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
		return fault.New(fault.Input, "check that the file is text and that every quote is closed",
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
// empty line is always an error: in a table with one column it could be a row, and in any other it
// may be a lost row.
func (s *textSource) record(fields []rows.Span) (_ []rows.Span, ok bool, _ error) {
	rest := s.buffer[s.begin:s.end]
	length, breaks := bytes.IndexByte(rest, '\n'), 0
	for len(s.comment) > 0 && bytes.HasPrefix(rest, s.comment) &&
		(length >= 0 || s.torn == io.EOF) {
		if length < 0 {
			length = len(rest) - 1
		}
		s.begin += length + 1
		s.line++
		s.breaks = append(s.breaks, s.row-1)
		rest = rest[length+1:]
		length = bytes.IndexByte(rest, '\n')
	}
	quotes := s.quoted && length >= 0 && bytes.IndexByte(rest[:length], '"') >= 0
	if quotes {
		length, breaks = quotedLength(rest, s.delimiter)
	}
	if s.sheet {
		breaks = 0 // a line break in a cell
	}
	next := length + 1
	if length < 0 {
		if s.torn != io.EOF || len(rest) == 0 {
			return fields, false, nil
		}
		length, next = len(rest), len(rest)
		quotes = s.quoted
		if !s.sheet {
			breaks = bytes.Count(rest, []byte{'\n'})
		}
	}
	record := rest[:length]
	if length > 0 && record[length-1] == '\r' {
		record = record[:length-1]
	}
	if s.delimiter == ' ' {
		record = bytes.TrimRight(record, " \t")
	}
	switch {
	case len(record) == 0:
		return fields, false, fault.New(fault.Input,
			"remove the line; if it is a row whose only field is empty, add a column, "+
				"such as sample_id",
			"read %s:%d: found an empty line, expected a row", s.path, s.line)
	case quotes:
		all, err := splitQuoted(fields, s.buffer, s.begin, s.begin+len(record), s.delimiter)
		if err != nil {
			return fields, false, fault.New(fault.Input,
				`quote a field that holds a quote, and double the quote inside it `+
					`(in R: qmethod = "double")`,
				"read %s:%d: %w", s.path, s.line, err)
		}
		fields = all
	default:
		before := len(fields)
		fields = s.split(fields, record, s.begin)
		if s.delimiter == '\t' && bytes.IndexByte(record, '"') >= 0 {
			unquoteExcel(fields[before:], s.buffer)
		}
	}
	s.begin += next
	s.line += 1 + int64(breaks)
	for range breaks {
		s.breaks = append(s.breaks, s.row)
	}
	return fields, true, nil
}

// split appends the fields of a row that starts at offset in the buffer; quotes have no meaning.
func (s *textSource) split(fields []rows.Span, record []byte, offset int) []rows.Span {
	if s.delimiter == ' ' {
		return splitBlanks(fields, record, offset)
	}
	return split(fields, record, offset, s.delimiter)
}

// checkHeader returns an error for a header that is one column, because the columns are separated
// by another delimiter than the file's ending says, or that is the whole file, because its lines
// end as on old Macs.
func checkHeader(path string, names []string, options TextOptions) error {
	for _, name := range names {
		if _, rest, found := strings.Cut(name, "\r"); found && !strings.HasPrefix(rest, "\n") {
			return fault.New(fault.Input,
				"save it with Windows or Unix line endings, "+
					"not in Excel's text formats for Macintosh",
				"read header of %s: found a carriage return in %s, "+
					"expected lines that end with a line feed", path, fault.Quote(name))
		}
	}
	for _, found := range "\t;," {
		if len(names) == 1 && strings.ContainsRune(names[0], found) {
			return fault.New(fault.Input,
				delimiterHint(found, options),
				"read header of %s: found one column, %s, "+
					"expected columns separated by %q, not by %q",
				path, fault.Quote(names[0]), options.Delimiter, found)
		}
	}
	return nil
}

// delimiterHint says how to read a table with another delimiter than its ending's.
func delimiterHint(found rune, options TextOptions) string {
	switch {
	case found == '\t':
		return "rename it to .tsv, which has tabs"
	case found == ',':
		return "rename it to .csv, which has commas"
	case options.DelimiterSetting != "":
		return "add " + options.DelimiterSetting
	}
	return fmt.Sprintf("separate its columns by %q", options.Delimiter)
}

// indexHint continues the hint for a first column that has no name, which is an index that another
// program wrote.
const indexHint = `; an index is left out by pandas with index=False and by R with ` +
	`row.names = FALSE, or named: pandas has index_label="sample_id", and ` +
	`settings of a table have skip_lines=1 columns=[…] with a name for each`

// checkNames returns an error for column names that do not identify a column.
func checkNames(path string, names []string) error {
	const hint = "rename the column"
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
			return fault.New(fault.Input, hint,
				"read header of %s: columns %d and %d are both named %s, expected unique names",
				path, j+1, i+1, fault.Quote(name))
		}
		first[name] = i
	}
	return nil
}
