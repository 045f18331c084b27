package torchcell

import (
	"bytes"
	"encoding/json"
	"fmt"
	"iter"
)

// value is a JSON value as a tree: the node of the value, then those of its members or elements, in
// the order of the text. {"a": [1, 2]} has four nodes:
//
//	text           name  size
//	{"a": [1, 2]}        4
//	[1, 2]         a     3
//	1                    1
//	2                    1
//
// A nil value stands for a member that an object lacks; it has no parts.
type value []node

type node struct {
	name []byte // of a member of an object
	text []byte // the value as it is written
	size int    // in nodes, itself included
}

func (v value) name() []byte { return v[0].name }

func (v value) text() []byte { return v[0].text }

// kind is the first byte of the value: { of an object, [ of an array, " of a text, n of null; 0 of
// a nil value.
func (v value) kind() byte {
	if v == nil {
		return 0
	}
	return v[0].text[0]
}

// string is what a text says; nil if the value is not a text.
func (v value) string() []byte {
	if v.kind() != '"' {
		return nil
	}
	return unquote(v.text())
}

// isNested reports whether the value is an object or an array.
func (v value) isNested() bool { return v.kind() == '{' || v.kind() == '[' }

// parts yields the members of an object, or the elements of an array.
func (v value) parts() iter.Seq[value] {
	return func(yield func(value) bool) {
		for rest := v[min(1, len(v)):]; len(rest) > 0; rest = rest[rest[0].size:] {
			if !yield(rest[:rest[0].size]) {
				return
			}
		}
	}
}

// member returns the last member of an object with a name, as in Python; nil if there is none.
func (v value) member(name string) (last value) {
	if v.kind() != '{' {
		return nil
	}
	for member := range v.parts() {
		if string(member.name()) == name {
			last = member
		}
	}
	return last
}

// parser reads JSON as Python writes it, including the tokens NaN, Infinity and -Infinity.
//
// No library can replace it: encoding/json, jsontext, sonic and simdjson-go refuse the three
// tokens, and fastjson accepts damage such as 01 and line ends in texts.
type parser struct {
	text  []byte
	at    int // the next byte
	depth int // of nested objects and arrays
	nodes []node

	shared [8]sharedObject
	oldest int // in shared
}

// sharedObject is an object that an earlier record had. Most records have the environment and the
// reference of a few others; text that begins with the same bytes is not parsed again.
type sharedObject struct {
	text  []byte
	nodes []node
	depth int // in its record
}

const maxDepth = 1000 // about Python's limit

// parse reads a text that is one value, and must not change later. The value is a view of it and
// of earlier texts, and valid until the next call.
func (p *parser) parse(text []byte) (value, error) {
	p.text, p.at, p.depth, p.nodes = text, 0, 0, p.nodes[:0]
	err := p.value(nil)
	if p.next(); err == nil && p.at < len(text) {
		err = p.wrong("the end of the record")
	}
	return p.nodes, err
}

// wrong is the error for text that is not what was expected at the next byte.
func (p *parser) wrong(expected string) error {
	if p.at == len(p.text) {
		return fmt.Errorf("byte %d: found the end, expected %s", p.at, expected)
	}
	return fmt.Errorf("byte %d: found %q, expected %s", p.at,
		p.text[p.at:min(p.at+12, len(p.text))], expected)
}

// next skips spaces and returns the next byte, or 0 at the end.
func (p *parser) next() byte {
	for ; p.at < len(p.text); p.at++ {
		switch c := p.text[p.at]; c {
		case ' ', '\n', '\t', '\r':
		default:
			return c
		}
	}
	return 0
}

// skipToken skips a token if it comes next.
func (p *parser) skipToken(token string) bool {
	if end := p.at + len(token); end <= len(p.text) && string(p.text[p.at:end]) == token {
		p.at = end
		return true
	}
	return false
}

// value reads a value, which may be a member of an object.
func (p *parser) value(name []byte) (err error) {
	next, start, first := p.next(), p.at, len(p.nodes)
	p.nodes = append(p.nodes, node{name: name})
	switch next {
	case '{':
		err = p.list('}', p.member)
	case '[':
		err = p.list(']', p.element)
	case '"':
		_, err = p.quoted()
	default:
		err = p.token()
	}
	p.nodes[first].text, p.nodes[first].size = p.text[start:p.at], len(p.nodes)-first
	return err
}

