package bench

import (
	"math"
	"reflect"
	"testing"
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
		{formatBytes(0), "0 B"}, {formatBytes(999), "999 B"}, {formatBytes(1750), "1.75 kB"}, {formatBytes(821e9), "821 GB"}, {formatBytes(20e12), "20.0 TB"},
		{formatSeconds(0), "0 s"}, {formatSeconds(7.45e-9), "7.45 ns"}, {formatSeconds(13e-6), "13 µs"}, {formatSeconds(0.9996e-3), "1 ms"},
		{formatSeconds(0.012345), "12.3 ms"}, {formatSeconds(119.4), "119 s"}, {formatSeconds(150), "2.5 min"}, {formatSeconds(9000), "2.5 h"},
		{formatStat(Stat{2, 1, 4, 2, nil}), "2 s ±75%"}, {formatStat(Stat{2, 2, 2, 1, nil}), "2 s"}, {formatStat(Stat{}), ""},
	} {
		if c.got != c.want {
			t.Errorf("got %q, want %q", c.got, c.want)
		}
	}
}

// A build of 200 samples takes 3.1 s, of which stages that grow with the samples take 2.1 s, and a
// build of 100 samples takes 2.05 s of those: 2 s are fixed there, too.
func TestExtrapolate(t *testing.T) {
	few := cost{seconds: 3.05, growing: 2.05, cpuSeconds: 4.2, bytes: 3000, folder: 3500}
	all := cost{seconds: 3.1, growing: 2.1, cpuSeconds: 4.4, bytes: 5000, folder: 5500}
	for _, want := range []struct {
		samples             int
		seconds, cpu, bytes float64
	}{{0, 3, 4, 1500}, {100, 3.05, 4.2, 3500}, {200, 3.1, 4.4, 5500}, {4000, 5, 12, 81_500}, {4001, 0, 0, 81_520}} {
		c := CaseResult{Samples: 200, FewSamples: 100, Extrapolated: Extrapolation{Samples: want.samples}}
		c.add(few, all, reading{}, reading{})
		got := c.Extrapolated
		if math.Abs(got.Seconds.Median-want.seconds)+math.Abs(got.CPUSeconds.Median-want.cpu)+math.Abs(got.Bytes-want.bytes) > 1e-6 {
			t.Errorf("%+v: got %+v", want, got)
		}
	}
}

// Where noise may be as large as the cost of all samples, no time of more samples is given.
func TestNoiseHidesCost(t *testing.T) {
	for _, c := range []struct {
		few, all  float64 // in the second round; 1 and 2 in the first
		samples   int
		estimated bool
	}{
		{1.5, 2, 1000, true}, {2, 2, 1000, false}, {2.1, 2, 1000, false}, {2.1, 2, 200, true}, {-5, 2, 1000, true},
		{2, 3, 1000, true}, {3, 4, 1000, false}, {3, 4, 200, true},
	} {
		result := CaseResult{Samples: 200, FewSamples: 100, Extrapolated: Extrapolation{Samples: c.samples}}
		result.add(cost{growing: 1}, cost{seconds: 3, growing: 2}, reading{}, reading{})
		result.add(cost{growing: c.few}, cost{seconds: 3, growing: c.all}, reading{}, reading{})
		e := result.Extrapolated.Seconds
		if (e.Rounds > 0) != c.estimated {
			t.Errorf("%+v: got %+v", c, e)
		}
		if most := 3 + 800*c.all/200; e.Max > most {
			t.Errorf("%+v: got up to %g s, more than if nothing were fixed, %g s", c, e.Max, most)
		}
	}
	result := CaseResult{Samples: 200, FewSamples: 100, Extrapolated: Extrapolation{Samples: 1000}}
	for _, c := range [][2]float64{{1.7, 3.3}, {2.3, 2.5}, {2, 2.52}} { // adds 0.52 ± 0.7 s
		result.add(cost{growing: c[0]}, cost{seconds: 4, growing: c[1]}, reading{}, reading{})
	}
	if s := result.Build.SecondsPerSample; s.Rounds > 0 {
		t.Errorf("got %+v", s)
	}
}
