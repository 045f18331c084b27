package combinations

import (
	"fmt"
	"path/filepath"
	"strconv"
	"strings"

	"tcbuild/fault"
	"tcbuild/ingest"
	"tcbuild/ingest/inputfile"
	"tcbuild/ingest/names"
)

// Open makes the set that a spec describes, for the genes of a graph. Names in the gene list that
// are not in the graph are an error or dropped. A gene listed twice counts once. An unreadable list
// is a fault.Input, an impossible k or range a fault.Usage, and so is drop-sample: samples are
// numbered without the dropped genes.
func Open(spec Spec, genes *names.Resolver, unknown ingest.UnknownGenes) (*Set, error) {
	if unknown == ingest.DropSample {
		return nil, fault.New(fault.Usage,
			"pass --unknown-genes drop-gene, which removes such genes from the list",
			"read perturbations %s: found unknown_genes drop-sample, expected error or drop-gene",
			spec.name)
	}
	file, err := inputfile.Open(spec.Genes)
	if err != nil {
		return nil, err
	}
	s := &Set{k: spec.K, file: file}
	if err := s.prepare(spec, genes, unknown); err != nil {
		file.Close()
		return nil, err
	}
	return s, nil
}

// prepare reads the gene list and checks k and the range.
func (s *Set) prepare(spec Spec, genes *names.Resolver, unknown ingest.UnknownGenes) error {
	list, err := genes.ReadList(s.file, unknown == ingest.DropGene)
	if err != nil {
		return fault.New(fault.KindOf(err), fault.HintOf(err)+"; or pass --unknown-genes drop-gene",
			"%w", err)
	}
	s.genes = list.Genes
	s.account.Add(ingest.UnknownLeftOut, "", list.Unknown)
	s.account.Add(ingest.RepeatedGene, "", list.Repeated)
	if s.k < 1 || s.k > len(s.genes) {
		return fault.New(fault.Usage, hint,
			"read perturbations %s: found k = %d, expected 1 to the %d genes of %s",
			spec.name, s.k, len(s.genes), spec.Genes)
	}
	var fits bool
	if s.total, fits = binomial(len(s.genes), s.k); !fits {
		return fault.New(fault.Usage, "give fewer genes or a smaller k",
			"read perturbations %s: found %s genes with about %s subsets of %d, "+
				"expected at most 2^63",
			spec.name, ingest.Grouped(len(s.genes)), aboutBinomial(len(s.genes), s.k), s.k)
	}
	if spec.Range == nil {
		spec.Range = &Range{0, s.total}
	}
	if spec.Range.First < 0 || spec.Range.First >= spec.Range.End || spec.Range.End > s.total {
		return fault.New(fault.Usage, "subsets are numbered from 0, and END is not included",
			"read perturbations %s: found range %d to %d, expected one within 0 to %d", spec.name,
			spec.Range.First, spec.Range.End, s.total)
	}
	if samples := spec.Range.End - spec.Range.First; samples > ingest.MostSamples {
		return fault.New(fault.Usage,
			"choose some of them, such as the first million: "+spec.all()+":0:1000000",
			"read perturbations %s: found %s samples, expected at most the %s that a dataset holds",
			spec.name, ingest.Grouped(samples), ingest.Grouped(ingest.MostSamples))
	}
	s.first, s.account.Kept = spec.Range.First, spec.Range.End-spec.Range.First
	s.account.Rows = s.account.Kept
	s.account.Repeats.Genotypes = s.account.Kept // as the list's genes are distinct
	s.input = s.file.Input(fmt.Sprintf("%s%s:%d:%d:%d", prefix, filepath.Base(spec.Genes), s.k,
		spec.Range.First, spec.Range.End))
	return nil
}

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
	hint   = "all triples of the genes in a file are combinations:genes.txt:3, " +
		"the first million of them combinations:genes.txt:3:0:1000000"
)

// all names the set of all combinations.
func (s Spec) all() string { return fmt.Sprintf("%s%s:%d", prefix, s.Genes, s.K) }

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
		return Spec{Genes: strings.Join(words[:len(words)-3], ":"), K: numbers[0],
			Range: &Range{numbers[1], numbers[2]}, name: name}, nil
	}
	return Spec{}, fault.New(fault.Usage, hint,
		"read perturbations %s: expected combinations:FILE:K or combinations:FILE:K:FIRST:END",
		name)
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
