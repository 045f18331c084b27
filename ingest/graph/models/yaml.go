package models

import (
	"cmp"
	"errors"
	"math"
	"regexp"
	"strconv"
	"strings"

	"go.yaml.in/yaml/v4"

	"tcbuild/conf"
	"tcbuild/fault"
	"tcbuild/ingest/gpr"
	"tcbuild/internal/decimal"
)

const yamlHint = "use a complete model in YAML from cobrapy or RAVEN"

// parseYAML reads YAML from cobrapy and RAVEN.
func parseYAML(path string, text []byte) (*Model, error) {
	root, second, err := conf.ReadYAML(text)
	if err != nil {
		quoted, secondQuoted, stillWrong := conf.ReadYAML(quoteNames(text))
		if stillWrong == nil {
			root, second, err = quoted, secondQuoted, nil
		}
	}
	switch {
	case err != nil:
		where, what := conf.DescribeSyntax(text, err)
		return nil, fault.New(fault.Input, yamlHint,
			"read model %s%s: %s, expected YAML", path, where, what)
	case second > 0:
		return nil, fault.New(fault.Input, yamlHint+"; split the file if it has several",
			"read model %s:%d: found a second YAML document, expected one", path, second)
	case root == nil:
		return nil, fault.New(fault.Input, yamlHint, "read model %s: found no YAML document", path)
	}
	r := yamlReader{modelFile{path, yamlHint}}
	sections, err := r.entries(root)
	if err != nil {
		return nil, err
	}
	for _, name := range []string{"metabolites", "reactions", "genes"} {
		if sections[name] == nil {
			return nil, fault.New(fault.Input, yamlHint, "read model %s: found no section %q", path,
				name)
		}
	}
	model := &Model{modelFile: r.modelFile}
	err = r.eachEntry(sections["metabolites"], func(entry Entry, _ map[string]*yaml.Node) error {
		model.metabolites = append(model.metabolites, entry)
		return nil
	})
	if err != nil {
		return nil, err
	}
	err = r.eachEntry(sections["reactions"], func(entry Entry, values map[string]*yaml.Node) error {
		reaction, err := r.reaction(entry, values)
		model.reactions = append(model.reactions, reaction)
		return err
	})
	return model, cmp.Or(err, model.checkIDs())
}

// unquotedName is a name that RAVEN wrote before yeast-GEM 8.5, up to the end of its line.
var unquotedName = regexp.MustCompile(`(?m)^( *- name: )([^"'\r\n][^\r\n]*)`)

// quoteNames returns a model with quotes around the names: [cytochrome c]-L-lysine is no YAML
// without.
func quoteNames(text []byte) []byte {
	return unquotedName.ReplaceAllFunc(text, func(line []byte) []byte {
		parts := unquotedName.FindSubmatch(line)
		return strconv.AppendQuote(parts[1], string(parts[2]))
	})
}

// yamlReader reads a model's YAML tree.
type yamlReader struct{ modelFile }

// keyValue is a key of a map and its value.
type keyValue struct{ key, value *yaml.Node }

// keyValues returns the content of a map, with unique keys. Models write it as an ordered map: a
// list of maps with one key each.
func (r yamlReader) keyValues(node *yaml.Node) (all []keyValue, err error) {
	maps := []*yaml.Node{node}
	if node.Kind == yaml.SequenceNode {
		maps = node.Content
	}
	lines := make(map[string]int)
	for _, m := range maps {
		if m.Kind != yaml.MappingNode {
			return nil, r.wrong(m.Line, "found %s, expected keys and their values", describeNode(m))
		}
		for i := 0; i+1 < len(m.Content); i += 2 {
			key := m.Content[i]
			if key.Kind != yaml.ScalarNode {
				return nil, r.wrong(key.Line, "found %s, expected a key", describeNode(key))
			}
			if first, again := lines[key.Value]; again {
				return nil, r.wrong(key.Line, "found key %q twice, first at line %d", key.Value,
					first)
			}
			lines[key.Value] = key.Line
			all = append(all, keyValue{key, m.Content[i+1]})
		}
	}
	return all, nil
}

// entries returns keyValues by key.
func (r yamlReader) entries(node *yaml.Node) (map[string]*yaml.Node, error) {
	all, err := r.keyValues(node)
	entries := make(map[string]*yaml.Node, len(all))
	for _, p := range all {
		entries[p.key.Value] = p.value
	}
	return entries, err
}

