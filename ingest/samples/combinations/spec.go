package combinations

import (
	"fmt"
	"path/filepath"
	"strconv"
	"strings"

	"go.yaml.in/yaml/v4"

	"tcbuild/conf"
	"tcbuild/fault"
)

// Spec says which combinations a set has; in a settings file it is the section combinations.
type Spec struct {
	Genes string `yaml:"genes"` // a file: one gene per line, or a table with a column id (required)
	K     int    `yaml:"k"`     // the number of genes that each sample deletes (required)
	Range *Range `yaml:"range"` // [FIRST, END]: the subsets FIRST to END-1, from 0 (default: all)
}

// Range is the subsets First to End-1. In settings it is [First, End], or the text "[First, End)".
type Range struct{ First, End int }

// UnmarshalYAML reads a range from settings.
func (r *Range) UnmarshalYAML(node *yaml.Node) error {
	found := node.Value
	words := strings.Split(strings.TrimSuffix(strings.TrimPrefix(found, "["), ")"), ",")
	if node.Kind == yaml.SequenceNode {
		words, found = nil, "a list"
		for _, element := range node.Content {
			words = append(words, element.Value)
		}
	}
	if len(words) == 2 {
		first, err1 := strconv.Atoi(strings.TrimSpace(words[0]))
		end, err2 := strconv.Atoi(strings.TrimSpace(words[1]))
		if err1 == nil && err2 == nil {
			*r = Range{first, end}
			return nil
		}
	}
	return fault.New(fault.Usage, "subsets are numbered from 0, and END is not included",
		"read settings %s: range: found %s, expected [FIRST, END]", conf.Where(node), found)
}

const (
	prefix = "combinations:"
	hint   = "all triples of the genes in a file are combinations:genes.txt:3, the first million of them combinations:genes.txt:3:0:1000000"
)

// Name returns the spec's name in the form that ParseName reads, without a settings file.
func (s Spec) Name() string {
	name := fmt.Sprintf("%s%s:%d", prefix, s.Genes, s.K)
	if s.Range != nil {
		name += fmt.Sprintf(":%d:%d", s.Range.First, s.Range.End)
	}
	return name
}

// IsName reports whether a perturbation set's name is one for ParseName.
func IsName(name string) bool {
	extension := filepath.Ext(name)
	return strings.HasPrefix(name, prefix) || extension == ".yaml" || extension == ".yml"
}

// ParseName reads combinations:FILE:K, combinations:FILE:K:FIRST:END, or a settings file with a
// section combinations. A wrong name is a fault.Usage.
func ParseName(name string) (Spec, error) {
	rest, plain := strings.CutPrefix(name, prefix)
	if !plain {
		return readSettings(name)
	}
	words := strings.Split(rest, ":")
	numbers := trailingNumbers(words)
	switch {
	case len(numbers) == 1 && len(words) > 1:
		return Spec{Genes: strings.Join(words[:len(words)-1], ":"), K: numbers[0]}, nil
	case len(numbers) == 3 && len(words) > 3:
		return Spec{Genes: strings.Join(words[:len(words)-3], ":"), K: numbers[0], Range: &Range{numbers[1], numbers[2]}}, nil
	}
	return Spec{}, fault.New(fault.Usage, hint,
		"read perturbations %s: expected combinations:FILE:K or combinations:FILE:K:FIRST:END", name)
}

// trailingNumbers returns the numbers at the end of words, at most three.
func trailingNumbers(words []string) []int {
	var numbers []int
	for i := len(words) - 1; i >= 0 && len(numbers) < 3; i-- {
		n, err := strconv.Atoi(words[i])
		if err != nil {
			break
		}
		numbers = append([]int{n}, numbers...)
	}
	return numbers
}

func readSettings(path string) (Spec, error) {
	settings, err := conf.Load(path, nil)
	if err != nil {
		return Spec{}, err
	}
	var file struct {
		Combinations *Spec `yaml:"combinations"`
	}
	for _, entry := range settings.Entries() {
		if entry.Key != "combinations" && !entry.Referenced {
			return Spec{}, fault.New(fault.Usage, hint,
				"read settings %s: found %q, expected only combinations", conf.Where(entry.Value), entry.Key)
		}
	}
	if err := settings.Decode(&file); err != nil {
		return Spec{}, err
	}
	if file.Combinations == nil {
		return Spec{}, fault.New(fault.Usage, hint, "read perturbations %s: found no section combinations", path)
	}
	return *file.Combinations, nil
}
