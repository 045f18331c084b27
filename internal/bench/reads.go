package bench

import (
	"context"
	"math/rand/v2"
	"runtime"
	"slices"
	"time"

	"tcbuild/encode"
	"tcbuild/incidence"
	"tcbuild/ingest"
	"tcbuild/store"
)

const (
	passSamples = 1000            // number of samples in a pass
	passTime    = 3 * time.Second // time limit of a pass
)

// readDataset opens a dataset and reads its first sample, in open seconds. Then it reads the whole
// masks of some samples in random order, which seed chooses, twice: to warm up, and to return the
// milliseconds for each.
func readDataset(ctx context.Context, dir string, samples int, seed uint64) (open, milliseconds float64, err error) {
	order := rand.New(rand.NewPCG(seed, 0)).Perm(samples)
	order = order[:min(len(order), passSamples)]
	runtime.GC()
	start := time.Now()
	dataset, err := store.Open(dir)
	if err != nil {
		return 0, 0, err
	}
	reader, err := newMasks(ctx, dataset)
	if err != nil {
		return 0, 0, err
	}
	defer reader.close()
	if _, err := reader.whole(order[0]); err != nil {
		return 0, 0, err
	}
	open = time.Since(start).Seconds()
	if _, err := reader.pass(ctx, order); err != nil {
		return 0, 0, err
	}
	milliseconds, err = reader.pass(ctx, order)
	return open, milliseconds, err
}

// masks reads whole masks from a dataset.
type masks struct {
	// one byte per position: 1 keep, 0 removed; valid until the next call
	whole func(sample int) ([]byte, error)
	close func()
}

// pass reads samples until there are no more or the time is up, and returns the milliseconds for
// each.
func (m *masks) pass(ctx context.Context, order []int) (float64, error) {
	start, samples := time.Now(), 0
	for _, sample := range order {
		if _, err := m.whole(sample); err != nil {
			return 0, err
		}
		samples++
		if time.Since(start) > passTime || ctx.Err() != nil {
			break
		}
	}
	return 1000 * time.Since(start).Seconds() / float64(samples), context.Cause(ctx)
}

// newMasks opens a dataset for reading whole masks.
func newMasks(ctx context.Context, dataset *store.Dataset) (*masks, error) {
	size := dataset.Manifest.MaskPositions()
	if dataset.Manifest.Variant == store.Incidence {
		graph, err := dataset.Graph()
		if err != nil {
			return nil, err
		}
		cache, err := dataset.Incidence()
		if err != nil {
			return nil, err
		}
		rules, err := incidence.ReadRules(graph, dataset.Manifest.Options.ReactionRule)
		if err != nil {
			return nil, err
		}
		var own []byte
		var genes [][]uint32 // of each sample
		remover := incidence.NewRemover(graph, cache, rules)
		err = dataset.EachSample(ctx, func(_ int, sample *ingest.Sample) error {
			genes = append(genes, slices.Clone(sample.Genes))
			return nil
		})
		return &masks{func(sample int) ([]byte, error) {
			own = encode.Fill(own, size)
			for _, position := range remover.Removed(genes[sample]) {
				own[position] = 0
			}
			return own, nil
		}, func() {}}, err
	}
	codec, err := encode.Find(dataset.Manifest.Mode(), dataset.Manifest.Codec)
	if err != nil {
		return nil, err
	}
	reader, decoder := dataset.NewReader(), codec.NewDecoder(size)
	return &masks{func(sample int) ([]byte, error) {
		payload, err := reader.Payload(sample)
		if err != nil {
			return nil, err
		}
		return decoder.Masks(payload)
	}, reader.Close}, nil
}
