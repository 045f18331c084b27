package encode

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"testing"
)

func randomRemoved(r *rand.Rand, size, singles, runs, runLen int) []uint32 {
	m := map[uint32]bool{}
	for range singles {
		m[uint32(r.IntN(size))] = true
	}
	for range runs {
		s := r.IntN(size)
		for i := range r.IntN(2 * runLen) {
			if s+i < size {
				m[uint32(s+i)] = true
			}
		}
	}
	var out []uint32
	for k := range m {
		out = append(out, k)
	}
	slices.Sort(out)
	return out
}
func TestX(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 2))
	for _, c := range codecs {
		for _, size := range []int{0, 1, 2, 3, 4, 5, 7, 8, 9, 63, 64, 65, 100, 131071, 131072, 131073, 262144, 8*131072 + 1, 2450000} {
			for _, k := range []int{0, 1, 2, 5, 30, 900, 20000, 200000} {
				if size == 0 && k > 0 {
					continue
				}
				var rem []uint32
				if size > 0 {
					rem = randomRemoved(r, size, k, k/40, 45)
				}
				f := c.NewEncoder(size).Append(nil, rem)
				got, err := c.NewDecoder(size).Removed(f)
				if err != nil {
					t.Fatal(c.Name, size, k, err)
				}
				if !slices.Equal(rem, got) {
					t.Fatal(c, size, k, "differ")
				}
				m, err := c.NewDecoder(size).Masks(f)
				if err != nil {
					t.Fatal(c.Name, size, k, err)
				}
				var back []uint32
				for i, b := range m {
					if b == 0 {
						back = append(back, uint32(i))
					}
				}
				if len(m) != size || !slices.Equal(rem, back) {
					t.Fatal(c, size, k, "differ")
				}
			}
		}
	}
}

func BenchmarkE(b *testing.B) {
	r := rand.New(rand.NewPCG(1, 2))
	rem := randomRemoved(r, 2450000, 900, 22, 45)
	for _, c := range codecs {
		e := c.NewEncoder(2450000)
		var dst []byte
		b.Run(fmt.Sprintf("enc/%s/%s", c.Mode, c.Name), func(b *testing.B) {
			for b.Loop() {
				dst = e.Append(dst[:0], rem)
			}
			b.ReportMetric(float64(len(dst)), "size")
		})
		d := c.NewDecoder(2450000)
		b.Run(fmt.Sprintf("dec/%s/%s", c.Mode, c.Name), func(b *testing.B) {
			for b.Loop() {
				d.Removed(dst)
			}
		})
	}
}
