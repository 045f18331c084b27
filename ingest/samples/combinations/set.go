// Package combinations makes perturbation sets that delete every combination of k genes in a list,
// such as all triples, for inference. Samples are computed from their number and never stored.
package combinations

import (
	"context"
	"fmt"
	"iter"
	"math"
	"math/bits"
	"slices"
	"strconv"

	"tcbuild/ingest"
	"tcbuild/ingest/inputfile"
)

const batchSize = 4096 // samples per batch

// Set is a range of the k-subsets of a gene list. Subsets are in the lexicographic order of list
// positions, as in Python's itertools.combinations(genes, k). Their numbers, from 0, are the sample
// ids, whatever the range. Samples have no phenotypes. Set implements ingest.SampleSource, and is
// immutable and safe for concurrent use.
type Set struct {
	genes   []uint32 // in the list's order; distinct
	k       int
	total   int             // subsets of the whole list
	first   int             // number of the subset that is sample 0
	account ingest.Account  // of a whole pass
	file    *inputfile.File // the gene list
	input   ingest.Input
}

// Columns returns none.
func (s *Set) Columns() ingest.Columns { return ingest.Columns{} }

// Inputs identifies the gene list by its file's content and a name with k and the range.
func (s *Set) Inputs() []ingest.Input { return []ingest.Input{s.input} }

// Unchanged checks the gene list's file.
func (s *Set) Unchanged() error { return s.file.Unchanged() }

// Place names a sample.
func (s *Set) Place(row int64) (string, error) { return fmt.Sprintf("sample %d", row), nil }

// Close closes the gene list's file.
func (s *Set) Close() error { return s.file.Close() }

// Genes is the number of distinct genes of the list that are in the graph.
func (s *Set) Genes() int { return len(s.genes) }

// Account returns the account of a whole pass. Unknown and repeated genes are counted in the list.
func (s *Set) Account() ingest.Account { return s.account }

// Batches computes all samples. The first one takes as many steps as the list has genes.
func (s *Set) Batches(
	ctx context.Context, account *ingest.Account,
) iter.Seq2[*ingest.Samples, error] {
	return func(yield func(*ingest.Samples, error) bool) {
		known := s.account
		known.Rows, known.Kept = 0, 0
		account.Merge(&known)
		subset, genotype := make([]int, s.k), make([]uint32, s.k)
		unrank(subset, len(s.genes), s.first, s.total)
		var id [20]byte
		for sample := 0; sample < s.account.Kept; {
			if ctx.Err() != nil {
				yield(nil, context.Cause(ctx))
				return
			}
			batch := ingest.NewSamples(sample, ingest.Columns{}, batchSize)
			for ; sample < s.account.Kept && batch.Len() < batchSize; sample++ {
				for i, place := range subset {
					genotype[i] = s.genes[place]
				}
				slices.Sort(genotype)
				number := strconv.AppendInt(id[:0], int64(s.first+sample), 10)
				batch.Append(number, genotype, nil, nil)
				if sample < s.account.Kept-1 {
					advance(subset, len(s.genes))
				}
			}
			account.Rows += batch.Len()
			account.Kept += batch.Len()
			if !yield(batch, nil) {
				return
			}
		}
	}
}

// binomial is the number of k-subsets of n elements; ok is false if it does not fit.
func binomial(n, k int) (count int, ok bool) {
	k = min(k, n-k)
	c := uint64(1)
	for i := 1; i <= k; i++ { // c at least doubles each time, so few steps suffice
		high, low := bits.Mul64(c, uint64(n-k+i))
		if high >= uint64(i) {
			return 0, false
		}
		if c, _ = bits.Div64(high, low, uint64(i)); c > math.MaxInt64 {
			return 0, false
		}
	}
	return int(c), true
}

// aboutBinomial writes the number of k-subsets of n elements with two digits, as in 1.2 × 10^82.
func aboutBinomial(n, k int) string {
	log10 := func(n int) float64 { // of the factorial
		log, _ := math.Lgamma(float64(n) + 1)
		return log / math.Ln10
	}
	exponent, fraction := math.Modf(log10(n) - log10(k) - log10(n-k))
	return fmt.Sprintf("%.1f × 10^%.0f", math.Pow(10, fraction), exponent)
}

// unrank sets subset to the k-subset of 0 to n-1, k = len(subset), that has the given rank in
// lexicographic order, 0 <= rank < total = binomial(n, k). For each element it counts the remaining
// subsets that start with it, so it takes at most n steps.
func unrank(subset []int, n, rank, total int) {
	left := uint64(total) // subsets of the elements from element on
	for i, element := 0, 0; i < len(subset); element++ {
		// binomial(m, j) * j / m = binomial(m-1, j-1): those that start with element
		high, low := bits.Mul64(left, uint64(len(subset)-i))
		begin, _ := bits.Div64(high, low, uint64(n-element))
		if uint64(rank) < begin {
			subset[i] = element
			left = begin
			i++
		} else {
			rank -= int(begin)
			left -= begin
		}
	}
}

// advance makes subset the next one in lexicographic order. It must not be the last.
func advance(subset []int, n int) {
	k := len(subset)
	i := k - 1
	for subset[i] == n-k+i {
		i--
	}
	subset[i]++
	for i++; i < k; i++ {
		subset[i] = subset[i-1] + 1
	}
}
