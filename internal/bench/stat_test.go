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
		{formatNumber(0), "0"}, {formatNumber(0.012345), "0.0123"}, {formatNumber(4), "4"}, {formatNumber(4.567), "4.57"}, {formatNumber(45.67), "45.7"},
		{formatNumber(999.4), "999"}, {formatNumber(1000), "1,000"}, {formatNumber(332313), "332,313"}, {formatNumber(-1234567), "-1,234,567"},
		{formatBytes(0), "0 B"}, {formatBytes(999), "999 B"}, {formatBytes(999.6), "1.00 kB"}, {formatBytes(821e9), "821 GB"}, {formatBytes(5e18), "5,000 PB"},
		{formatSeconds(0), "0 s"}, {formatSeconds(13e-6), "13 µs"}, {formatSeconds(0.9996e-3), "1.00 ms"}, {formatSeconds(0.0123), "12.3 ms"},
		{formatSeconds(119.9), "120 s"}, {formatSeconds(150), "2.50 min"}, {formatSeconds(9000), "2.50 h"},
		{formatPercent(0.004), "0.4 %"}, {formatPercent(0.63), "63 %"}, {formatPercent(0.0999), "10 %"},
		{formatStat(Stat{2, 1, 4, 2, nil}, formatNumber), "2 ±75%"}, {formatStat(Stat{2, 2, 2, 1, nil}, formatNumber), "2"},
		{byteTick(1500), "1.5 kB"}, {byteTick(1e9), "1 GB"}, {secondsTick(1.5), "1.5 s"},
	} {
		if c.got != c.want {
			t.Errorf("got %q, want %q", c.got, c.want)
		}
	}
}
