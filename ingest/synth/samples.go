package synth

import (
	"context"
	"fmt"
	"iter"
	"math"
	"slices"
	"strconv"

	"github.com/cespare/xxhash/v2"

	"tcbuild/ingest"
)

const batchSize = 1024 // samples per batch

// samples is a perturbation set that is computed, not stored.
type samples struct {
	count     int
	seed      uint64
	deletable []uint32
}

// Samples returns the first count samples of the endless perturbation set that goes with
// Graph(scale, seed). Each deletes 2 genes (1 in 8) or 3, and has a fitness in [0.2, 1.1] and a
// gene_interaction in [-0.4, 0.2], missing for 1 in 8. Genes and values are independent. A sample
// depends only on the scale, the seed and its index; its id is its index. Memory does not grow with
// count; a million samples take about 0.2 s.
func Samples(scale Scale, seed uint64, count int) ingest.SampleSource {
	return &samples{count: count, seed: seed ^ xxhash.Sum64String("samples"),
		deletable: deletableGenes(scale, seed)}
}

// deletableGenes returns the genes that are not essential, ascending. Essential genes, without
// which no strain survives, are more often hubs than others.
func deletableGenes(scale Scale, seed uint64) []uint32 {
	r := newRandom(seed, "essential")
	table := newHubs(rankedGenes(scale, seed), scale.genes/20)
	essential := make([]bool, scale.genes)
	for count := 0; count < scale.essential; {
		if gene := table.draw(r); !essential[gene] {
			essential[gene] = true
			count++
		}
	}
	deletable := make([]uint32, 0, scale.genes-scale.essential)
	for gene := range uint32(scale.genes) {
		if !essential[gene] {
			deletable = append(deletable, gene)
		}
	}
	return deletable
}

func (s *samples) Columns() ingest.Columns {
	return ingest.Columns{Phenotypes: ingest.NamedPhenotypes("fitness", "gene_interaction")}
}

// Inputs returns none, because nothing is read.
func (s *samples) Inputs() []ingest.Input { return nil }

func (s *samples) Unchanged() error { return nil }

func (s *samples) Place(row int64) (string, error) { return fmt.Sprintf("sample %d", row), nil }

func (s *samples) Close() error { return nil }

func (s *samples) Batches(
	ctx context.Context, account *ingest.Account,
) iter.Seq2[*ingest.Samples, error] {
	return func(yield func(*ingest.Samples, error) bool) {
		for first := 0; first < s.count; first += batchSize {
			if ctx.Err() != nil {
				yield(nil, context.Cause(ctx))
				return
			}
			size := min(batchSize, s.count-first)
			batch := ingest.NewSamples(first, s.Columns(), size)
			for i := first; i < first+size; i++ {
				s.appendSample(batch, i)
			}
			account.Rows += size
			account.Kept += size
			if !yield(batch, nil) {
				return
			}
		}
	}
}

func (s *samples) appendSample(batch *ingest.Samples, index int) {
	var r random
	r.pcg.Seed(s.seed, uint64(index))

	count := 3
	if r.below(8) == 0 {
		count = 2
	}
	var space [3]uint32
	genes := space[:0]
	for len(genes) < count {
		genes = appendNew(genes, s.deletable[r.below(len(s.deletable))])
	}
	slices.Sort(genes)

	fitness := float64(200+r.below(301)+r.below(301)+r.below(301)) / 1000
	interaction := float64(r.below(301)+r.below(301)-400) / 1000
	if r.below(8) == 0 {
		interaction = math.NaN()
	}
	var id [20]byte
	batch.Append(strconv.AppendInt(id[:0], int64(index), 10), genes,
		[]float64{fitness, interaction}, nil)
}
