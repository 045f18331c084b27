package source

import (
	"fmt"
	"io"
	"path/filepath"
	"strings"

	"github.com/klauspost/compress/gzip"
	"go.yaml.in/yaml/v3"

	"tcbuild/fault"
	"tcbuild/ingest/gpr"
	"tcbuild/ingest/inputfile"
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
	switch format := filepath.Ext(strings.TrimSuffix(strings.ToLower(path), ".gz")); format {
	case ".xml", ".sbml":
		return parseSBML(path, text)
	case ".txt":
		return parseGEMText(path, text)
	case ".yml", ".yaml":
		return parseGEM(path, text)
	default:
		return nil, fault.New(fault.Input, "give the file the ending of its format",
			"read model %s: found ending %q, expected .yml, .yaml, .xml, .sbml or .txt (also .gz of these)", path, format)
	}
}

// parseGEM reads YAML from cobrapy and RAVEN.

func parseGEM(path string, text []byte) (*gem, error) {
	var document yaml.Node
	if err := yaml.Unmarshal(text, &document); err != nil {
		return nil, yamlError(path, err)
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

// readWhole reads a file, and decompresses it if its name ends in .gz.
func readWhole(files *inputfile.Files, path string) ([]byte, error) {
	file, err := files.Open(path)
	if err != nil {
		return nil, err
	}
	var in io.Reader = file.Reader()
	if strings.HasSuffix(path, ".gz") {
		in, err = gzip.NewReader(in)
	}
	var text []byte
	if err == nil {
		text, err = io.ReadAll(in)
	}
	if changed := file.Unchanged(); changed != nil {
		return nil, changed
	}
	if err != nil {
		return nil, damaged(path, err)
	}
	return text, nil
}

func damaged(path string, err error) error {
	return fault.New(fault.Input, "download the file again", "read model %s: the file is truncated or damaged: %w", path, err)
}

// yamlError moves the line of a syntax error, which the YAML library writes as "yaml: line 12: …",
// to the path.
func yamlError(path string, err error) error {
	place, message := path, strings.TrimPrefix(err.Error(), "yaml: ")
	var line int
	if n, _ := fmt.Sscanf(message, "line %d: ", &line); n == 1 {
		_, message, _ = strings.Cut(message, ": ")
		place = fmt.Sprintf("%s:%d", path, line)
	}
	return fault.New(fault.Input, gemHint, "read model %s: %s, expected YAML", place, message)
}
