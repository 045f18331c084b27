// Package bench measures what each way of storing masks costs on a user's own graph: it builds
// every variant with every codec, and reads it back.
package bench

import (
	"bytes"
	"cmp"
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"time"

	"golang.org/x/sys/unix"

	"tcbuild"
	"tcbuild/encode"
	"tcbuild/incidence"
	"tcbuild/ingest"
	"tcbuild/internal/disk"
	"tcbuild/store"
)

// Options say what is measured.
type Options struct {
	tcbuild.Options // of the builds; Out is an existing folder, for results and datasets

	Keep        bool // leave the datasets of the last round in Out/datasets
	Samples     int  // in each dataset; 0: see samplesOf
	Rounds      int  // at least 1
	Extrapolate int  // samples to extrapolate to; 0: the number in the perturbation set
}

// By default, a dataset has as many samples as the perturbation set, as fit in mostBytes at a byte
// or bit per position, and at most mostSamples.
const (
	mostBytes   = 2_500_000_000
	mostSamples = 100_000
)

// samplesOf is the number of samples in the dataset of a case.
func (o Options) samplesOf(c Case, total, positions int) int {
	most := mostSamples
	switch {
	case o.Samples > 0:
		most = o.Samples
	case c == (Case{store.FullMasks, "raw"}):
		most = min(most, mostBytes/max(positions, 1))
	case c == (Case{store.FullMasks, "bits"}):
		most = min(most, 8*mostBytes/max(positions, 1))
	}
	return min(total, max(most, 1))
}

// Run measures, and writes results.json and report.html into Out. Each round runs all cases, so
// that a temporary load on the machine affects all of them.
func Run(ctx context.Context, o Options) (*Results, error) {
	start := time.Now()
	in, err := readInputs(ctx, o)
	if err != nil {
		return nil, err
	}
	defer in.samples.Close()
	layout := incidence.NewLayout(in.graph)
	r := &Results{FormatVersion: FormatVersion, Program: o.Program, Setup: Setup{
		Genes: in.graph.Genes.Len(), EdgeTypes: len(in.graph.Edges),
		Edges: layout.EdgePositions(), MaskPositions: layout.Size, TotalSamples: in.total,
		Workers: o.Workers, Rounds: o.Rounds, ReactionRule: o.ReactionRule,
	}}
	if r.Machine, err = describeMachine(); err != nil {
		return nil, err
	}
	most := 0
	for _, c := range allCases() {
		samples := o.samplesOf(c, in.total, layout.Size)
		r.Cases = append(r.Cases, &CaseResult{Case: c, Default: c.isDefault(), Samples: samples})
		most = max(most, samples)
	}
	if r.Setup.GenesRemoved, r.Setup.Removed, err = in.removals(ctx, most); err != nil {
		return nil, err
	}
	datasets := filepath.Join(o.Out, "datasets")
	for round := range o.Rounds {
		r.FillMilliseconds.add(fillMilliseconds(layout.Size))
		for _, c := range r.Cases {
			dir := filepath.Join(datasets, strings.ReplaceAll(c.String(), " ", "-"))
			if err := in.measure(ctx, c, round, dir); err != nil {
				return nil, err
			}
			if o.Keep && round == o.Rounds-1 {
				continue
			}
			if err := os.RemoveAll(dir); err != nil {
				return nil, err
			}
		}
	}
	for _, c := range r.Cases {
		c.extrapolate(cmp.Or(o.Extrapolate, in.total))
	}
	if err := in.samples.Unchanged(); err != nil {
		return nil, err
	}
	r.Setup.Seconds = time.Since(start).Seconds()
	if !o.Keep {
		if err := errors.Join(os.RemoveAll(in.dir), os.RemoveAll(datasets)); err != nil {
			return nil, err
		}
	}
	return r, r.write(o.Out)
}

