// Package bench measures what each way of storing masks costs on a user's own graph: it builds
// every variant with every codec, and reads it back.
package bench

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"time"

	"golang.org/x/sys/unix"

	"tcbuild"
	"tcbuild/incidence"
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

// samplesOf is the number of samples in the dataset of a case: at least two, as a dataset with
// fewer samples tells fixed costs from costs per sample.
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
	return min(total, max(most, 2))
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
	r := &Results{FormatVersion: FormatVersion, Program: o.Program, Machine: describeMachine()}
	r.Setup = Setup{
		Genes: in.graph.Genes.Len(), EdgeTypes: len(in.graph.Edges),
		Edges: layout.EdgePositions(), MaskPositions: layout.Size, TotalSamples: in.total,
		Workers: o.Workers, Rounds: o.Rounds, ReactionRule: o.ReactionRule,
	}
	for _, c := range allCases() {
		samples := o.samplesOf(c, in.total, layout.Size)
		r.Cases = append(r.Cases, &CaseResult{
			Case: c, Samples: samples, FewSamples: max(samples/8, 1),
			Extrapolated: Extrapolation{Samples: cmp.Or(o.Extrapolate, in.total)},
		})
	}
	datasets := filepath.Join(o.Out, "datasets")
	for round := range o.Rounds {
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
		r.Machine.Load = max(r.Machine.Load, describeMachine().Load)
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

// measure builds a case with few and with all of its samples, and reads the larger dataset.
func (in *inputs) measure(ctx context.Context, c *CaseResult, round int, dir string) error {
	few, err := in.build(ctx, c.Case, c.FewSamples, dir)
	if err != nil {
		return err
	}
	all, err := in.build(ctx, c.Case, c.Samples, dir)
	if err != nil {
		return err
	}
	cold, warm, err := readDataset(ctx, dir, c.Samples, uint64(round))
	if err != nil {
		return err
	}
	c.add(few, all, cold, warm)
	in.Log.Info("measured", "round", round+1, "of", in.Rounds, "case", c, "samples", c.Samples,
		"build", formatSeconds(all.seconds), "read", formatSeconds(warm.seconds))
	return nil
}

// build builds a case with some of the samples, in place of what dir holds.
func (in *inputs) build(ctx context.Context, c Case, samples int, dir string) (cost, error) {
	o, err := in.optionsOf(ctx, samples)
	if err = errors.Join(err, os.RemoveAll(dir)); err != nil {
		return cost{}, err
	}
	o.Variant, o.Codec, o.Out, o.Log = c.Variant, c.Codec, dir, nil
	runtime.GC()
	start, before := time.Now(), cpuSeconds()
	built, err := tcbuild.Build(ctx, o)
	if err != nil {
		return cost{}, fmt.Errorf("build %s: %w", c, err)
	}
	seconds, cpu, growing := time.Since(start).Seconds(), cpuSeconds()-before, 0.0
	for _, stage := range built.Stages {
		if stage.Stage == surveyStage || stage.Stage == masksStage {
			growing += stage.Seconds
		}
	}
	folder, err := bytesIn(dir)
	return cost{seconds, growing, cpu, float64(built.Manifest.DataBytes()), folder}, err
}

// bytesIn adds up the lengths of the files of a folder.
func bytesIn(dir string) (total float64, err error) {
	return total, filepath.WalkDir(dir, func(path string, entry fs.DirEntry, err error) error {
		if err != nil || entry.IsDir() {
			return err
		}
		info, err := entry.Info()
		if err == nil {
			total += float64(info.Size())
		}
		return err
	})
}

// cpuSeconds is the time that the cores have worked for this process.
func cpuSeconds() float64 {
	used := usage()
	return time.Duration(used.Utime.Nano() + used.Stime.Nano()).Seconds()
}

func usage() (used unix.Rusage) {
	_ = unix.Getrusage(unix.RUSAGE_SELF, &used) // fails only for invalid arguments
	return used
}

func describeMachine() Machine {
	m := Machine{CPU: runtime.GOARCH, Cores: runtime.GOMAXPROCS(0)}
	text, _ := os.ReadFile("/proc/cpuinfo")
	for line := range strings.Lines(string(text)) {
		if key, value, _ := strings.Cut(line, ":"); strings.TrimSpace(key) == "model name" {
			m.CPU = strings.TrimSpace(value)
		}
	}
	var system unix.Sysinfo_t
	_ = unix.Sysinfo(&system) // fails only for invalid arguments
	m.MemoryBytes = int64(system.Totalram) * int64(system.Unit)
	m.Load = float64(system.Loads[0]) / (1 << 16)
	return m
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
