// Package bench measures what each way of storing masks costs on a user's own graph: every variant
// with every codec, built by the program itself and read back, compared with the limits of the
// machine.
package bench

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"time"

	"tcbuild"
	"tcbuild/incidence"
	"tcbuild/store"
)

// Options say what is measured.
type Options struct {
	tcbuild.Options // of the builds; Out is an existing folder, for results and datasets

	Keep        bool // leave the datasets of the last round in Out/datasets
	Samples     int  // in each dataset; 0: as many as fit in RawBytes of whole masks
	Rounds      int  // at least 1
	Extrapolate int  // samples to extrapolate to; 0: the number in the perturbation set

	Executable string // the program
}

// RawBytes is the default limit of the largest dataset: whole masks with a byte per position.
const RawBytes = 2_500_000_000

// Run measures, and writes results.json and report.html into Out. Each round runs all cases and
// variations, so that a temporary load on the machine affects all of them.
func Run(ctx context.Context, o Options) (*Results, error) {
	start := time.Now()
	b := &bench{Options: o, datasets: filepath.Join(o.Out, "datasets")}
	var err error
	if b.in, err = readInputs(ctx, o, filepath.Join(o.Out, "inputs")); err != nil {
		return nil, err
	}
	defer b.in.samples.Close()
	if b.setup, err = b.plan(); err != nil {
		return nil, err
	}
	for round := range o.Rounds {
		if err := b.round(ctx, round); err != nil {
			return nil, err
		}
	}
	machine, err := describeMachine(o.Out)
	if err != nil {
		return nil, err
	}
	b.setup.Seconds = time.Since(start).Seconds()
	results := b.results(machine)
	if !o.Keep {
		if err := errors.Join(os.RemoveAll(b.in.dir), os.RemoveAll(b.datasets)); err != nil {
			return nil, err
		}
	}
	return results, results.write(o.Out)
}

// bench holds the measurements so far.
type bench struct {
	Options
	in       *inputs
	datasets string // folder
	setup    Setup
	limits   Limits
	cases    []*subject
	points   []*subject // the variations of the default codecs
}

// subject is one thing to be measured in every round.
type subject struct {
	Point
	input  input
	fixed  Stat        // seconds that do not grow with the samples
	result *CaseResult // of the cases; nil of their variations
}

// plan decides what to measure, and makes the inputs.
func (b *bench) plan() (Setup, error) {
	layout := incidence.NewLayout(b.in.graph)
	if b.Samples == 0 {
		b.Samples = max(RawBytes/max(layout.Size, 1), 1)
	}
	b.Samples = min(b.Samples, b.in.total)
	setup := Setup{
		Genes: b.in.graph.Genes.Len(), EdgeTypes: len(b.in.graph.Edges), Edges: layout.EdgePositions(), MaskPositions: layout.Size,
		TotalSamples: b.in.total, Samples: b.Samples, Workers: b.Workers, Rounds: b.Rounds,
		ReactionRule: b.ReactionRule, UnknownGenes: b.UnknownGenes, AllowWildtype: b.AllowWildtype,
	}
	var err error
	if setup.GenesRemoved, setup.Removed, err = b.in.removals(b.Samples); err != nil {
		return setup, err
	}
	for _, c := range allCases() {
		s, err := b.subject(c, Variation{b.Workers, b.Samples, 1})
		if err != nil {
			return setup, err
		}
		s.result = &CaseResult{Case: c, Default: c.isDefault()}
		b.cases = append(b.cases, s)
	}
	for _, v := range variations(b.in.total, b.Workers) {
		for _, c := range allCases() {
			if !c.isDefault() {
				continue
			}
			s, err := b.subject(c, v)
			if err != nil {
				return setup, err
			}
			b.points = append(b.points, s)
		}
	}
	return setup, nil
}

func (b *bench) subject(c Case, v Variation) (*subject, error) {
	part, err := b.in.part(v)
	s := &subject{Point: Point{Case: c, Variation: v}, input: part}
	for _, edges := range b.in.graph.Edges {
		s.Edges += (edges.Len() + v.EveryNth - 1) / v.EveryNth
	}
	return s, err
}

// round measures everything once.
func (b *bench) round(ctx context.Context, round int) error {
	if err := b.limits.measure(b.Out, b.setup.MaskPositions, b.diskBytes()); err != nil {
		return fmt.Errorf("measure the machine's limits: %w", err)
	}
	for _, s := range b.cases {
		keep := b.Keep && round == b.Rounds-1
		if err := b.measure(ctx, s, round, filepath.Join(b.datasets, s.folder()), keep); err != nil {
			return err
		}
	}
	for _, s := range b.points {
		if err := b.measure(ctx, s, round, filepath.Join(b.datasets, "variation"), false); err != nil {
			return err
		}
	}
	return nil
}

// diskBytes is the size of the file used to measure the disk: the largest dataset's, within
// bounds.
func (b *bench) diskBytes() int64 {
	return max(1, min(mostDiskBytes, int64(b.setup.MaskPositions)*int64(b.setup.Samples)))
}

const mostDiskBytes = 512 << 20

// measure builds and reads a subject once; only cases are read in all orders.
func (b *bench) measure(ctx context.Context, s *subject, round int, dir string, keep bool) error {
	built, err := b.build(ctx, s.Case, s.input, s.Workers, dir)
	if err != nil {
		return err
	}
	manifest, err := store.ReadManifest(dir)
	if err != nil {
		return err
	}
	if err := b.in.checkRead(s.input, manifest); err != nil {
		return err
	}
	readings, err := readDataset(ctx, dir, uint64(round), s.result != nil)
	if err != nil {
		return err
	}
	s.add(built, readings, sizeOf(manifest))
	b.Log.Info("measured", "round", round+1, "of", b.Rounds, "case", s.Case, "samples", s.Samples, "workers",
		s.Workers, "edges", s.Edges,
		"build_seconds", fmt.Sprintf("%.2f", built.seconds), "read_ms", fmt.Sprintf("%.3f", readings.random.milliseconds()))
	if keep {
		return nil
	}
	return os.RemoveAll(dir)
}

// sizeOf is what a dataset occupies.
func sizeOf(m *store.Manifest) Size {
	return Size{m.DataBytes(), m.SampleBytes(), float64(m.SampleBytes()) / float64(m.Samples)}
}