// measure builds and reads a case once.
func (in *inputs) measure(ctx context.Context, c *CaseResult, round int, dir string) error {
	o, err := in.optionsOf(ctx, c.Samples)
	if err != nil {
		return err
	}
	o.Variant, o.Codec, o.Out, o.Log = c.Variant, c.Codec, dir, nil
	runtime.GC()
	start, before := time.Now(), cpuSeconds()
	built, err := tcbuild.Build(ctx, o)
	if err != nil {
		return fmt.Errorf("build %s: %w", c, err)
	}
	seconds, cpu := time.Since(start).Seconds(), cpuSeconds()-before
	open, read, err := readDataset(ctx, dir, c.Samples, uint64(round))
	if err != nil {
		return err
	}
	size := built.Manifest.SampleBytes()
	c.Size = Size{built.Manifest.DataBytes(), size, float64(size) / float64(c.Samples)}
	c.add(seconds, cpu, built.Stages, open, read)
	in.Log.Info("measured", "round", round+1, "of", in.Rounds, "case", c, "samples", c.Samples,
		"build_seconds", fmt.Sprintf("%.2f", seconds), "read_ms", fmt.Sprintf("%.3f", read))
	return nil
}

// cpuSeconds is the time that the cores have worked for this process.
func cpuSeconds() float64 {
	var usage unix.Rusage
	_ = unix.Getrusage(unix.RUSAGE_SELF, &usage) // fails only for invalid arguments
	return time.Duration(usage.Utime.Nano() + usage.Stime.Nano()).Seconds()
}

func describeMachine() (Machine, error) {
	m := Machine{CPU: runtime.GOARCH, Cores: runtime.GOMAXPROCS(0)}
	text, _ := os.ReadFile("/proc/cpuinfo")
	for line := range strings.Lines(string(text)) {
		if key, value, _ := strings.Cut(line, ":"); strings.TrimSpace(key) == "model name" {
			m.CPU = strings.TrimSpace(value)
		}
	}
	var system unix.Sysinfo_t
	if err := unix.Sysinfo(&system); err != nil {
		return m, fmt.Errorf("sysinfo: %w", err)
	}
	m.MemoryBytes = int64(system.Totalram) * int64(system.Unit)
	return m, nil
}

// fillMilliseconds is the time in which one core fills size bytes: the best of many runs, as other
// load on the machine does not raise this limit.
func fillMilliseconds(size int) float64 {
	masks, best := bytes.Repeat([]byte{1}, max(size, 1)), time.Duration(1<<63-1)
	repeats := 1 + 1<<20/len(masks) // so that reading the clock takes negligible time
	for start := time.Now(); time.Since(start) < 100*time.Millisecond; {
		lap := time.Now()
		for range repeats {
			clear(masks)
		}
		best = min(best, max(time.Since(lap), 1))
	}
	return 1000 * best.Seconds() / float64(repeats)
}

func (r *Results) write(dir string) error {
	if err := disk.WriteJSON(filepath.Join(dir, "results.json"), r); err != nil {
		return err
	}
	page, err := r.page().HTML("tcbuild bench")
	if err != nil {
		return err
	}
	return os.WriteFile(filepath.Join(dir, "report.html"), page, 0o666)
}

const (
	passSamples = 1000            // number of samples in a pass
	passTime    = 3 * time.Second // time limit of a pass
)

// readDataset opens a dataset and reads its first sample, in open seconds. Then it reads the whole
// masks of some samples in random order, which seed chooses, twice: to warm up, and to return the
// milliseconds for each.
func readDataset(
	ctx context.Context, dir string, samples int, seed uint64,
) (open, milliseconds float64, err error) {
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

func newMasks(ctx context.Context, dataset *store.Dataset) (*masks, error) {
	size := dataset.Manifest.MaskPositions()
	if dataset.Manifest.Variant == store.Incidence {
		remover, err := dataset.NewRemover()
		if err != nil {
			return nil, err
		}
		var own []byte
		var genes [][]uint32 // of each sample
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