func (p *parser) element() error { return p.value(nil) }

func (p *parser) member() error {
	p.next()
	quoted, err := p.quoted()
	if err != nil {
		return err
	}
	if p.next() != ':' {
		return p.wrong("a colon")
	}
	p.at++
	name := unquote(quoted)
	isShared := string(name) == "environment" || string(name) == "experiment_reference"
	if isShared {
		return p.sharedValue(name)
	}
	return p.value(name)
}

// sharedValue reads a value that an earlier record may have had.
func (p *parser) sharedValue(name []byte) error {
	next, start, first := p.next(), p.at, len(p.nodes)
	for i := range p.shared {
		s := &p.shared[i]
		if s.text != nil && s.depth == p.depth && bytes.HasPrefix(p.text[p.at:], s.text) {
			p.at += len(s.text)
			p.nodes = append(p.nodes, s.nodes...)
			p.nodes[first].name = name
			return nil
		}
	}
	err := p.value(name)
	if err == nil && next == '{' { // whose end does not depend on what follows
		s := &p.shared[p.oldest]
		p.oldest = (p.oldest + 1) % len(p.shared)
		s.text, s.depth = p.text[start:p.at], p.depth
		s.nodes = append(s.nodes[:0], p.nodes[first:]...)
	}
	return err
}

// list reads the items between the bracket that comes next and its end, separated by commas.
func (p *parser) list(end byte, item func() error) error {
	if p.depth++; p.depth > maxDepth {
		return p.wrong(fmt.Sprintf("at most %d levels", maxDepth))
	}
	defer func() { p.depth-- }()
	p.at++
	if p.next() == end {
		p.at++
		return nil
	}
	for {
		if err := item(); err != nil {
			return err
		}
		switch p.next() {
		case ',':
			p.at++
		case end:
			p.at++
			return nil
		default:
			return p.wrong(fmt.Sprintf("a comma or %c", end))
		}
	}
}

// quoted reads a text with its quotes.
func (p *parser) quoted() (quoted []byte, err error) {
	if !p.skipToken(`"`) {
		return nil, p.wrong("a text")
	}
	start, escaped := p.at-1, false
	for ; ; escaped = true {
		p.at += plain(p.text[p.at:])
		switch {
		case p.skipToken(`"`):
			if quoted = p.text[start:p.at]; escaped && !json.Valid(quoted) {
				return nil, fmt.Errorf("byte %d: found a text with a wrong escape", start)
			}
			return quoted, nil
		case p.at == len(p.text):
			return nil, p.wrong("the end of a text")
		case p.text[p.at] != '\\':
			return nil, p.wrong("a text without control characters")
		}
		p.at = min(p.at+2, len(p.text))
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

// unquote returns what is in quotes, which is a view of it unless there are escapes.
func unquote(quoted []byte) []byte {
	inside := quoted[1 : len(quoted)-1]
	if bytes.IndexByte(inside, '\\') < 0 {
		return inside
	}
	var text string
	_ = json.Unmarshal(quoted, &text) // quoted has checked it
	return []byte(text)
}

// token reads a truth value, null, or a number.
func (p *parser) token() error {
	for _, token := range []string{"null", "true", "false", "NaN", "Infinity", "-Infinity"} {
		if p.skipToken(token) {
			return nil
		}
	}
	start := p.at
	p.skipToken("-")
	if !p.skipToken("0") && p.digits() == 0 {
		p.at = start
		return p.wrong("a value")
	}
	if p.skipToken(".") && p.digits() == 0 {
		return p.wrong("a digit")
	}
	if p.skipToken("e") || p.skipToken("E") {
		_ = p.skipToken("+") || p.skipToken("-")
		if p.digits() == 0 {
			return p.wrong("a digit")
		}
	}
	return nil
}

// digits skips digits and returns their number.
func (p *parser) digits() int {
	start := p.at
	for p.at < len(p.text) && '0' <= p.text[p.at] && p.text[p.at] <= '9' {
		p.at++
	}
	return p.at - start
}
