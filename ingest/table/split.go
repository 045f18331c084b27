package table

import (
	"bytes"
	"encoding/binary"
	"errors"
	"fmt"
	"math/bits"
	"slices"

	"tcbuild/ingest/table/rows"
)

func span(start, end int) rows.Span { return rows.Span{Start: uint32(start), End: uint32(end)} }

// split appends the fields of a row that starts at offset in its buffer. Fields are short, so it
// looks for their ends in eight bytes at a time: the high bit of each byte of found is set where
// the delimiter is.
func split(fields []rows.Span, record []byte, offset int, delimiter byte) []rows.Span {
	const everyByte, highBits = 0x0101010101010101, 0x8080808080808080
	start, at := 0, 0
	for ; at+8 <= len(record); at += 8 {
		word := binary.LittleEndian.Uint64(record[at:]) ^ uint64(delimiter)*everyByte
		found := ^((word&^highBits + ^uint64(highBits)) | word) & highBits
		for ; found != 0; found &= found - 1 {
			end := at + bits.TrailingZeros64(found)/8
			fields = append(fields, span(offset+start, offset+end))
			start = end + 1
		}
	}
	for ; at < len(record); at++ {
		if record[at] == delimiter {
			fields = append(fields, span(offset+start, offset+at))
			start = at + 1
		}
	}
	return append(fields, span(offset+start, offset+len(record)))
}

// splitBlanks is split for fields separated by runs of spaces and tabs, which may also start the
// row. It replaces tabs by spaces.
func splitBlanks(fields []rows.Span, record []byte, offset int) []rows.Span {
	for tab := bytes.IndexByte(record, '\t'); tab >= 0; tab = bytes.IndexByte(record, '\t') {
		record[tab] = ' '
	}
	first := len(fields)
	fields = split(fields, record, offset, ' ')
	kept := slices.DeleteFunc(fields[first:],
		func(field rows.Span) bool { return field.Start == field.End })
	return fields[:first+len(kept)]
}

// quotedLength finds the end of a row with quotes: the first line feed outside quotes, which begin
// where a field does. length is -1 if text ends before it; breaks counts the line feeds inside
// quotes.
func quotedLength(text []byte, delimiter byte) (length, breaks int) {
	atStart, quoted, inside := true, false, false // of a field; in a quoted field; inside quotes
	for i, c := range text {
		switch {
		case c == '"' && (atStart || quoted):
			atStart, quoted, inside = false, true, !inside
		case c == '\n' && !inside:
			return i, breaks
		case c == '\n':
			breaks++
		case !inside:
			atStart = c == delimiter || delimiter == ' ' && c == '\t'
			quoted = quoted && !atStart
		}
	}
	return -1, breaks
}

var (
	errOpenQuote = errors.New("found an unclosed quote")
	errBareQuote = errors.New("found a quote inside an unquoted field")
)

// startsQuoted reports whether a table's first field is in quotes, as R's write.table puts all
// text.
func startsQuoted(text []byte, delimiter byte) bool {
	if len(text) == 0 || text[0] != '"' {
		return false
	}
	length := bytes.IndexByte(text[1:], '"')
	return length >= 0 && (length+2 == len(text) ||
		bytes.IndexByte([]byte{delimiter, '\r', '\n'}, text[length+2]) >= 0)
}

// quotedColumn reports whether all fields of a column are in quotes or missing, in the text read
// first. Rows that are not there yet change nothing: a column with a bare field is not quoted, and
// in a quoted one later bare fields are read as they are. The first line may be a bare header.
func (s *textSource) quotedColumn(text []byte) bool {
	if bytes.IndexByte(text, '"') < 0 {
		return false
	}
	var quoted, bare []bool // columns with such a field
	var fields []rows.Span
	for lines := 0; len(text) > 0; {
		line, rest, complete := bytes.Cut(text, []byte{'\n'})
		if !complete && s.torn == nil {
			break
		}
		text = rest
		if line = bytes.TrimSuffix(line, []byte{'\r'}); len(s.comment) > 0 &&
			bytes.HasPrefix(line, s.comment) {
			continue
		}
		if lines++; lines == 2 {
			clear(quoted)
			clear(bare)
		}
		fields = s.split(fields[:0], line, 0)
		for len(quoted) < len(fields) {
			quoted, bare = append(quoted, false), append(bare, false)
		}
		for k, f := range fields {
			field := line[f.Start:f.End]
			quoted[k] = quoted[k] || inQuotes(field)
			bare[k] = bare[k] || !inQuotes(field) && !rows.IsMissing(field)
		}
	}
	for k := range quoted {
		if quoted[k] && !bare[k] {
			return true
		}
	}
	return false
}

// inQuotes reports whether a field begins and ends with a quote, with only doubled ones inside.
func inQuotes(field []byte) bool {
	last := len(field) - 1
	return last > 0 && field[0] == '"' && field[last] == '"' &&
		bytes.Count(field[1:last], []byte{'"'}) == 2*bytes.Count(field[1:last], []byte(`""`))
}

// unquoteExcel unquotes, in place, the fields that Excel quotes in tab-separated text: those with
// commas or quotes. Quotes around other fields are part of the text.
func unquoteExcel(fields []rows.Span, buffer []byte) {
	for k, f := range fields {
		field := buffer[f.Start:f.End]
		if !inQuotes(field) || !bytes.ContainsAny(field[1:len(field)-1], `",`) {
			continue
		}
		to := f.Start
		for at := f.Start + 1; at < f.End-1; at++ {
			if buffer[at] == '"' {
				at++ // the second of two
			}
			buffer[to] = buffer[at]
			to++
		}
		fields[k].End = to
	}
}

// splitQuoted appends the fields of the row buffer[begin:end]. It unquotes fields in place, which
// only makes them shorter. A run of spaces is one delimiter. Between tabs, a field that does not
// begin with a quote may have quotes: 5'-"x".
func splitQuoted(fields []rows.Span, buffer []byte, begin, end int,
	delimiter byte) ([]rows.Span, error) {
	delimits := func(c byte) bool { return c == delimiter || delimiter == ' ' && c == '\t' }
	for at := begin; ; at++ { // at is the start of a field, then the delimiter after it
		for delimiter == ' ' && at < end && delimits(buffer[at]) {
			at++
		}
		start, to := at, at
		if at < end && buffer[at] == '"' {
			for at++; ; at++ {
				if at == end {
					return nil, errOpenQuote
				}
				if buffer[at] == '"' {
					if at++; at == end || buffer[at] != '"' {
						break
					}
				}
				buffer[to] = buffer[at]
				to++
			}
			if at < end && !delimits(buffer[at]) {
				return nil, fmt.Errorf("found %q after a closing quote, expected the delimiter %q",
					buffer[at], delimiter)
			}
		} else {
			for ; at < end && !delimits(buffer[at]); at++ {
				if buffer[at] == '"' && delimiter != '\t' {
					return nil, errBareQuote
				}
			}
			to = at
		}
		fields = append(fields, span(start, to))
		if at == end {
			return fields, nil
		}
	}
}
