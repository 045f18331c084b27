package source

import (
	"bytes"
	"cmp"
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
)

const gemHint = "use a complete model in YAML from cobrapy or RAVEN"

// gem is a genome-scale metabolic model: its metabolites and reactions in file order.
type gem struct {
	metabolites []gemEntry
	reactions   []gemReaction
	// number of stoichiometric entries added to an earlier one of the same reaction and metabolite
	merged int
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
	var document yaml.Node
	err := yaml.Unmarshal(text, &document)
	if err != nil {
		document = yaml.Node{}
		if yaml.Unmarshal(quoteNames(text), &document) == nil {
			err = nil
		}
	}
	if err != nil {
		where, what := conf.DescribeSyntax(text, err)
		return nil, fault.New(fault.Input, gemHint, "read model %s%s: %s, expected YAML", path, where, what)
	}
	if len(document.Content) == 0 {
		return nil, fault.New(fault.Input, gemHint, "read model %s: found no YAML document", path)
	}
	r := gemReader{path}
	sections, err := r.entries(document.Content[0])
	if err != nil {
		return nil, err
	}
	for _, name := range []string{"metabolites", "reactions", "genes"} {
		if sections[name] == nil {
			return nil, fault.New(fault.Input, gemHint, "read model %s: found no section %q", path, name)
		}
	}
	model := new(gem)
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
	return model, err
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

// gemReader reads a model's YAML tree; errors name path and line.
type gemReader struct{ path string }

func (r gemReader) fault(node *yaml.Node, format string, args ...any) error {
	return fault.New(fault.Input, gemHint, "read model %s: %w", r.where(node.Line), fmt.Errorf(format, args...))
}

func (r gemReader) where(line int) string { return fmt.Sprintf("%s:%d", r.path, line) }

// keyValue is a key of a map and its value.
type keyValue struct{ key, value *yaml.Node }

// keyValues returns the content of a map. Models write it as an ordered map: a list of maps with
// one key each.
func (r gemReader) keyValues(node *yaml.Node) (all []keyValue, err error) {
	switch node.Kind {
	case yaml.MappingNode:
		for i := 0; i+1 < len(node.Content); i += 2 {
			key := node.Content[i]
			if key.Kind != yaml.ScalarNode {
				return nil, r.fault(key, "found %s, expected a key", describeNode(key))
			}
			all = append(all, keyValue{key, node.Content[i+1]})
		}
	case yaml.SequenceNode:
		for _, element := range node.Content {
			if element.Kind != yaml.MappingNode {
				return nil, r.fault(element, "found %s, expected a key and its value", describeNode(element))
			}
			some, err := r.keyValues(element)
			if err != nil {
				return nil, err
			}
			all = append(all, some...)
		}
	default:
		return nil, r.fault(node, "found %s, expected a map", describeNode(node))
	}
	return all, nil
}

// entries returns keyValues by key; keys must be unique.
func (r gemReader) entries(node *yaml.Node) (map[string]*yaml.Node, error) {
	all, err := r.keyValues(node)
	if err != nil {
		return nil, err
	}
	entries := make(map[string]*yaml.Node, len(all))
	for _, p := range all {
		if earlier := entries[p.key.Value]; earlier != nil {
			return nil, r.fault(p.key, "found key %q twice, first at line %d", p.key.Value, earlier.Line)
		}
		entries[p.key.Value] = p.value
	}
	return entries, nil
}

// each visits the entries of a section. Each must have a unique id.
func (r gemReader) each(section *yaml.Node, visit func(entry gemEntry, values map[string]*yaml.Node) error) error {
	if section.Kind != yaml.SequenceNode {
		return r.fault(section, "found %s, expected a list", describeNode(section))
	}
	lines := make(map[string]int, len(section.Content))
	for _, element := range section.Content {
		values, err := r.entries(element)
		if err != nil {
			return err
		}
		id := values["id"]
		if id == nil || id.Kind != yaml.ScalarNode || id.Value == "" {
			return r.fault(element, "found an entry without an id")
		}
		if line, seen := lines[id.Value]; seen {
			return r.fault(id, "found id %q twice, first at line %d", id.Value, line)
		}
		lines[id.Value] = id.Line
		if err := visit(gemEntry{id.Value, id.Line}, values); err != nil {
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
			return reaction, r.fault(rule, "found %s, expected a gene_reaction_rule", describeNode(rule))
		}
		if rule.Tag != "!!null" {
			reaction.ruleText = strings.TrimSpace(rule.Value)
		}
		if reaction.rule, err = gpr.Parse(reaction.ruleText); err != nil {
			return reaction, fault.New(fault.Input, fault.HintOf(err), "read model %s: reaction %s: %w", r.where(rule.Line), entry.id, err)
		}
	}
	metabolites := values["metabolites"]
	if metabolites == nil {
		return reaction, fault.New(fault.Input, gemHint,
			"read model %s: reaction %s: found no metabolites, expected at least one", r.where(entry.line), entry.id)
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
			return reaction, r.fault(c.key, "found no coefficient for metabolite %q", c.key.Value)
		}
		for _, earlier := range reaction.stoichiometry {
			if earlier.metabolite.id == c.key.Value {
				return reaction, r.fault(c.key, "found metabolite %q twice in reaction %s, first at line %d",
					c.key.Value, entry.id, earlier.metabolite.line)
			}
		}
		reaction.stoichiometry = append(reaction.stoichiometry, gemCoefficient{gemEntry{c.key.Value, c.key.Line}, value})
	}
	return reaction, nil
}

// number reads a finite number; a missing or null node gives NaN.
func (r gemReader) number(node *yaml.Node) (float64, error) {
	if node == nil || node.Kind == yaml.ScalarNode && node.Tag == "!!null" {
		return math.NaN(), nil
	}
	if node.Kind == yaml.ScalarNode {
		value, err := strconv.ParseFloat(node.Value, 64)
		if err == nil && !math.IsInf(value, 0) && !math.IsNaN(value) {
			return value, nil
		}
	}
	return 0, r.fault(node, "found %s, expected a finite number", describeNode(node))
}

// texts reads a text or a list of them, joined by "|"; a missing node gives "".
func (r gemReader) texts(node *yaml.Node) (string, error) {
	switch {
	case node == nil || node.Tag == "!!null":
		return "", nil
	case node.Kind == yaml.ScalarNode:
		return node.Value, nil
	case node.Kind != yaml.SequenceNode:
		return "", r.fault(node, "found %s, expected a text or a list of texts", describeNode(node))
	}
	texts := make([]string, len(node.Content))
	for i, element := range node.Content {
		if element.Kind != yaml.ScalarNode {
			return "", r.fault(element, "found %s, expected a text", describeNode(element))
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
