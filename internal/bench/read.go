package bench

import (
	"context"
	"io/fs"
	"math/rand/v2"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"time"

	"golang.org/x/sys/unix"

	"tcbuild/encode"
	"tcbuild/store"
)

const (
	passSamples = 1000            // number of samples in a pass
	passTime    = 3 * time.Second // time limit of a pass
)

// reading is what reading a dataset took: until its first sample was there, and then per sample.
type reading struct{ open, seconds, cpuSeconds float64 }

// readDataset reads the whole masks of some samples, in a random order that seed chooses: after
// the files were dropped from the page cache, and again warm. Cold is zero where they stayed there.
func readDataset(
	ctx context.Context, dir string, samples int, seed uint64,
) (cold, warm reading, err error) {
	order := rand.New(rand.NewPCG(seed, 0)).Perm(samples)
	order = order[:min(len(order), passSamples)]
	if err := dropCached(dir); err != nil {
		return cold, warm, err
	}
	before := usage().Inblock // also of network file systems
	if cold, err = openAndRead(ctx, dir, order, 1); err != nil {
		return cold, warm, err
	}
	if usage().Inblock == before {
		cold = reading{}
	}
	warm, err = openAndRead(ctx, dir, order, 2)
	return cold, warm, err
}

// CPUPerSample returns the CPU seconds that tcbuild's reader in Go takes for a sample's whole
// masks, from the page cache: of a few samples, so that it takes milliseconds besides opening the
// dataset.
func CPUPerSample(ctx context.Context, dataset string, samples int) (float64, error) {
	random := rand.New(rand.NewPCG(0, 0))
	order := make([]int, 256)
	for i := range order {
		order[i] = random.IntN(samples)
	}
	warm, err := openAndRead(ctx, dataset, order, 2)
	return warm.cpuSeconds, err
}

// dropCached drops a dataset's files from the page cache: they are synced, and nothing maps them.
func dropCached(dir string) error {
	return filepath.WalkDir(dir, func(path string, entry fs.DirEntry, err error) error {
		if err != nil || entry.IsDir() {
			return err
		}
		file, err := os.Open(path)
		if err != nil {
			return err
		}
		defer file.Close()
		return unix.Fadvise(int(file.Fd()), 0, 0, unix.FADV_DONTNEED)
	})
}

// openAndRead opens a dataset, and returns what the last of some passes took.
func openAndRead(ctx context.Context, dir string, order []int, passes int) (r reading, err error) {
	runtime.GC()
	start := time.Now()
	dataset, err := store.Open(dir)
	if err != nil {
		return r, err
	}
	reader, err := newMasks(dataset, order)
	if err != nil {
		return r, err
	}
	defer reader.close()
	if _, err := reader.whole(order[0]); err != nil {
		return r, err
	}
	r.open = time.Since(start).Seconds()
	for range passes {
		if r.seconds, r.cpuSeconds, err = reader.pass(ctx, order); err != nil {
			return r, err
		}
	}
	return r, nil
}

type masks struct {
	// one byte per position: 1 keep, 0 removed; valid until the next call
	whole func(sample int) ([]byte, error)
	close func()
}

// pass reads samples until there are no more or the time is up, and returns the seconds and CPU
// seconds for each.
func (m *masks) pass(ctx context.Context, order []int) (seconds, cpu float64, err error) {
	start, before, samples := time.Now(), cpuSeconds(), 0.0
	for _, sample := range order {
		if _, err := m.whole(sample); err != nil {
			return 0, 0, err
		}
		samples++
		if time.Since(start) > passTime || ctx.Err() != nil {
			break
		}
	}
	seconds, cpu = time.Since(start).Seconds(), cpuSeconds()-before
	return seconds / samples, cpu / samples, context.Cause(ctx)
}

// newMasks makes a reader of some samples.
func newMasks(dataset *store.Dataset, some []int) (*masks, error) {
	size, reader := dataset.Manifest.MaskPositions(), dataset.NewReader()
	if dataset.Manifest.Variant == store.Incidence {
		defer reader.Close()
		remover, err := dataset.NewRemover()
		if err != nil {
			return nil, err
		}
		own := encode.Fill(nil, size)
		var zeros []uint32              // in own
		genes := make(map[int][]uint32) // by sample
		for _, sample := range slices.Sorted(slices.Values(some)) {
			row, err := reader.Row(sample)
			if err != nil {
				return nil, err
			}
			genes[sample] = slices.Clone(row.Genes)
		}
		return &masks{func(sample int) ([]byte, error) {
			for _, position := range zeros { // as the decoders do: filling takes far longer
				own[position] = 1
			}
			zeros = remover.Removed(genes[sample])
			for _, position := range zeros {
				own[position] = 0
			}
			return own, nil
		}, func() {}}, nil
	}
	codec, err := encode.Find(dataset.Manifest.Mode(), dataset.Manifest.Codec)
	if err != nil {
		return nil, err
	}
	decoder := codec.NewDecoder(size)
	return &masks{func(sample int) ([]byte, error) {
		payload, err := reader.Payload(sample)
		if err != nil {
			return nil, err
		}
		return decoder.Masks(payload)
	}, reader.Close}, nil
}