// eachEntry visits the entries of a section.
func (r yamlReader) eachEntry(
	section *yaml.Node, visit func(entry Entry, values map[string]*yaml.Node) error,
) error {
	if section.Kind != yaml.SequenceNode {
		return r.wrong(section.Line, "found %s, expected a list", describeNode(section))
	}
	for _, element := range section.Content {
		values, err := r.entries(element)
		if err != nil {
			return err
		}
		entry := Entry{line: element.Line}
		if id := values["id"]; id != nil && id.Kind == yaml.ScalarNode {
			entry = Entry{id.Value, id.Line}
		}
		if err := visit(entry, values); err != nil {
			return err
		}
	}
	return nil
}

func (r yamlReader) reaction(entry Entry, values map[string]*yaml.Node) (made Reaction, err error) {
	made.Entry = entry
	var errs [3]error
	made.lower, errs[0] = r.number(values["lower_bound"])
	made.upper, errs[1] = r.number(values["upper_bound"])
	made.subsystem, errs[2] = r.texts(values["subsystem"])
	if err := cmp.Or(errs[:]...); err != nil {
		return made, err
	}
	made.reversible = made.lower < 0 && made.upper > 0
	if rule := values["gene_reaction_rule"]; rule != nil {
		if rule.Kind != yaml.ScalarNode {
			return made, r.wrong(rule.Line,
				"found %s, expected a gene_reaction_rule", describeNode(rule))
		}
		if rule.Tag != "!!null" {
			made.ruleText = strings.TrimSpace(rule.Value)
		}
		if made.rule, err = gpr.Parse(made.ruleText); err != nil {
			return made, r.wrong(rule.Line, "reaction %s: %w", entry.id, err)
		}
	}
	metabolites := values["metabolites"]
	if metabolites == nil {
		return made, r.wrong(entry.line,
			"reaction %s: found no metabolites, expected at least one", entry.id)
	}
	coefficients, err := r.keyValues(metabolites)
	if err != nil {
		return made, err
	}
	for _, c := range coefficients {
		value, err := r.number(c.value)
		if err == nil && math.IsNaN(value) {
			err = r.wrong(c.key.Line, "found no coefficient for metabolite %q", c.key.Value)
		}
		if err != nil {
			return made, err
		}
		made.add(Entry{c.key.Value, c.key.Line}, value)
	}
	return made, nil
}

// number reads a finite number; a missing or null node gives NaN.
func (r yamlReader) number(node *yaml.Node) (float64, error) {
	if node == nil || node.Kind == yaml.ScalarNode && node.Tag == "!!null" {
		return math.NaN(), nil
	}
	if node.Kind == yaml.ScalarNode {
		value, err := decimal.Parse(node.Value)
		if err == nil && !math.IsInf(value, 0) && !math.IsNaN(value) {
			return value, nil
		}
		if errors.Is(err, decimal.ErrTooSmall) {
			return 0, r.wrong(node.Line, "found %q, which is %w", node.Value, err)
		}
	}
	return 0, r.wrong(node.Line, "found %s, expected a finite number", describeNode(node))
}

// texts reads a text or a list of them, joined by "|"; a missing node gives "".
func (r yamlReader) texts(node *yaml.Node) (string, error) {
	switch {
	case node == nil || node.Tag == "!!null":
		return "", nil
	case node.Kind == yaml.ScalarNode:
		return node.Value, nil
	case node.Kind != yaml.SequenceNode:
		return "", r.wrong(node.Line, "found %s, expected a text or a list of texts",
			describeNode(node))
	}
	texts := make([]string, len(node.Content))
	for i, element := range node.Content {
		if element.Kind != yaml.ScalarNode {
			return "", r.wrong(element.Line, "found %s, expected a text", describeNode(element))
		}
		texts[i] = element.Value
	}
	return strings.Join(texts, "|"), nil
}

// describeNode describes a node for errors.
func describeNode(node *yaml.Node) string {
	switch node.Kind {
	case yaml.MappingNode:
		return "a map"
	case yaml.SequenceNode:
		return "a list"
	case yaml.AliasNode:
		return "a YAML alias"
	default:
		return strconv.Quote(node.Value)
	}
}
