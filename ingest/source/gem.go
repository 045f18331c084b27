package source

import (
	"bytes"
	"regexp"
	"strconv"

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
