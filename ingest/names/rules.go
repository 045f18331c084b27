package names

import (
	"bytes"
	"regexp"
	"slices"
	"strings"

	"tcbuild/fault"
)

// Rules are what a table's settings say of the names in it.
type Rules struct {
	// GenePattern is a regular expression whose first group is a gene's name, such as ^(.+)_g[0-9]$
	// for guides; "": names stand by themselves.
	GenePattern string
	// Controls are names that stand where a gene's does and delete nothing, such as ctrl. A *
	// stands for any text without the delimiter.
	Controls []string
	// ControlPattern is a regular expression that matches whole names of controls.
	ControlPattern string
	// Delimiter separates the names in a text of several; "": there is none.
	Delimiter string
}

// rules are Rules, compiled.
type rules struct {
	any      bool
	pattern  *regexp.Regexp // nil: none
	controls map[string]bool
	globs    []*regexp.Regexp // of the controls with *, and the pattern of controls

	// spanning are the controls that contain the delimiter, the longest first.
	spanning  [][]byte
	delimiter []byte
}

// With returns a resolver that reads names by rules. It returns a fault.Usage for a wrong pattern,
// and for controls that are genes of the graph.
func (r *Resolver) With(given Rules) (*Resolver, error) {
	with := *r
	c := rules{controls: make(map[string]bool), delimiter: []byte(given.Delimiter)}
	if given.GenePattern != "" {
		pattern, err := regexp.Compile(given.GenePattern)
		if err == nil && pattern.NumSubexp() == 0 {
			return nil, fault.New(fault.Usage, "put the name in parentheses, as in ^(.+)_YPD$",
				"gene_pattern: found %s, expected a group", fault.Quote(given.GenePattern))
		}
		if err != nil {
			return nil, fault.New(fault.Usage, patternHint, "gene_pattern: %w", err)
		}
		c.pattern = pattern
	}
	for _, name := range given.Controls {
		if strings.TrimSpace(name) != name || name == "" {
			return nil, fault.New(fault.Usage, "write names as in --controls ctrl,non-targeting",
				"--controls: found %s, expected a name without spaces around it", fault.Quote(name))
		}
		if strings.Contains(name, "*") {
			c.globs = append(c.globs, glob(name, given.Delimiter))
			continue
		}
		c.controls[name] = true
		if given.Delimiter != "" && strings.Contains(name, given.Delimiter) {
			c.spanning = append(c.spanning, []byte(name))
		}
	}
	slices.SortFunc(c.spanning, func(a, b []byte) int { return len(b) - len(a) })
	if given.ControlPattern != "" {
		pattern, err := regexp.Compile(`^(?:` + given.ControlPattern + `)$`)
		if err != nil {
			return nil, fault.New(fault.Usage, patternHint, "control_pattern: %w", err)
		}
		c.globs = append(c.globs, pattern)
	}
	c.any = c.pattern != nil || len(c.controls) > 0 || c.globs != nil
	for _, id := range r.nodes.IDs {
		if c.any && c.isControl([]byte(id)) {
			return nil, fault.New(fault.Usage,
				"remove the name from --controls, or rename the gene",
				"--controls: found %s, which is a gene of the graph, "+
					"expected names that delete nothing",
				fault.Quote(id))
		}
	}
	with.rules = c
	return &with, nil
}

const patternHint = "write it as https://github.com/google/re2/wiki/Syntax says"

// glob matches the names that a control with * stands for.
func glob(name, delimiter string) *regexp.Regexp {
	any := `.*`
	if len(delimiter) == 1 {
		any = `[^` + regexp.QuoteMeta(delimiter) + `]*`
	}
	parts := strings.Split(name, "*")
	for k := range parts {
		parts[k] = regexp.QuoteMeta(parts[k])
	}
	return regexp.MustCompile(`^` + strings.Join(parts, any) + `$`)
}

func (c *rules) isControl(name []byte) bool {
	if c.controls[string(name)] {
		return true
	}
	return slices.ContainsFunc(c.globs, func(g *regexp.Regexp) bool { return g.Match(name) })
}

// Part returns the part of a text that the pattern for genes matches, and a control as it is. A
// text that it does not match is a fault.Input.
func (r *Resolver) Part(text []byte) ([]byte, error) {
	if r.rules.pattern == nil {
		return text, nil
	}
	if _, part := r.rules.apply(text); part != nil {
		return part, nil
	}
	return nil, r.Explain(text)
}

// WithoutPattern returns a resolver that reads the parts of names that Part returns.
func (r *Resolver) WithoutPattern() *Resolver {
	without := *r
	without.rules.pattern = nil
	return &without
}

// apply says whether a name, or the part of it that the pattern of genes matches, is a control, and
// returns that part. It is nil if the pattern does not match.
func (c *rules) apply(name []byte) (control bool, part []byte) {
	if c.isControl(name) {
		return true, name
	}
	if c.pattern == nil {
		return false, name
	}
	match := c.pattern.FindSubmatchIndex(name)
	if match == nil || match[2] < 0 {
		return false, nil
	}
	part = name[match[2]:match[3]]
	return c.isControl(part), part
}

// Cut returns the first name of a text of several, as bytes.Cut does. A control is one name even if
// it contains the delimiter: of non_targeting_TP53, it is non_targeting.
func (r *Resolver) Cut(text []byte) (name, rest []byte, more bool) {
	c := &r.rules
	for _, control := range c.spanning {
		if rest, found := bytes.CutPrefix(text, control); found {
			if len(rest) == 0 {
				return text, nil, false
			}
			if rest, found := bytes.CutPrefix(rest, c.delimiter); found {
				return text[:len(control)], rest, true
			}
		}
	}
	name, rest, more = bytes.Cut(text, c.delimiter)
	if !more || c.globs == nil || c.isControl(name) {
		return name, rest, more
	}
	for end := len(name); end < len(text); {
		next := bytes.Index(text[end+len(c.delimiter):], c.delimiter)
		if end += len(c.delimiter) + next; next < 0 {
			end = len(text)
		}
		if c.isControl(text[:end]) {
			rest, more = bytes.CutPrefix(text[end:], c.delimiter)
			return text[:end], rest, more
		}
	}
	return name, rest, more
}
