package inspect

import (
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"tcbuild/internal/page"
)

// Bins are what a second pass over the numbers counts, whatever their order.
func TestHistogram(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 2))
	draw := []func() float64{
		r.NormFloat64, r.ExpFloat64, func() float64 { return float64(r.IntN(2)) }, func() float64 { return float64(r.IntN(100) - 50) },
		func() float64 { return 0.37 }, func() float64 { return 0 }, func() float64 { return 1000 + r.Float64()/1e9 },
		func() float64 { return math.Ldexp(r.Float64()-0.5, r.IntN(2000)-1000) },
		func() float64 { return math.Float64frombits(r.Uint64() & 0xffff) }, // subnormal
		func() float64 { return []float64{-math.MaxFloat64, math.MaxFloat64, 0, 1}[r.IntN(4)] },
		func() float64 { return []float64{0, 5e-324, -5e-324, 1e-300}[r.IntN(4)] },
	}
	for kind, next := range draw {
		for _, n := range []int{1, 2, 3, 100, 1000} {
			numbers := make([]float64, n)
			for i := range numbers {
				numbers[i] = next()
			}
			count := func() []page.Bin {
				var c numberCounter
				for _, x := range numbers {
					c.add(x)
				}
				return c.summary().Bins
			}
			bins := count()
			low, high, whole := slices.Min(numbers), slices.Max(numbers), !slices.ContainsFunc(numbers, func(x float64) bool { return x != math.Trunc(x) })
			if len(bins) > maxBins || low < high && len(bins) < 2 && !whole || low < bins[0].From || low > bins[0].To || high < bins[len(bins)-1].From || high > bins[len(bins)-1].To {
				t.Fatalf("%d: %d bins from %g to %g of numbers from %g to %g", kind, len(bins), bins[0].From, bins[len(bins)-1].To, low, high)
			}
			width := bins[0].To - bins[0].From
			if whole && width < 1 || len(bins) <= maxBins/2 && low < high && !whole && (high-low)/width > maxBins/2+1 {
				t.Errorf("%d: %d bins of width %g", kind, len(bins), width)
			}
			for i, bin := range bins {
				values := 0
				for _, x := range numbers {
					if bin.From <= x && (x < bin.To || bin.To == math.MaxFloat64) {
						values++
					}
				}
				if values != bin.Value || i > 0 && bin.From != bins[i-1].To {
					t.Fatalf("%d: found %+v after %+v, expected %d values", kind, bin, bins[max(i-1, 0)], values)
				}
			}
			slices.Reverse(numbers)
			if again := count(); !slices.Equal(again, bins) {
				t.Errorf("%d: found bins %v in reverse order, expected %v", kind, again, bins)
			}
			slices.Sort(numbers)
			if again := count(); !slices.Equal(again, bins) {
				t.Errorf("%d: found bins %v of sorted numbers, expected %v", kind, again, bins)
			}
		}
	}
}

func TestSparkline(t *testing.T) {
	var bins []page.Bin
	for _, n := range []int{1, 0, 500, 1000, 999} {
		bins = append(bins, page.Bin{Value: n})
	}
	if got := sparkline(bins); got != "▁ ▄██" {
		t.Errorf("found %q", got)
	}
}
