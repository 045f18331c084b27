package table

import (
	"bytes"
	"errors"
)

// split appends the fields of a row that starts at offset in its buffer.
func split(fields []span, record []byte, offset int, delimiter byte) []span {
	start := 0
	for {
		length := bytes.IndexByte(record[start:], delimiter)
		if length < 0 {
			return append(fields, span{uint32(offset + start), uint32(offset + len(record))})
		}
		fields = append(fields, span{uint32(offset + start), uint32(offset + start + length)})
		start += length + 1
	}
}

// splitBlanks is split for fields between runs of spaces and tabs, which may also lead the row.
func splitBlanks(fields []span, record []byte, offset int) []span {
	start := -1
	for i, c := range record {
		switch blank := c == ' ' || c == '\t'; {
		case !blank && start < 0:
			start = i
		case blank && start >= 0:
			fields = append(fields, span{uint32(offset + start), uint32(offset + i)})
			start = -1
		}
	}
	if start >= 0 {
		fields = append(fields, span{uint32(offset + start), uint32(offset + len(record))})
	}
	return fields
}

// quotedLength finds the end of a row with quotes: the first line feed outside of
// them. length is -1 when text ends before; breaks counts the line feeds inside.
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
	errOpenQuote  = errors.New("found a quote that is never closed")
	errBareQuote  = errors.New("found a quote inside a field that does not start with one")
	errAfterQuote = errors.New("found text between a closing quote and the delimiter")
)

// splitQuoted appends the fields of the row buffer[begin:end]. Quoted fields are
// unquoted in place, which only ever makes them shorter.
func splitQuoted(fields []span, buffer []byte, begin, end int, delimiter byte) ([]span, error) {
	for at := begin; ; at++ { // at is the start of a field, then the delimiter behind it
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
		fields = append(fields, span{uint32(start), uint32(to)})
		if at == end {
			return fields, nil
		}
	}
}
