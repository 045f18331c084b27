package inspect

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"testing"
)

func TestDistribute(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 1))
	for range 500 {
		counts := make([]int, 1+r.IntN(40))
		for i := range counts {
			counts[i] = r.IntN(1 + r.IntN(70))
		}
		d := distribute(counts, func(i int) string { return fmt.Sprint(i) })
		none, sum, atMostMedian, atMostP90 := 0, 0, 0, 0
		for _, n := range counts {
			sum += n
			if n == 0 {
				none++
			}
			if n <= d.Median {
				atMostMedian++
			}
			if n <= d.P90 {
				atMostP90++
			}
		}
		most := slices.Index(counts, slices.Max(counts))
		isMost := d.Max == counts[most] && d.Most == fmt.Sprint(most)
		isMean := d.Mean == float64(sum)/float64(len(counts))
		isCounted := d.Things == len(counts) && d.None == none
		if !isCounted || !isMost || !isMean {
			t.Fatalf("%v: got %+v", counts, d)
		}
		isMedian := 2*atMostMedian >= len(counts) && slices.Contains(counts, d.Median)
		isP90 := 10*atMostP90 >= 9*len(counts) && slices.Contains(counts, d.P90)
		if !isMedian || !isP90 {
			t.Fatalf("%v: got median %d and 90 %% %d", counts, d.Median, d.P90)
		}
		next := 0
		for _, bin := range d.Bins {
			things := 0
			for _, n := range counts {
				if bin.From <= n && n <= bin.To {
					things++
				}
			}
			if bin.From != next || things != bin.Things {
				t.Fatalf("%v: got bin %+v, want it to start at %d with %d", counts, bin, next,
					things)
			}
			next = bin.To + 1
		}
		if next <= d.Max {
			t.Fatalf("%v: the bins end before %d", counts, next)
		}
	}
}
