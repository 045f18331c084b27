package torchcell

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"math"
	"strconv"

	"tcbuild/fault"
	"tcbuild/internal/decimal"
)

// scanner reads JSON as Python writes it, including the tokens NaN, Infinity and -Infinity, which
// the standard library does not accept. It reads one value after the other in place, and skips
// those that are not needed.
//
// No library can replace it: jsontext, sonic and simdjson-go refuse the three tokens, and fastjson
// accepts damage such as 01 and line ends in texts. None is much faster for a record of 4.7 kB.
type scanner struct {
	text  []byte
	at    int // the next byte
	depth int // of nested objects and arrays
}

const maxDepth = 1000 // about Python's limit

// wrong is the error for text that is not what was expected at the next byte.
func (s *scanner) wrong(expected string) error {
	found := "the end"
	if s.at < len(s.text) {
		found = fmt.Sprintf("%q", s.text[s.at:min(s.at+12, len(s.text))])
	}
	return fmt.Errorf("byte %d: found %s, expected %s", s.at, found, expected)
}

// next skips spaces and returns the next byte, or 0 at the end.
func (s *scanner) next() byte {
	for ; s.at < len(s.text); s.at++ {
		switch c := s.text[s.at]; c {
		case ' ', '\n', '\t', '\r':
		default:
			return c
		}
	}
	return 0
}

// take skips a token if it comes next.
func (s *scanner) take(token string) bool {
	if end := s.at + len(token); end <= len(s.text) && string(s.text[s.at:end]) == token {
		s.at = end
		return true
	}
	return false
}

// members reads an object. For each member it calls value, which must read the member's value. name
// is valid until value returns.
func (s *scanner) members(value func(name []byte) error) error {
	return s.nested('{', '}', "an object", func() error {
		s.next()
		name, err := s.string()
		if err != nil {
			return err
		}
		if s.next() != ':' {
			return s.wrong("a colon")
		}
		s.at++
		return value(name)
	})
}

// elements reads an array. For each element it calls value, which must read it.
func (s *scanner) elements(value func() error) error {
	return s.nested('[', ']', "an array", value)
}

// nested reads the items between two brackets, separated by commas.
func (s *scanner) nested(open, end byte, what string, item func() error) error {
	if s.next() != open {
		return s.wrong(what)
	}
	if s.depth++; s.depth > maxDepth {
		return s.wrong(fmt.Sprintf("at most %d levels", maxDepth))
	}
	defer func() { s.depth-- }()
	s.at++
	if s.next() == end {
		s.at++
		return nil
	}
	for {
		if err := item(); err != nil {
			return err
		}
		switch s.next() {
		case ',':
			s.at++
		case end:
			s.at++
			return nil
		default:
			return s.wrong(fmt.Sprintf("a comma or %c", end))
		}
	}
}

// skip skips any value.
func (s *scanner) skip() error {
	switch s.next() {
	case '{':
		return s.members(func([]byte) error { return s.skip() })
	case '[':
		return s.elements(s.skip)
	case '"':
		_, _, err := s.quoted()
		return err
	}
	if s.take("null") || s.take("true") || s.take("false") {
		return nil
	}
	return s.skipNumber()
}

// string reads a text. It is a view of the record, unless it has escapes.
func (s *scanner) string() ([]byte, error) {
	quoted, escaped, err := s.quoted()
	if err != nil {
		return nil, err
	}
	if !escaped {
		return quoted[1 : len(quoted)-1], nil
	}
	var text string
	if err := json.Unmarshal(quoted, &text); err != nil {
		return nil, err
	}
	return []byte(text), nil
}

// quoted skips a text and returns it with its quotes.
func (s *scanner) quoted() (quoted []byte, escaped bool, err error) {
	start := s.at
	if start == len(s.text) || s.text[start] != '"' {
		return nil, false, s.wrong("a text")
	}
	for s.at++; ; escaped = true {
		s.at += plain(s.text[s.at:])
		switch {
		case s.at == len(s.text):
			return nil, false, s.wrong("the end of a text")
		case s.text[s.at] == '"':
			s.at++
			if quoted = s.text[start:s.at]; escaped && !json.Valid(quoted) {
				return nil, false, fmt.Errorf("byte %d: found a text with a wrong escape", start)
			}
			return quoted, escaped, nil
		case s.text[s.at] != '\\':
			return nil, false, s.wrong("a text without control characters")
		}
		s.at = min(s.at+2, len(s.text))
	}
}

// plain counts the bytes before the first quote, backslash or control character.
func plain(text []byte) int {
	n := 0
	for n < len(text) && text[n] >= ' ' && text[n] != '"' && text[n] != '\\' {
		n++
	}
	return n
}

// number reads a number. One beyond the range of float64 is infinite, as in Python. A number too
// small for float64, and an integer that it cannot hold exactly, are errors.
func (s *scanner) number() (float64, error) {
	start := s.at
	if err := s.skipNumber(); err != nil {
		return 0, err
	}
	token := s.text[start:s.at]
	// the token is a number, so the only possible error is its range
	number, err := decimal.Parse(string(token))
	if errors.Is(err, decimal.ErrTooSmall) {
		return 0, fmt.Errorf("found number %s, which is %w", fault.Quote(token), err)
	}
	if math.Abs(number) >= 1<<53 && !bytes.ContainsAny(token, ".eEI") &&
		strconv.FormatFloat(number, 'f', 0, 64) != string(token) {
		return 0, fmt.Errorf(
			"found integer %s, which a 64-bit floating-point number cannot hold exactly",
			fault.Quote(token))
	}
	return number, nil
}

// skipNumber skips a number.
func (s *scanner) skipNumber() error {
	if s.take("NaN") || s.take("Infinity") || s.take("-Infinity") {
		return nil
	}
	start := s.at
	s.take("-")
	if !s.take("0") && s.digits() == 0 {
		s.at = start
		return s.wrong("a value")
	}
	if s.take(".") && s.digits() == 0 {
		return s.wrong("a digit")
	}
	if s.take("e") || s.take("E") {
		_ = s.take("+") || s.take("-")
		if s.digits() == 0 {
			return s.wrong("a digit")
		}
	}
	return nil
}

// digits skips digits and returns their number.
func (s *scanner) digits() int {
	start := s.at
	for s.at < len(s.text) && '0' <= s.text[s.at] && s.text[s.at] <= '9' {
		s.at++
	}
	return s.at - start
}
