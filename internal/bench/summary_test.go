package bench

import (
	"math"
	"testing"

	"tcbuild"
	"tcbuild/store"
)

// A build of 100 samples with 2 fixed seconds, 3 s for the samples, 1,000 fixed bytes and 20 bytes
// per sample.
func TestExtrapolate(t *testing.T) {
	from := Point{Variation: Variation{Samples: 100}, Seconds: Stat{Median: 5}, FixedSeconds: 2, DatasetBytes: 3000, FixedBytes: 1000}
	for _, c := range []struct {
		samples int
		want    Extrapolation
	}{
		{0, Extrapolation{0, 100, 2, 1000}},
		{50, Extrapolation{50, 100, 3.5, 2000}},
		{100, Extrapolation{100, 100, 5, 3000}},
		{1000, Extrapolation{1000, 100, 32, 21000}},
	} {
		if got := extrapolate(from, c.samples); got != c.want {
			t.Errorf("%d samples: got %+v, want %+v", c.samples, got, c.want)
		}
	}
}

// What costs are extrapolated from is the largest build that differs in nothing but its samples.
func TestLargest(t *testing.T) {
	zstd, raw := Case{store.Indices, "zstd"}, Case{store.Indices, "raw"}
	one := func(c Case, v Variation) *subject {
		return &subject{Point: Point{Case: c, Variation: v}}
	}
	b := &bench{Options: Options{Options: tcbuild.Options{Workers: 4}}, points: []*subject{
		one(zstd, Variation{4, 50, 1}), one(zstd, Variation{4, 500, 1}), one(zstd, Variation{4, 900, 2}), one(zstd, Variation{2, 900, 1}),
	}}
	if got := b.largest(one(zstd, Variation{4, 100, 1})); got.Samples != 500 {
		t.Errorf("zstd: got %d samples, want 500", got.Samples)
	}
	if got := b.largest(one(raw, Variation{4, 100, 1})); got.Samples != 100 {
		t.Errorf("raw: got %d samples, want its own 100", got.Samples)
	}
}

// The parts of a build's time make up the whole.
func TestStages(t *testing.T) {
	run := func(seconds ...float64) built {
		return built{seconds: 10, run: tcbuild.Result{Stages: []tcbuild.StageTime{
			{Stage: "read graph", Seconds: seconds[0]}, {Stage: surveyStage, Seconds: seconds[1]},
			{Stage: masksStage, Seconds: seconds[2], Steps: []tcbuild.Step{{Step: "encode", Busy: 2 * seconds[2]}}},
		}}}
	}
	s := &subject{Point: Point{Variation: Variation{Samples: 60}}, result: &CaseResult{}}
	for _, m := range []built{run(1, 2, 3), run(1, 2, 6), run(1, 2, 4)} {
		s.add(m, reads{}, Size{})
	}
	want := []float64{1, 2, 4, 3}
	stages := s.result.Build.Stages
	if len(stages) != len(want) || stages[3].Stage != restStage {
		t.Fatalf("got %+v, want %d stages, the last %q", stages, len(want), restStage)
	}
	for i, stage := range stages {
		if math.Abs(stage.Seconds.Median-want[i]) > 1e-9 {
			t.Errorf("%s: got %g s, want %g", stage.Stage, stage.Seconds.Median, want[i])
		}
	}
	if got := stages[2].Steps[0].BusySeconds; !same(got, Stat{8, 6, 12, 3, nil}) {
		t.Errorf("encode: got %v busy, want 8 of 6 to 12", got)
	}
	if got := s.SamplesPerSecond; !same(got, Stat{10, 7.5, 12, 3, nil}) {
		t.Errorf("got %v samples/s, want 10 of 7.5 to 12", got)
	}
	if got := s.FixedSeconds; math.Abs(got-4) > 1e-9 {
		t.Errorf("got %g s that do not grow with the samples, want the median of 10-2-3, 10-2-6 and 10-2-4", got)
	}
}

func TestReadLimit(t *testing.T) {
	l := Limits{Fill: Stat{Max: 1000}, Copy: Stat{Max: 500}, DiskRead: Stat{Max: 10}}
	size := Size{BytesPerSample: 50}
	for _, c := range []struct {
		of   Case
		cold bool
		want float64
	}{
		{Case{store.Incidence, ""}, false, 2000},
		{Case{store.Incidence, ""}, true, 2000},
		{Case{store.Indices, "zstd"}, true, 5000},
		{Case{store.FullMasks, "bits"}, false, 2000},
		{Case{store.FullMasks, "raw"}, false, 4000},
		{Case{store.FullMasks, "raw"}, true, 5000},
	} {
		if got := readLimit(c.of, size, l, 2000, c.cold); got != c.want {
			t.Errorf("%s, cold %t: got %g ms, want %g", c.of, c.cold, got, c.want)
		}
	}
	if got := readLimit(Case{store.Indices, "zstd"}, size, Limits{Fill: l.Fill}, 2000, true); got != 2000 {
		t.Errorf("without a disk limit: got %g ms, want 2000", got)
	}
}
