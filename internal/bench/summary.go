package bench

import (
	"os"
	"path/filepath"

	"tcbuild"
	"tcbuild/internal/disk"
	"tcbuild/store"
)

// results summarises all rounds.
func (b *bench) results(machine Machine) *Results {
	r := &Results{
		FormatVersion: FormatVersion, Program: b.Program, Machine: machine, Setup: b.setup,
		Base: baseVariation(b.in.total, b.Workers),
		Limits: Limits{
			Fill:      statOf(b.limits, func(l limits) float64 { return l.fill }),
			Copy:      statOf(b.limits, func(l limits) float64 { return l.copy }),
			DiskWrite: statOf(b.limits, func(l limits) float64 { return l.diskWrite }),
			DiskRead:  statOf(b.limits, func(l limits) float64 { return l.diskRead }),
			DiskBytes: b.diskBytes(),
		},
		Devices: b.devices,
	}
	for _, s := range b.points {
		r.Points = append(r.Points, s.point())
	}
	to := b.Extrapolate
	if to == 0 {
		to = b.in.total
	}
	for _, s := range b.cases {
		r.Cases = append(r.Cases, CaseResult{
			Case: s.Case, Default: s.isDefault(),
			Build: s.buildResult(r.Limits), Size: s.size, Read: s.readResult(r.Limits, b.setup),
			Extrapolated: extrapolate(b.largest(s), to),
		})
	}
	return r
}

// largest is the largest dataset of a case that was built with all edges and all workers.
func (b *bench) largest(of *subject) Point {
	largest := of.point()
	for _, s := range b.points {
		if s.Case == of.Case && s.EveryNth == 1 && s.Workers == b.Workers && s.Samples > largest.Samples {
			largest = s.point()
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

func (s *subject) point() Point {
	return Point{
		Case: s.Case, Variation: s.Variation, Edges: s.edges,
		Seconds:          statOf(s.builds, func(m built) float64 { return m.seconds }),
		SamplesPerSecond: s.samplesPerSecond(),
		DatasetBytes:     s.size.DatasetBytes,
		BytesPerSample:   s.size.BytesPerSample,
		ReadMilliseconds: statOf(s.readings, func(r reads) float64 { return r.random.milliseconds() }),
		FixedSeconds:     statOf(s.builds, built.fixedSeconds).Median,
		FixedBytes:       s.size.DatasetBytes - s.size.SampleBytes,
	}
}

// The stages of a build that grow with the samples.
const (
	surveyStage = "survey samples" // also writes the sample table
	masksStage  = "build masks"    // of the LMDB variants
)

// restStage is the time outside all stages: starting the program and publishing the dataset.
const restStage = "start and publish"

// writing is the time of the stages that grow with the samples.
func (m built) writing() float64 { return m.stage(surveyStage).Seconds + m.stage(masksStage).Seconds }

// fixedSeconds is the time that does not grow with the samples.
func (m built) fixedSeconds() float64 { return m.seconds - m.writing() }

// step is the busy time of a step of a stage, 0 if there was none.
func (m built) step(stage, name string) float64 {
	for _, step := range m.stage(stage).Steps {
		if step.Step == name {
			return step.Busy
		}
	}
	return 0
}

// stage is the time of a stage, 0 if there was none.
func (m built) stage(name string) tcbuild.StageTime {
	for _, stage := range m.run.Stages {
		if stage.Stage == name {
			return stage
		}
	}
	return tcbuild.StageTime{}
}

func (s *subject) samplesPerSecond() Stat {
	return statOf(s.builds, func(m built) float64 { return float64(s.Samples) / m.writing() })
}

func (s *subject) buildResult(l Limits) Build {
	r := Build{
		Seconds:          statOf(s.builds, func(m built) float64 { return m.seconds }),
		CPUSeconds:       statOf(s.builds, func(m built) float64 { return m.cpuSeconds }),
		SamplesPerSecond: s.samplesPerSecond(),
		PeakAnonBytes:    statOf(s.builds, func(m built) float64 { return m.peakAnon }),
		Stages:           s.stages(),
		LimitSeconds:     ratio(float64(s.size.DatasetBytes), l.DiskWrite.Max),
	}
	r.LimitFraction = ratio(r.LimitSeconds, r.Seconds.Median)
	return r
}

// stages summarises the stages and steps of run.json by name; every round has the same.
func (s *subject) stages() (stages []Stage) {
	for _, stage := range s.builds[0].run.Stages {
		summed := Stage{Stage: stage.Stage, Seconds: statOf(s.builds, func(m built) float64 { return m.stage(stage.Stage).Seconds })}
		for _, step := range stage.Steps {
			busy := statOf(s.builds, func(m built) float64 { return m.step(stage.Stage, step.Step) })
			summed.Steps = append(summed.Steps, Step{step.Step, busy})
		}
		stages = append(stages, summed)
	}
	rest := statOf(s.builds, func(m built) float64 {
		rest := m.seconds
		for _, stage := range m.run.Stages {
			rest -= stage.Seconds
		}
		return rest
	})
	return append(stages, Stage{Stage: restStage, Seconds: rest})
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

func (s *subject) readResult(l Limits, setup Setup) Read {
	limit := func(cold bool) float64 { return readLimit(s.Case, s.size, l, setup.MaskPositions, cold) }
	r := Read{
		OpenSeconds: statOf(s.readings, func(r reads) float64 { return r.open }),
		Sequential:  passResult(s.readings, func(r reads) pass { return r.sequential }, limit(false)),
		Random:      passResult(s.readings, func(r reads) pass { return r.random }, limit(false)),
	}
	for _, reading := range s.readings {
		if reading.notCold != "" {
			r.NotCold = reading.notCold
			return r
		}
	}
	sequential := passResult(s.readings, func(r reads) pass { return r.coldSequential }, limit(true))
	random := passResult(s.readings, func(r reads) pass { return r.coldRandom }, limit(true))
	r.ColdSequential, r.ColdRandom = &sequential, &random
	return r
}

func passResult(rounds []reads, of func(reads) pass, limit float64) Pass {
	p := Pass{
		Samples:           int(statOf(rounds, func(r reads) float64 { return float64(of(r).samples) }).Min),
		Milliseconds:      statOf(rounds, func(r reads) float64 { return of(r).milliseconds() }),
		LimitMilliseconds: limit,
	}
	p.LimitFraction = ratio(limit, p.Milliseconds.Median)
	return p
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
