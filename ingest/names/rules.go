package names

import (
	"bytes"
	"slices"
	"strings"

	"tcbuild/fault"
)

// Rules are what a table's settings say of the names in it.
type Rules struct {
	// Controls are names that stand where a gene's does and delete nothing, such as ctrl.
	Controls []string
	// Delimiter separates the names in a text of several; "": there is none.
	Delimiter string
}

// rules are Rules as the resolver asks them.
type rules struct {
	controls map[string]bool
	// spanning are the controls that contain the delimiter, the longest first.
	spanning  [][]byte
	delimiter []byte
}

// With returns a resolver that reads names by rules. Controls that are genes of the graph are a
// fault.Usage.
func (r *Resolver) With(given Rules) (*Resolver, error) {
	with := *r
	c := rules{controls: make(map[string]bool), delimiter: []byte(given.Delimiter)}
	for _, name := range given.Controls {
		if strings.TrimSpace(name) != name || name == "" {
			return nil, fault.New(fault.Usage, "write names as in --controls=ctrl,non-targeting",
				"--controls: found %s, expected a name without spaces around it", fault.Quote(name))
		}
		if r.Exact([]byte(name)).Meaning == Gene && slices.Contains(r.nodes.IDs, name) {
			return nil, fault.New(fault.Usage,
				"remove the name from --controls, or rename the gene",
				"--controls: found %s, which is a gene of the graph, "+
					"expected names that delete nothing",
				fault.Quote(name))
		}
		c.controls[name] = true
		if given.Delimiter != "" && strings.Contains(name, given.Delimiter) {
			c.spanning = append(c.spanning, []byte(name))
		}
	}
	slices.SortFunc(c.spanning, func(a, b []byte) int { return len(b) - len(a) })
	with.rules = c
	return &with, nil
}

// Cut returns the first name of a text of several, as bytes.Cut does. A control is one name even if
// it contains the delimiter: of non_targeting_TP53, it is non_targeting.
func (r *Resolver) Cut(text []byte) (name, rest []byte, more bool) {
	for _, control := range r.rules.spanning {
		if rest, found := bytes.CutPrefix(text, control); found {
			if len(rest) == 0 {
				return text, nil, false
			}
			if rest, found := bytes.CutPrefix(rest, r.rules.delimiter); found {
				return text[:len(control)], rest, true
			}
		}
	}
	return bytes.Cut(text, r.rules.delimiter)
}
