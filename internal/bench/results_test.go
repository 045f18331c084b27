package bench

import (
	"math"
	"reflect"
	"testing"

	"tcbuild"
)

func statOf(values ...float64) (s Stat) {
	for _, value := range values {
		s.add(value)
	}
	return s
}

func same(a, b Stat) bool {
	a.ascending, b.ascending = nil, nil
	return reflect.DeepEqual(a, b)
}

func TestStat(t *testing.T) {
	for _, c := range []struct {
		values []float64
		want   Stat
		spread float64
	}{
		{[]float64{3}, Stat{3, 3, 3, 1, nil}, 0},
		{[]float64{4, 2}, Stat{3, 2, 4, 2, nil}, 1. / 3},
		{[]float64{9, 1, 2}, Stat{2, 1, 9, 3, nil}, 2},
		{[]float64{4, 1, 3, 2}, Stat{2.5, 1, 4, 4, nil}, 0.6},
		{[]float64{0, 0}, Stat{0, 0, 0, 2, nil}, 0},
	} {
		got := statOf(c.values...)
		if !same(got, c.want) || math.Abs(got.Spread()-c.spread) > 1e-12 {
			t.Errorf("%v: got %v with spread %g, want %v with %g", c.values, got, got.Spread(), c.want, c.spread)
		}
	}
}

func TestFormat(t *testing.T) {
	for _, c := range []struct{ got, want string }{
		{formatNumber(0), "0"}, {formatNumber(0.012345), "0.0123"}, {formatNumber(4), "4"}, {formatNumber(4.567), "4.57"}, {formatNumber(45.67), "45.7"},
		{formatNumber(999.4), "999"}, {formatNumber(1000), "1,000"}, {formatNumber(332313), "332,313"}, {formatNumber(-1234567), "-1,234,567"},
		{formatBytes(0), "0 B"}, {formatBytes(999), "999 B"}, {formatBytes(1750), "1.75 kB"}, {formatBytes(821e9), "821 GB"}, {formatBytes(20e12), "20.0 TB"},
		{formatSeconds(0), "0 s"}, {formatSeconds(13e-6), "13 µs"}, {formatSeconds(0.9996e-3), "1.00 ms"}, {formatSeconds(0.0123), "12.3 ms"},
		{formatSeconds(119.9), "120 s"}, {formatSeconds(150), "2.50 min"}, {formatSeconds(9000), "2.50 h"},
		{formatStat(Stat{2, 1, 4, 2, nil}, formatNumber), "2 ±75%"}, {formatStat(Stat{2, 2, 2, 1, nil}, formatNumber), "2"},
	} {
		if c.got != c.want {
			t.Errorf("got %q, want %q", c.got, c.want)
		}
	}
}

// A build of 100 samples with 2 fixed seconds, 3 s for the samples, 1,000 fixed bytes and 20 bytes
// per sample.
func TestExtrapolate(t *testing.T) {
	c := CaseResult{Samples: 100, Build: Build{Seconds: Stat{Median: 5}}, Size: Size{DatasetBytes: 3000, SampleBytes: 2000}, fixed: Stat{Median: 2}}
	for _, want := range []Extrapolation{{0, 2, 1000}, {50, 3.5, 2000}, {100, 5, 3000}, {1000, 32, 21000}} {
		if c.extrapolate(want.Samples); c.Extrapolated != want {
			t.Errorf("%d samples: got %+v, want %+v", want.Samples, c.Extrapolated, want)
		}
	}
}

// A build's time is of its samples, or fixed.
func TestRounds(t *testing.T) {
	c := &CaseResult{Samples: 60}
	for _, seconds := range []float64{3, 6, 4} {
		c.add(10, 12, []tcbuild.StageTime{
			{Stage: "read graph", Seconds: 1}, {Stage: surveyStage, Seconds: 2}, {Stage: masksStage, Seconds: seconds},
		}, 1, 1)
	}
	if !same(c.Build.SamplesPerSecond, Stat{10, 7.5, 12, 3, nil}) || !same(c.fixed, Stat{4, 2, 5, 3, nil}) {
		t.Errorf("got %+v, fixed %+v", c, c.fixed)
	}
}
