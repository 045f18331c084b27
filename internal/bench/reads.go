package bench

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"math/rand/v2"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"time"
	"unsafe"

	"golang.org/x/sys/unix"

	"tcbuild/encode"
	"tcbuild/incidence"
	"tcbuild/ingest"
	"tcbuild/store"
)

const (
	passSamples = 1000            // number of samples in a pass
	passTime    = 3 * time.Second // time limit of a pass
)

// reads is one round of reading a dataset.
type reads struct {
	open       float64 // seconds
	warm, cold float64 // milliseconds per sample
	notCold    string
}

// readDataset reads the whole masks of some of a dataset's samples in random order, which seed
// chooses: with an empty page cache, if that can be, and then from the page cache.
func readDataset(ctx context.Context, dir string, samples int, seed uint64) (r reads, err error) {
	order := rand.New(rand.NewPCG(seed, 0)).Perm(samples)
	order = order[:min(len(order), passSamples)]
	if cached := dropCache(dir); cached != nil {
		r.notCold = cached.Error()
	} else if _, r.cold, err = readPass(ctx, dir, order, nil); err != nil {
		return r, err
	}
	if err := fillCache(dir); err != nil {
		return r, err
	}
	r.open, r.warm, err = readPass(ctx, dir, order, order)
	return r, err
}

// readPass opens a dataset and reads its first sample, in open seconds. Then it reads the samples
// of warmUp, and returns the milliseconds for each sample of order.
func readPass(ctx context.Context, dir string, order, warmUp []int) (open, milliseconds float64, err error) {
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
	if len(warmUp) > 0 {
		if _, err := reader.pass(ctx, warmUp); err != nil {
			return 0, 0, err
		}
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

// dropCache drops all files of a folder from the page cache. They must be synced and
// not mapped. The error says why they are still cached.
func dropCache(dir string) error {
	return eachFile(dir, func(file *os.File) error {
		if err := unix.Fadvise(int(file.Fd()), 0, 0, unix.FADV_DONTNEED); err != nil {
			return fmt.Errorf("posix_fadvise: %w", err)
		}
		cached, err := cachedFraction(file)
		if err == nil && cached > 0.1 {
			err = fmt.Errorf("the file system keeps %.0f %% of %s in memory", 100*cached, filepath.Base(file.Name()))
		}
		return err
	})
}

// fillCache reads all files of a folder into the page cache.
func fillCache(dir string) error {
	return eachFile(dir, func(file *os.File) error {
		_, err := io.Copy(io.Discard, file)
		return err
	})
}

// eachFile calls do with all files of a folder.
func eachFile(dir string, do func(*os.File) error) error {
	return filepath.WalkDir(dir, func(path string, entry fs.DirEntry, err error) error {
		if err != nil || entry.IsDir() {
			return err
		}
		file, err := os.Open(path)
		if err != nil {
			return err
		}
		defer file.Close()
		return do(file)
	})
}

// cachedFraction is the fraction of a file's pages that the page cache holds.
func cachedFraction(file *os.File) (fraction float64, err error) {
	info, err := file.Stat()
	if err != nil || info.Size() == 0 {
		return 0, err
	}
	mapped, err := unix.Mmap(int(file.Fd()), 0, int(info.Size()), unix.PROT_READ, unix.MAP_SHARED)
	if err != nil {
		return 0, fmt.Errorf("map %s: %w", file.Name(), err)
	}
	defer func() { err = errors.Join(err, unix.Munmap(mapped)) }()
	pages := make([]byte, (len(mapped)+os.Getpagesize()-1)/os.Getpagesize())
	_, _, errno := unix.Syscall(unix.SYS_MINCORE, uintptr(unsafe.Pointer(&mapped[0])), uintptr(len(mapped)),
		uintptr(unsafe.Pointer(&pages[0])))
	if errno != 0 {
		return 0, fmt.Errorf("mincore: %w", errno)
	}
	cached := 0
	for _, page := range pages {
		cached += int(page & 1)
	}
	return float64(cached) / float64(len(pages)), nil
}
