package table

import (
	"bytes"
	"errors"

	"tcbuild/ingest/table/rows"
)

func span(start, end int) rows.Span { return rows.Span{Start: uint32(start), End: uint32(end)} }

// split appends the fields of a row that starts at offset in its buffer.
func split(fields []rows.Span, record []byte, offset int, delimiter byte) []rows.Span {
	start := 0
	for {
		length := bytes.IndexByte(record[start:], delimiter)
		if length < 0 {
			return append(fields, span(offset+start, offset+len(record)))
		}
		fields = append(fields, span(offset+start, offset+start+length))
		start += length + 1
	}
}

// splitBlanks is split for fields separated by runs of spaces and tabs, which may also start the
// row.
func splitBlanks(fields []rows.Span, record []byte, offset int) []rows.Span {
	start := -1
	for i, c := range record {
		switch blank := c == ' ' || c == '\t'; {
		case !blank && start < 0:
			start = i
		case blank && start >= 0:
			fields = append(fields, span(offset+start, offset+i))
			start = -1
		}
	}
	if start >= 0 {
		fields = append(fields, span(offset+start, offset+len(record)))
	}
	return fields
}

// quotedLength finds the end of a row with quotes: the first line feed outside quotes. length is -1
// if text ends before it; breaks counts the line feeds inside quotes.
func quotedLength(text []byte) (length, breaks int) {
	inside := false
	for i, c := range text {
		switch {
		case c == '"':
			inside = !inside
		case c == '\n' && !inside:
			return i, breaks
		case c == '\n':
			breaks++
		}
	}
	return -1, breaks
}

var (
	errOpenQuote  = errors.New("found an unclosed quote")
	errBareQuote  = errors.New("found a quote inside an unquoted field")
	errAfterQuote = errors.New("found text between a closing quote and the delimiter")
)

// splitQuoted appends the fields of the row buffer[begin:end]. It unquotes fields in place, which
// only makes them shorter.
func splitQuoted(fields []rows.Span, buffer []byte, begin, end int, delimiter byte) ([]rows.Span, error) {
	for at := begin; ; at++ { // at is the start of a field, then the delimiter after it
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
			if at < end && buffer[at] != delimiter {
				return nil, errAfterQuote
			}
		} else {
			for ; at < end && buffer[at] != delimiter; at++ {
				if buffer[at] == '"' {
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
