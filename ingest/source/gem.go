package source

import (
	"bytes"
	"cmp"
	"errors"
	"fmt"
	"math"
	"regexp"
	"strconv"
	"strings"

	"go.yaml.in/yaml/v4"

	"tcbuild/conf"
	"tcbuild/fault"
	"tcbuild/ingest/gpr"
	"tcbuild/ingest/inputfile"
	"tcbuild/ingest/table"
	"tcbuild/internal/decimal"
)

const gemHint = "use a complete model in YAML from cobrapy or RAVEN"

// gem is a genome-scale metabolic model: its metabolites and reactions in file order.
type gem struct {
	modelFile
	metabolites []gemEntry
	reactions   []gemReaction
	// number of stoichiometric entries added to an earlier one of the same reaction and metabolite
	merged int
}

// modelFile is the file of a model, and a hint for errors in it.
type modelFile struct{ path, hint string }

// fault is an error in a line.
func (f modelFile) fault(line int, format string, args ...any) error {
	err := fmt.Errorf(format, args...)
	return fault.New(fault.Input, cmp.Or(fault.HintOf(err), f.hint), "read model %s:%d: %w", f.path, line, err)
}

// checkIDs returns an error for metabolites or reactions without an id, or with the same.
func (m *gem) checkIDs() error {
	lines := make(map[string]int)
	check := func(what string, entry gemEntry) error {
		first, seen := lines[what+entry.id]
		lines[what+entry.id] = entry.line
		switch {
		case entry.id == "":
			return m.fault(entry.line, "found a %s without an id", what)
		case seen:
			return m.fault(entry.line, "found %s id %q twice, first at line %d", what, entry.id, first)
		}
		return nil
	}
	for _, metabolite := range m.metabolites {
		if err := check("metabolite", metabolite); err != nil {
			return err
		}
	}
	for _, reaction := range m.reactions {
		if err := check("reaction", reaction.gemEntry); err != nil {
			return err
		}
	}
	return nil
}

// gemEntry is the id and line of an entry.
type gemEntry struct {
	id   string
	line int
}

type gemReaction struct {
	gemEntry
	origin        string  // reaction that a node of combinations is made from, or ""
	lower, upper  float64 // flux bounds; NaN if the model has none
	reversible    bool    // it can run in both directions
	ruleText      string
	rule          *gpr.Rule // nil without a rule
	genes         []string  // of the rule, once its names are ids
	subsystem     string    // several are joined by "|"
	stoichiometry []gemCoefficient
	merged        int // coefficients added to an earlier one of the same metabolite
}

// add adds the coefficient of a metabolite, to that which it has already if there is one.
func (r *gemReaction) add(metabolite gemEntry, value float64) {
	for k := range r.stoichiometry {
		if r.stoichiometry[k].metabolite.id == metabolite.id {
			r.stoichiometry[k].value += value
			r.merged++
			return
		}
	}
	r.stoichiometry = append(r.stoichiometry, gemCoefficient{metabolite, value})
}

type gemCoefficient struct {
	metabolite gemEntry
	value      float64 // negative for what the reaction consumes
}

// readGEM reads a model in the format of its name's ending. For YAML it holds the file's tree
// meanwhile, some 15 times the file's size.
func readGEM(files *inputfile.Files, path string) (*gem, error) {
	text, err := readWhole(files, path)
	if err != nil {
		return nil, err
	}
	switch format, _ := table.Format(path); format {
	case ".xml", ".sbml":
		return parseSBML(path, text)
	case ".yml", ".yaml":
		return parseGEM(path, text)
	default:
		return nil, fault.New(fault.Input, "give the file the ending of its format",
			"read model %s: found ending %q, expected .yml, .yaml, .xml or .sbml (also .gz or .zst of these)", path, format)
	}
}

