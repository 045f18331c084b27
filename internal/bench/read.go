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
	"tcbuild/ingest"
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
	reader, err := newMasks(ctx, dataset)
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

func newMasks(ctx context.Context, dataset *store.Dataset) (*masks, error) {
	size := dataset.Manifest.MaskPositions()
	if dataset.Manifest.Variant == store.Incidence {
		remover, err := dataset.NewRemover()
		if err != nil {
			return nil, err
		}
		own := encode.Fill(nil, size)
		var zeros []uint32   // in own
		var genes [][]uint32 // of each sample
		err = dataset.EachSample(ctx, func(_ int, sample *ingest.Sample) error {
			genes = append(genes, slices.Clone(sample.Genes))
			return nil
		})
		return &masks{func(sample int) ([]byte, error) {
			for _, position := range zeros { // as the decoders do: filling takes far longer
				own[position] = 1
			}
			zeros = remover.Removed(genes[sample])
			for _, position := range zeros {
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
