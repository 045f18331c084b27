package combinations

import (
	"cmp"
	"fmt"
	"path/filepath"
	"slices"
	"strconv"
	"strings"

	"github.com/dustin/go-humanize"

	"tcbuild/fault"
	"tcbuild/ingest"
	"tcbuild/ingest/inputfile"
	"tcbuild/ingest/table"
)

// Open makes the set that a spec describes, for the genes of a graph. Names in the gene list that
// are not in the graph are an error or dropped. A gene listed twice counts once. An unreadable list
// is a fault.Input, an impossible k or range a fault.Usage, and so is drop-sample: samples are
// numbered without the dropped genes.
func Open(spec Spec, genes *ingest.Nodes, unknown ingest.UnknownGenes) (*Set, error) {
	if unknown == ingest.DropSample {
		return nil, fault.New(fault.Usage, "pass --unknown-genes drop-gene, which removes such genes from the list",
			"read perturbations %s: found unknown_genes drop-sample, expected error or drop-gene", spec.name)
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
func (s *Set) prepare(spec Spec, genes *ingest.Nodes, unknown ingest.UnknownGenes) error {
	var err error
	const otherwise = ", or pass --unknown-genes drop-gene"
	if s.genes, err = ReadGenes(s.file, genes, unknown, otherwise, &s.counts); err != nil {
		return err
	}
	if s.k < 1 || s.k > len(s.genes) {
		return fault.New(fault.Usage, hint, "read perturbations %s: found k = %d, expected 1 to the %d genes of %s",
			spec.name, s.k, len(s.genes), spec.Genes)
	}
	var fits bool
	if s.total, fits = binomial(len(s.genes), s.k); !fits {
		return fault.New(fault.Usage, "give fewer genes or a smaller k",
			"read perturbations %s: found %s genes with about %s subsets of %d, expected at most 2^63",
			spec.name, humanize.Comma(int64(len(s.genes))), aboutBinomial(len(s.genes), s.k), s.k)
	}
	if spec.Range == nil {
		spec.Range = &Range{0, s.total}
	}
	if spec.Range.First < 0 || spec.Range.First >= spec.Range.End || spec.Range.End > s.total {
		return fault.New(fault.Usage, "subsets are numbered from 0, and END is not included",
			"read perturbations %s: found range %d to %d, expected one within 0 to %d", spec.name, spec.Range.First, spec.Range.End, s.total)
	}
	if samples := spec.Range.End - spec.Range.First; samples > ingest.MostSamples {
		return fault.New(fault.Usage,
			"choose some of them, such as the first million: "+spec.all()+":0:1000000",
			"read perturbations %s: found %s samples, expected at most the %s that a dataset holds",
			spec.name, humanize.Comma(int64(samples)), humanize.Comma(ingest.MostSamples))
	}
	s.first, s.counts.Samples = spec.Range.First, spec.Range.End-spec.Range.First
	s.counts.Genotypes = s.counts.Samples // as the list's genes are distinct
	s.input = s.file.Input(fmt.Sprintf("%s%s:%d:%d:%d", prefix, filepath.Base(spec.Genes), s.k, spec.Range.First, spec.Range.End))
	return nil
}

// ReadGenes reads a gene list: the genes of a graph, each once, in the order of their first names.
// It counts unknown genes, unless they are an error, and repeated ones. The hint for an unknown
// gene ends with otherwise.
func ReadGenes(file *inputfile.File, genes *ingest.Nodes, unknown ingest.UnknownGenes,
	otherwise string, counts *ingest.Counts) (list []uint32, err error) {
	r, column, err := openGenes(file)
	if err != nil {
		return nil, err
	}
	defer r.Close()
	listed := make(map[uint32]bool)
	err = r.Each(func(b *table.Batch, i int) error {
		id := b.Text(column, i)
		gene, known := genes.IndexBytes(id)
		if err := ingest.CheckGeneName(id); err != nil && !known {
			return fmt.Errorf("read genes %s: %w", r.Where(b.First+int64(i)), err)
		}
		switch {
		case !known && unknown == ingest.DropGene:
			counts.UnknownGenes++
		case !known && ingest.IsDate(id):
			return fault.New(fault.Input, ingest.DateHint,
				"read genes %s: found gene %s, expected an id", r.Where(b.First+int64(i)), ingest.QuoteGene(id))
		case !known:
			hint := cmp.Or(genes.Alike(string(id)), "correct the name, or add it to nodes/gene"+otherwise)
			return fault.New(fault.Input, hint, "read genes %s: gene %s is not in nodes/gene, expected one of its %d ids",
				r.Where(b.First+int64(i)), ingest.QuoteGene(id), genes.Len())
		case listed[gene]:
			counts.RepeatedGenes++
		default:
			listed[gene] = true
			list = append(list, gene)
		}
		return nil
	})
	return list, err
}

// openGenes opens a gene list: a table with a column id, or text without a header and with one gene
// per line.
func openGenes(file *inputfile.File) (r *table.Reader, column int, err error) {
	head, err := table.Head(file, 1, table.TextOptions{})
	var options table.TextOptions
	if err == nil && len(head) == 1 && len(head[0]) == 1 && head[0][0] != "id" {
		options.Columns = []string{"id"} // its first line is a gene, which can have a comma in its name
	}
	if r, err = table.OpenFile(file, options); err != nil {
		return nil, 0, err
	}
	if column = slices.Index(r.Columns(), "id"); column >= 0 {
		return r, column, nil
	}
	r.Close()
	return nil, 0, fault.New(fault.Input,
		"name the gene column id, or use text with one gene per line; in .csv, put names with commas in quotes",
		"read genes %s: found columns %s, expected id", file.Path(), fault.List(r.Columns()))
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
	hint   = "all triples of the genes in a file are combinations:genes.txt:3, the first million of them combinations:genes.txt:3:0:1000000"
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
