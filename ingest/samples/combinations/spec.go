package combinations

import (
	"strconv"
	"strings"

	"tcbuild/fault"
)

// Spec says which combinations a set has.
type Spec struct {
	Genes string // file with one gene per line, or a table with a column id
	K     int    // number of genes that each sample deletes
	Range *Range // nil for all

	name string
}

// Range is the subsets First to End-1, numbered from 0.
type Range struct{ First, End int }

const (
	prefix = "combinations:"
	hint   = "all triples of the genes in a file are combinations:genes.txt:3, the first million of them combinations:genes.txt:3:0:1000000"
)

// IsName reports whether a perturbation set's name is one for ParseName.
func IsName(name string) bool { return strings.HasPrefix(name, prefix) }

// ParseName reads combinations:FILE:K or combinations:FILE:K:FIRST:END. A wrong name is a
// fault.Usage.
func ParseName(name string) (Spec, error) {
	words := strings.Split(strings.TrimPrefix(name, prefix), ":")
	numbers := trailingNumbers(words)
	switch {
	case len(numbers) == 1 && len(words) > 1:
		return Spec{Genes: strings.Join(words[:len(words)-1], ":"), K: numbers[0], name: name}, nil
	case len(numbers) == 3 && len(words) > 3:
		return Spec{Genes: strings.Join(words[:len(words)-3], ":"), K: numbers[0], Range: &Range{numbers[1], numbers[2]}, name: name}, nil
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
