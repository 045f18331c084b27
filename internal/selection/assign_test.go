package selection

import (
	"math/big"
	"math/rand/v2"
	"slices"
	"testing"

	"tcbuild/internal/testing/seed"
	"tcbuild/internal/testing/testrun"
)

// The numbers are those of the generator's reference implementation,
// https://prng.di.unimi.it/splitmix64.c.
func TestSplitMix(t *testing.T) {
	want := []uint64{6457827717110365317, 3203168211198807973, 9817491932198370423, 4593380528125082431, 16408922859458223821}
	for k := range want {
		if got := splitMix(1234567, k); got != want[k] {
			t.Errorf("number %d: got %d, want %d", k, got, want[k])
		}
	}
}

// bigSplitMix is splitMix in numbers without bounds.
func bigSplitMix(seed uint64, k int) *big.Int {
	modulus := new(big.Int).Lsh(big.NewInt(1), 64)
	wrap := func(z *big.Int) *big.Int { return z.Mod(z, modulus) }
	hex := func(text string) *big.Int { z, _ := new(big.Int).SetString(text, 16); return z }
	mix := func(z *big.Int, shift uint) *big.Int { return new(big.Int).Xor(z, new(big.Int).Rsh(z, shift)) }
	z := new(big.Int).Mul(big.NewInt(int64(k)+1), hex("9e3779b97f4a7c15"))
	z = wrap(z.Add(z, new(big.Int).SetUint64(seed)))
	z = wrap(new(big.Int).Mul(mix(z, 30), hex("bf58476d1ce4e5b9")))
	z = wrap(new(big.Int).Mul(mix(z, 27), hex("94d049bb133111eb")))
	return mix(z, 31)
}

// slowUnit is a unit by its number.
type slowUnit struct{ number, stratum, part int }

// slowAssign does what the package comment says, in exact numbers and without any care for speed.
func slowAssign(units []slowUnit, strata int, fractions []Fraction, seed uint64) []int {
	owed := make([]*big.Rat, len(fractions))
	for k := range owed {
		owed[k] = new(big.Rat)
	}
	got := make([]int, len(units))
	for i := range units {
		got[i] = units[i].part
	}
	for s := range strata {
		var all, free []int
		pinned := make([]int, len(fractions))
		for i, u := range units {
			if u.stratum != s {
				continue
			}
			all = append(all, i)
			if u.part == none {
				free = append(free, i)
			} else {
				pinned[u.part]++
			}
		}
		counts, full := make([]int, len(fractions)), make([]bool, len(fractions))
		for again := true; again; {
			again = false
			left, sum := len(all), new(big.Rat)
			for k, f := range fractions {
				if full[k] {
					left -= pinned[k]
				} else {
					sum.Add(sum, big.NewRat(f.Billionths, 1))
				}
			}
			over := left
			var uneven []int
			shares := make([]*big.Rat, len(fractions))
			for k, f := range fractions {
				if full[k] {
					continue
				}
				share := new(big.Rat).Quo(big.NewRat(int64(left)*f.Billionths, 1), sum)
				down := new(big.Int).Quo(share.Num(), share.Denom())
				counts[k] = int(down.Int64())
				over -= counts[k]
				// in billionths of the sum: what the part misses, besides what it is owed
				shares[k] = new(big.Rat).Mul(new(big.Rat).Sub(share, new(big.Rat).SetInt(down)), sum)
				if !share.IsInt() {
					uneven = append(uneven, k)
				}
			}
			for range over {
				best := -1
				for _, k := range uneven {
					if best < 0 || new(big.Rat).Add(owed[k], shares[k]).Cmp(new(big.Rat).Add(owed[best], shares[best])) > 0 {
						best = k
					}
				}
				counts[best]++
				uneven = slices.DeleteFunc(uneven, func(k int) bool { return k == best })
			}
			for k := range fractions {
				if !full[k] && pinned[k] > counts[k] {
					counts[k], full[k], again = pinned[k], true, true
				}
			}
		}
		for k, f := range fractions {
			owed[k].Add(owed[k], big.NewRat(int64(len(all))*f.Billionths-int64(counts[k])*whole, 1))
		}
		slices.SortFunc(free, func(a, b int) int { return bigSplitMix(seed, units[a].number).Cmp(bigSplitMix(seed, units[b].number)) })
		for k := range fractions {
			for range counts[k] - pinned[k] {
				got[free[0]], free = k, free[1:]
			}
		}
	}
	return got
}

// randomFractions add up to 1.
func randomFractions(r *rand.Rand) []Fraction {
	fractions, left := []Fraction{}, int64(whole)
	for k := range 1 + r.IntN(4) {
		part := max(1, []int64{left / 10 * int64(1+r.IntN(8)), r.Int64N(left)}[r.IntN(2)])
		fractions = append(fractions, Fraction{[]string{"train", "val", "test", "more"}[k], part})
		left -= part
	}
	fractions[0].Billionths += left
	return fractions
}

func TestAssign(t *testing.T) {
	r := seed.Rand(t)
	for range testrun.Cases(2000, 300) {
		fractions, strata := randomFractions(r), 1+r.IntN(4)
		var p pool
		before, pinning, chosen := make([]slowUnit, r.IntN(60)), r.IntN(3), r.Uint64()
		for i := range before {
			before[i] = slowUnit{number: 2*i + r.IntN(2), stratum: r.IntN(strata), part: none}
			if pinning > 0 && r.IntN(2*pinning) == 0 {
				before[i].part = r.IntN(len(fractions))
			}
			p.add(chosen, before[i].number, before[i].stratum).part = before[i].part
		}
		assign(p.units, fractions)
		want := slowAssign(before, strata, fractions, chosen)
		counts := make([][]int, strata)
		for s := range counts {
			counts[s] = make([]int, len(fractions)+1)
		}
		unpinned := true
		for i, u := range p.units {
			if u.part != want[i] || u.part == none || before[i].part != none && u.part != before[i].part {
				t.Fatalf("unit %d: got part %d, want %d (pinned: %d)", i, u.part, want[i], before[i].part)
			}
			counts[u.stratum][u.part]++
			counts[u.stratum][len(fractions)]++
			unpinned = unpinned && before[i].part == none
		}
		for s, of := range counts {
			for k, f := range fractions {
				miss := int64(of[k])*whole - int64(of[len(fractions)])*f.Billionths
				if unpinned && (miss >= whole || miss <= -whole) {
					t.Fatalf("stratum %d of %d units: part %d has %d, want %d/%d of them within one", s, of[len(fractions)], k, of[k], f.Billionths, whole)
				}
			}
		}
	}
}

// Strata of one unit each are not all rounded alike.
func TestAssignSmallStrata(t *testing.T) {
	fractions := []Fraction{{"train", 8e8}, {"val", 1e8}, {"test", 1e8}}
	var p pool
	for i := range 1000 {
		p.add(7, i, i)
	}
	assign(p.units, fractions)
	counts := make([]int, 3)
	for _, u := range p.units {
		counts[u.part]++
	}
	if counts[0] < 795 || counts[0] > 805 || counts[1] < 95 || counts[1] > 105 {
		t.Errorf("got %v of 1000, want about 800, 100 and 100", counts)
	}
}
