package bench

import (
	"os"
	"path/filepath"
	"slices"

	"tcbuild/internal/disk"
	"tcbuild/store"
)

// results are the rounds so far.
func (b *bench) results(machine Machine) *Results {
	r := &Results{
		FormatVersion: FormatVersion, Program: b.Program, Machine: machine, Setup: b.setup,
		Base: baseVariation(b.in.total, b.Workers), Limits: b.limits,
	}
	for _, s := range b.points {
		r.Points = append(r.Points, s.Point)
	}
	to := b.Extrapolate
	if to == 0 {
		to = b.in.total
	}
	for _, s := range b.cases {
		c := *s.result
		c.Extrapolated = extrapolate(b.largest(s), to)
		c.compare(b.limits, b.setup.MaskPositions)
		r.Cases = append(r.Cases, c)
	}
	return r
}

// largest is the largest dataset of a case that was built with all edges and all workers.
func (b *bench) largest(of *subject) Point {
	largest := of.Point
	for _, s := range b.points {
		if s.Case == of.Case && s.EveryNth == 1 && s.Workers == b.Workers && s.Samples > largest.Samples {
			largest = s.Point
		}
	}
	return largest
}

// extrapolate estimates the cost of a dataset of another number of samples.
func extrapolate(from Point, samples int) Extrapolation {
	factor := float64(samples) / float64(from.Samples)
	return Extrapolation{
		Samples: samples, FromSamples: from.Samples,
		Seconds: from.FixedSeconds + factor*(from.Seconds.Median-from.FixedSeconds),
		Bytes:   float64(from.FixedBytes) + factor*float64(from.DatasetBytes-from.FixedBytes),
	}
}

// The stages of a build that grow with the samples.
const (
	surveyStage = "survey samples" // also writes the sample table
	masksStage  = "build masks"    // of the LMDB variants
)

// restStage is the time outside all stages: starting the program and publishing the dataset.
const restStage = "start and publish"

// add adds a round.
func (s *subject) add(m built, r reads, size Size) {
	writing := 0.0
	for _, stage := range m.run.Stages {
		if stage.Stage == surveyStage || stage.Stage == masksStage {
			writing += stage.Seconds
		}
	}
	s.fixed.add(m.seconds - writing)
	s.Seconds.add(m.seconds)
	s.SamplesPerSecond.add(float64(s.Samples) / writing)
	s.ReadMilliseconds.add(r.random.milliseconds())
	s.DatasetBytes, s.BytesPerSample = size.DatasetBytes, size.BytesPerSample
	s.FixedSeconds, s.FixedBytes = s.fixed.Median, size.DatasetBytes-size.SampleBytes
	if s.result != nil {
		s.result.Size = size
		s.result.Build.add(m, s.Point)
		s.result.Read.add(r)
	}
}

// add adds a round. Every round has the same stages.
func (b *Build) add(m built, p Point) {
	b.Seconds, b.SamplesPerSecond = p.Seconds, p.SamplesPerSecond
	b.CPUSeconds.add(m.cpuSeconds)
	b.PeakAnonBytes.add(m.peakAnon)
	rest := m.seconds
	of := func(name string) *Stage {
		i := slices.IndexFunc(b.Stages, func(s Stage) bool { return s.Stage == name })
		if i < 0 {
			i = len(b.Stages)
			b.Stages = append(b.Stages, Stage{Stage: name})
		}
		return &b.Stages[i]
	}
	for _, stage := range m.run.Stages {
		rest -= stage.Seconds
		sum := of(stage.Stage)
		sum.Seconds.add(stage.Seconds)
		for i, step := range stage.Steps {
			if i == len(sum.Steps) {
				sum.Steps = append(sum.Steps, Step{Step: step.Step})
			}
			sum.Steps[i].BusySeconds.add(step.Busy)
		}
	}
	of(restStage).Seconds.add(rest)
}

// add adds a round. Cold passes count only if every round has them.
func (r *Read) add(of reads) {
	r.OpenSeconds.add(of.open)
	r.Sequential.add(of.sequential)
	r.Random.add(of.random)
	if r.OpenSeconds.Rounds == 1 {
		r.ColdSequential, r.ColdRandom = &Pass{}, &Pass{}
	}
	if r.NotCold == "" {
		r.NotCold = of.notCold
	}
	if r.NotCold != "" {
		r.ColdSequential, r.ColdRandom = nil, nil
		return
	}
	r.ColdSequential.add(of.coldSequential)
	r.ColdRandom.add(of.coldRandom)
}

func (p *Pass) add(round pass) {
	if p.Milliseconds.add(round.milliseconds()); p.Milliseconds.Rounds == 1 || round.samples < p.Samples {
		p.Samples = round.samples
	}
}

// compare compares a case with the limits of the machine.
func (c *CaseResult) compare(l Limits, positions int) {
	c.Build.LimitSeconds = ratio(float64(c.Size.DatasetBytes), l.DiskWrite.Max)
	c.Build.LimitFraction = ratio(c.Build.LimitSeconds, c.Build.Seconds.Median)
	for i, p := range []*Pass{&c.Read.Sequential, &c.Read.Random, c.Read.ColdSequential, c.Read.ColdRandom} {
		if p != nil {
			p.LimitMilliseconds = readLimit(c.Case, c.Size, l, positions, i >= 2)
			p.LimitFraction = ratio(p.LimitMilliseconds, p.Milliseconds.Median)
		}
	}
}

// readLimit is the shortest possible time, in milliseconds, to have a sample's masks in memory: the
// time to fill them or, if they are stored uncompressed, to copy them; for a cold read, the time to
// read the sample's bytes from disk if that is longer. The incidence variant has its samples in
// memory after the first read.
func readLimit(c Case, size Size, l Limits, positions int, cold bool) float64 {
	limit := ratio(float64(positions), l.Fill.Max)
	if c == (Case{store.FullMasks, "raw"}) {
		limit = ratio(float64(positions), l.Copy.Max)
	}
	if cold && c.Variant != store.Incidence {
		limit = max(limit, ratio(size.BytesPerSample, l.DiskRead.Max))
	}
	return 1000 * limit
}

// write writes results.json and report.html.
func (r *Results) write(dir string) error {
	if err := disk.WriteJSON(filepath.Join(dir, "results.json"), r); err != nil {
		return err
	}
	page, err := r.page().HTML()
	if err != nil {
		return err
	}
	return os.WriteFile(filepath.Join(dir, "report.html"), page, 0o666)
}