// parseGEM reads YAML from cobrapy and RAVEN.
func parseGEM(path string, text []byte) (*gem, error) {
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
		return nil, fault.New(fault.Input, gemHint, "read model %s%s: %s, expected YAML", path, where, what)
	case second > 0:
		return nil, fault.New(fault.Input, gemHint+"; split the file if it has several",
			"read model %s:%d: found a second YAML document, expected one", path, second)
	case root == nil:
		return nil, fault.New(fault.Input, gemHint, "read model %s: found no YAML document", path)
	}
	r := gemReader{modelFile{path, gemHint}}
	sections, err := r.entries(root)
	if err != nil {
		return nil, err
	}
	for _, name := range []string{"metabolites", "reactions", "genes"} {
		if sections[name] == nil {
			return nil, fault.New(fault.Input, gemHint, "read model %s: found no section %q", path, name)
		}
	}
	model := &gem{modelFile: r.modelFile}
	err = r.each(sections["metabolites"], func(entry gemEntry, _ map[string]*yaml.Node) error {
		model.metabolites = append(model.metabolites, entry)
		return nil
	})
	if err != nil {
		return nil, err
	}
	err = r.each(sections["reactions"], func(entry gemEntry, values map[string]*yaml.Node) error {
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

// readWhole reads a file, and decompresses it as its name says.
func readWhole(files *inputfile.Files, path string) ([]byte, error) {
	file, err := files.Open(path)
	if err != nil {
		return nil, err
	}
	in, err := table.Decompress(path, file.Reader())
	text := bytes.NewBuffer(make([]byte, 0, file.Size()+bytes.MinRead))
	if err == nil {
		defer in.Close()
		if _, readErr := text.ReadFrom(in); readErr != nil {
			err = damaged(path, readErr)
		}
	}
	if changed := file.Unchanged(); changed != nil {
		return nil, changed
	}
	return text.Bytes(), err
}

func damaged(path string, err error) error {
	return fault.New(fault.Input, "download the file again", "read %s: the file is truncated or damaged: %w", path, err)
}

// gemReader reads a model's YAML tree.
type gemReader struct{ modelFile }

// keyValue is a key of a map and its value.
type keyValue struct{ key, value *yaml.Node }

// keyValues returns the content of a map, with unique keys. Models write it as an ordered map: a
// list of maps with one key each.
func (r gemReader) keyValues(node *yaml.Node) (all []keyValue, err error) {
	maps := []*yaml.Node{node}
	if node.Kind == yaml.SequenceNode {
		maps = node.Content
	}
	lines := make(map[string]int)
	for _, m := range maps {
		if m.Kind != yaml.MappingNode {
			return nil, r.fault(m.Line, "found %s, expected keys and their values", describeNode(m))
		}
		for i := 0; i+1 < len(m.Content); i += 2 {
			key := m.Content[i]
			if key.Kind != yaml.ScalarNode {
				return nil, r.fault(key.Line, "found %s, expected a key", describeNode(key))
			}
			if first, again := lines[key.Value]; again {
				return nil, r.fault(key.Line, "found key %q twice, first at line %d", key.Value, first)
			}
			lines[key.Value] = key.Line
			all = append(all, keyValue{key, m.Content[i+1]})
		}
	}
	return all, nil
}

// entries returns keyValues by key.
func (r gemReader) entries(node *yaml.Node) (map[string]*yaml.Node, error) {
	all, err := r.keyValues(node)
	entries := make(map[string]*yaml.Node, len(all))
	for _, p := range all {
		entries[p.key.Value] = p.value
	}
	return entries, err
}

// each visits the entries of a section.
func (r gemReader) each(section *yaml.Node, visit func(entry gemEntry, values map[string]*yaml.Node) error) error {
	if section.Kind != yaml.SequenceNode {
		return r.fault(section.Line, "found %s, expected a list", describeNode(section))
	}
	for _, element := range section.Content {
		values, err := r.entries(element)
		if err != nil {
			return err
		}
		entry := gemEntry{line: element.Line}
		if id := values["id"]; id != nil && id.Kind == yaml.ScalarNode {
			entry = gemEntry{id.Value, id.Line}
		}
		if err := visit(entry, values); err != nil {
			return err
		}
	}
	return nil
}

func (r gemReader) reaction(entry gemEntry, values map[string]*yaml.Node) (reaction gemReaction, err error) {
	reaction.gemEntry = entry
	var errs [3]error
	reaction.lower, errs[0] = r.number(values["lower_bound"])
	reaction.upper, errs[1] = r.number(values["upper_bound"])
	reaction.subsystem, errs[2] = r.texts(values["subsystem"])
	if err := cmp.Or(errs[:]...); err != nil {
		return reaction, err
	}
	reaction.reversible = reaction.lower < 0 && reaction.upper > 0
	if rule := values["gene_reaction_rule"]; rule != nil {
		if rule.Kind != yaml.ScalarNode {
			return reaction, r.fault(rule.Line, "found %s, expected a gene_reaction_rule", describeNode(rule))
		}
		if rule.Tag != "!!null" {
			reaction.ruleText = strings.TrimSpace(rule.Value)
		}
		if reaction.rule, err = gpr.Parse(reaction.ruleText); err != nil {
			return reaction, r.fault(rule.Line, "reaction %s: %w", entry.id, err)
		}
	}
	metabolites := values["metabolites"]
	if metabolites == nil {
		return reaction, r.fault(entry.line, "reaction %s: found no metabolites, expected at least one", entry.id)
	}
	coefficients, err := r.keyValues(metabolites)
	if err != nil {
		return reaction, err
	}
	for _, c := range coefficients {
		value, err := r.number(c.value)
		if err != nil {
			return reaction, err
		}
		if math.IsNaN(value) {
			return reaction, r.fault(c.key.Line, "found no coefficient for metabolite %q", c.key.Value)
		}
		reaction.add(gemEntry{c.key.Value, c.key.Line}, value)
	}
	return reaction, nil
}

// number reads a finite number; a missing or null node gives NaN.
func (r gemReader) number(node *yaml.Node) (float64, error) {
	if node == nil || node.Kind == yaml.ScalarNode && node.Tag == "!!null" {
		return math.NaN(), nil
	}
	if node.Kind == yaml.ScalarNode {
		value, err := decimal.Parse(node.Value)
		if err == nil && !math.IsInf(value, 0) && !math.IsNaN(value) {
			return value, nil
		}
		if errors.Is(err, decimal.ErrTooSmall) {
			return 0, r.fault(node.Line, "found %q, which is %w", node.Value, err)
		}
	}
	return 0, r.fault(node.Line, "found %s, expected a finite number", describeNode(node))
}

// texts reads a text or a list of them, joined by "|"; a missing node gives "".
func (r gemReader) texts(node *yaml.Node) (string, error) {
	switch {
	case node == nil || node.Tag == "!!null":
		return "", nil
	case node.Kind == yaml.ScalarNode:
		return node.Value, nil
	case node.Kind != yaml.SequenceNode:
		return "", r.fault(node.Line, "found %s, expected a text or a list of texts", describeNode(node))
	}
	texts := make([]string, len(node.Content))
	for i, element := range node.Content {
		if element.Kind != yaml.ScalarNode {
			return "", r.fault(element.Line, "found %s, expected a text", describeNode(element))
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
