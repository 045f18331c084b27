package ontologies

import (
	"bytes"
	"cmp"
	"fmt"
	"strings"

	"tcbuild/fault"
	"tcbuild/ingest/table"
)

// ontology is the content of an OBO file, in its order.
type ontology struct {
	terms   []term
	current map[string]int // the terms that are not obsolete, by id
	others  map[string]int // alternative ids of terms, and obsolete terms
}

// term is a stanza [Term].
type term struct {
	id, name, namespace string
	line                int
	obsolete            bool
	alternatives        []string
	replacements        []string // of an obsolete term
	parents             []parent
}

// parent is a relation of a term to another.
type parent struct {
	relation, id string
	line         int
}

const oboHint = "use an ontology in OBO, such as go-basic.obo, as released"

// parseOBO reads the terms of an ontology, version 1.2 or 1.4 of the format. Definitions by logical
// intersection are no relations of their own; go-basic.obo has the relations that follow.
func parseOBO(path string, text []byte) (*ontology, error) {
	o := &ontology{others: make(map[string]int)}
	at := func(line int, format string, args ...any) error {
		return fault.New(fault.Input, oboHint,
			"read ontology %s:%d: %w", path, line, fmt.Errorf(format, args...))
	}
	var now *term     // of the stanza; nil in a header and in other stanzas
	inStanza := false // the header has ended
	namespace, line := "", 0
	for row := range bytes.Lines(bytes.TrimPrefix(text, []byte("\ufeff"))) {
		line++
		row = bytes.TrimSpace(row)
		if len(row) == 0 || row[0] == '!' {
			continue
		}
		if err := table.CheckUTF8(row); err != nil {
			return nil, at(line, "%w", err)
		}
		if row[0] == '[' {
			inStanza = true
			if now = nil; string(row) == "[Term]" {
				o.terms = append(o.terms, term{line: line, namespace: namespace})
				now = &o.terms[len(o.terms)-1]
			}
			continue
		}
		tag, value, found := bytes.Cut(row, []byte(":"))
		if !found {
			return nil, at(line, "found %s, expected a tag and its value", fault.Quote(row))
		}
		if inStanza && string(tag) == "format-version" {
			return nil, at(line, "found the header of a second ontology, expected one in the file")
		}
		value = bytes.TrimSpace(value)
		if now == nil {
			if len(o.terms) == 0 && string(tag) == "default-namespace" {
				namespace = oboText(value)
			}
			continue
		}
		if err := now.set(string(tag), value, line); err != nil {
			return nil, at(line, "%w", err)
		}
	}
	if len(o.terms) == 0 {
		return nil, fault.New(fault.Input, oboHint,
			"read ontology %s: found no [Term], expected at least one", path)
	}
	o.current = make(map[string]int, len(o.terms))
	for i := range o.terms {
		t := &o.terms[i]
		if t.id == "" {
			return nil, at(t.line, "found a term without an id")
		}
		first, again := o.current[t.id]
		if !again {
			first, again = o.others[t.id]
		}
		if again {
			return nil, at(t.line, "found term %s twice, first at line %d", t.id,
				o.terms[first].line)
		}
		if t.obsolete {
			o.others[t.id] = i
		} else {
			o.current[t.id] = i
		}
	}
	return o, o.addAlternatives(at)
}

// set sets what a line of a term says.
func (t *term) set(tag string, value []byte, line int) error {
	switch tag {
	case "id":
		if t.id != "" {
			return fmt.Errorf("found a second id %s, expected one", fault.Quote(value))
		}
		t.id = oboText(value)
	case "name":
		t.name = oboText(value)
	case "namespace":
		t.namespace = oboText(value)
	case "is_obsolete":
		t.obsolete = oboText(value) == "true"
	case "alt_id":
		t.alternatives = append(t.alternatives, oboText(value))
	case "replaced_by":
		t.replacements = append(t.replacements, oboText(value))
	case "is_a", "relationship":
		relation, words := "is_a", strings.Fields(oboText(value))
		if tag == "relationship" && len(words) > 0 {
			relation, words = words[0], words[1:]
		}
		if len(words) == 0 {
			return fmt.Errorf("found %s: %s, expected the id of a term", tag, fault.Quote(value))
		}
		t.parents = append(t.parents, parent{relation, words[0], line})
	}
	return nil
}

// addAlternatives makes alternative ids known, unless a term has the id itself.
func (o *ontology) addAlternatives(at func(line int, format string, args ...any) error) error {
	of := make(map[string]int)
	for i := range o.terms {
		t := &o.terms[i]
		for _, id := range t.alternatives {
			if t.obsolete {
				continue
			}
			if first, again := of[id]; again && first != i {
				return at(t.line, "found alternative id %s of term %s, which term %s has too",
					id, t.id, o.terms[first].id)
			}
			of[id] = i
		}
	}
	for id, i := range of {
		o.others[id] = i // rather than an obsolete term of the same id
	}
	return nil
}

// resolution says how a term was found.
type resolution int

const (
	byID resolution = iota
	byAlternative
	byReplacement
	isObsolete // and no single term replaces it
	isUnknown
)

// find returns the term that an id means.
func (o *ontology) find(id []byte) (at int, how resolution) {
	if at, ok := o.current[string(id)]; ok {
		return at, byID
	}
	name := string(id)
	for range o.terms { // a circle of replacements ends here
		at, ok := o.others[name]
		switch {
		case !ok && how == byReplacement:
			return 0, isObsolete
		case !ok:
			return 0, isUnknown
		case !o.terms[at].obsolete:
			return at, max(how, byAlternative)
		case len(o.terms[at].replacements) != 1:
			return 0, isObsolete
		}
		name, how = o.terms[at].replacements[0], byReplacement
		if at, ok := o.current[name]; ok {
			return at, how
		}
	}
	return 0, isObsolete
}

// oboText returns a value without its comment, " ! …", and with its escapes resolved.
func oboText(value []byte) string {
	if bytes.IndexByte(value, '\\') < 0 {
		value, _, _ = bytes.Cut(value, []byte(" !"))
		return string(bytes.TrimSpace(value))
	}
	var text strings.Builder
	for i := 0; i < len(value); i++ {
		c := value[i]
		if c == '!' && i > 0 && value[i-1] == ' ' {
			break
		}
		if c == '\\' && i+1 < len(value) {
			i++
			c = cmp.Or(map[byte]byte{'W': ' ', 'n': '\n', 't': '\t'}[value[i]], value[i])
		}
		text.WriteByte(c)
	}
	return strings.TrimRight(text.String(), " \t")
}
