package combinations

import (
	"math/big"
	"math/rand/v2"
	"slices"
	"testing"
)

// enumerate lists the k-subsets of 0 to n-1 in lexicographic order, by the definition.
func enumerate(n, k int) [][]int {
	if k == 0 {
		return [][]int{nil}
	}
	var subsets [][]int
	for first := range n {
		for _, rest := range enumerate(n-first-1, k-1) {
			subset := []int{first}
			for _, element := range rest {
				subset = append(subset, first+1+element)
			}
			subsets = append(subsets, subset)
		}
	}
	return subsets
}

func TestUnrank(t *testing.T) {
	for n := 1; n <= 9; n++ {
		for k := 1; k <= n; k++ {
			want := enumerate(n, k)
			total, _ := binomial(n, k)
			if total != len(want) {
				t.Fatalf("binomial(%d, %d) = %d, want %d", n, k, total, len(want))
			}
			next := make([]int, k)
			unrank(next, n, 0, total)
			for rank := range total {
				subset := make([]int, k)
				unrank(subset, n, rank, total)
				if !slices.Equal(subset, want[rank]) || !slices.Equal(next, want[rank]) {
					t.Fatalf("n %d, k %d, rank %d: got %v by number and %v by steps, want %v", n, k, rank, subset, next, want[rank])
				}
				if rank < total-1 {
					advance(next, n)
				}
			}
		}
	}
}

// rankOf is the number of a subset by the combinatorial number system, in numbers of any size.
func rankOf(subset []int, n int) *big.Int {
	k := len(subset)
	rank := new(big.Int).Binomial(int64(n), int64(k))
	rank.Sub(rank, big.NewInt(1))
	for i, element := range subset {
		rank.Sub(rank, new(big.Int).Binomial(int64(n-1-element), int64(k-i)))
	}
	return rank
}

func TestUnrankLarge(t *testing.T) {
	r := rand.New(rand.NewPCG(7, 7))
	for _, size := range [][2]int{{6607, 1}, {6607, 2}, {6607, 3}, {6607, 5}, {6607, 6606}, {66, 33}, {62, 40}} {
		n, k := size[0], size[1]
		total, fits := binomial(n, k)
		if !fits {
			t.Fatalf("binomial(%d, %d) does not fit", n, k)
		}
		subset := make([]int, k)
		for i := range 50 {
			rank := r.IntN(total)
			if i < 2 {
				rank = i * (total - 1) // the first and the last
			}
			unrank(subset, n, rank, total)
			if found := rankOf(subset, n); !found.IsInt64() || found.Int64() != int64(rank) {
				t.Fatalf("n %d, k %d: the subset of rank %d is %v, which has rank %v", n, k, rank, subset, found)
			}
		}
	}
}

func TestBinomial(t *testing.T) {
	r := rand.New(rand.NewPCG(8, 8))
	cases := [][2]int{{6607, 6}, {6607, 30}, {66, 33}, {67, 33}, {68, 34}, {1 << 40, 1}, {3037000500, 2}, {4294967296, 2}, {4294967297, 2}}
	for range 2000 {
		n := 1 + r.IntN(200)
		cases = append(cases, [2]int{n, r.IntN(n + 1)})
	}
	for _, size := range cases {
		want := new(big.Int).Binomial(int64(size[0]), int64(size[1]))
		got, fits := binomial(size[0], size[1])
		if fits != want.IsInt64() || fits && int64(got) != want.Int64() {
			t.Errorf("binomial(%d, %d): got %d, %v, want %v", size[0], size[1], got, fits, want)
		}
	}
	if _, fits := binomial(1<<40, 1<<39); fits { // without computing it
		t.Error("binomial(2^40, 2^39) is said to fit 63 bits")
	}
	if got := aboutBinomial(6607, 30); got != "1.4 × 10^82" {
		t.Errorf("got about %s, want %v", got, new(big.Int).Binomial(6607, 30))
	}
}

func BenchmarkUnrank(b *testing.B) {
	total, _ := binomial(6607, 3)
	subset := make([]int, 3)
	for b.Loop() {
		unrank(subset, 6607, total-1, total)
	}
}
