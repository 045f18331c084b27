package selection

import (
	"cmp"
	"math/bits"
	"slices"
)

// none is the part of a unit that has none yet.
const none = -1

// unit is what is put into a part as a whole: a sample, a genotype, a gene or a component.
type unit struct {
	// by which the units of a stratum are sorted: the first ones go to the first part
	random  uint64
	stratum int
	// none, or the one that it is pinned to or held out in; after assign the one that it got
	part    int
	held    bool // out: it is in its part already, and takes nothing of the fractions
	samples int  // that it has; not counted by gene
}

// pool is units that share the fractions.
type pool struct {
	units  []*unit
	strata map[string]int // their numbers, in the order in which they first appear
}

// add adds a unit, whose number says which random number it has, so that the seed means the same on
// every machine.
func (p *pool) add(seed uint64, number, stratum int) *unit {
	u := &unit{random: splitMix(seed, number), stratum: stratum, part: none}
	p.units = append(p.units, u)
	return u
}

// assign puts each unit that has no part into one, as the package comment specifies.
func assign(units []*unit, fractions []Fraction) {
	var strata [][]*unit
	for _, u := range units {
		if u.held {
			continue
		}
		strata = append(strata, make([][]*unit, max(0, u.stratum+1-len(strata)))...)
		strata[u.stratum] = append(strata[u.stratum], u)
	}
	// billionths of units that the parts got too few of so far
	owed := make([]int64, len(fractions))
	for _, stratum := range strata {
		var free []*unit
		pinned := make([]int, len(fractions))
		for _, u := range stratum {
			if u.part == none {
				free = append(free, u)
			} else {
				pinned[u.part]++
			}
		}
		slices.SortFunc(free, func(a, b *unit) int { return cmp.Compare(a.random, b.random) })
		for part, count := range targets(len(stratum), pinned, fractions, owed) {
			for range count - pinned[part] {
				free[0].part = part
				free = free[1:]
			}
		}
	}
}

// targets are the numbers of units that the parts of a stratum of count units get; owed is kept up
// to date.
func targets(count int, pinned []int, fractions []Fraction, owed []int64) []int {
	got := make([]int, len(fractions))
	open := make([]bool, len(fractions)) // shares the units that are not in full parts
	for part := range open {
		open[part] = true
	}
	for full := true; full; {
		full = false
		left, sum := count, int64(0)
		for part, f := range fractions {
			if open[part] {
				sum += f.Billionths
			} else {
				left -= got[part]
			}
		}
		share(got, open, left, sum, fractions, owed)
		for part := range fractions {
			if open[part] && pinned[part] > got[part] {
				got[part], open[part], full = pinned[part], false, true
			}
		}
	}
	for part, f := range fractions {
		owed[part] += int64(count)*f.Billionths - int64(got[part])*whole
	}
	return got
}

// share divides count units among the open parts, whose fractions have this sum.
func share(got []int, open []bool, count int, sum int64, fractions []Fraction, owed []int64) {
	var uneven []int // parts that rounding down gave too little
	over := count
	for part, f := range fractions {
		if !open[part] {
			continue
		}
		high, low := bits.Mul64(uint64(count), uint64(f.Billionths))
		quotient, rest := bits.Div64(high, low, uint64(sum))
		got[part] = int(quotient)
		over -= int(quotient)
		if rest > 0 {
			uneven = append(uneven, part)
		}
	}
	exact := func(part int) int64 {
		return owed[part] + int64(count)*fractions[part].Billionths - int64(got[part])*sum
	}
	slices.SortStableFunc(uneven, func(a, b int) int { return cmp.Compare(exact(b), exact(a)) })
	for _, part := range uneven[:over] {
		got[part]++
	}
}

// assignLargestFirst puts components into parts, as the package comment specifies.
func assignLargestFirst(units []*unit, fractions []Fraction) {
	var free []*unit
	all, got := 0, make([]int, len(fractions)) // samples
	for _, u := range units {
		all += u.samples
		if u.part == none {
			free = append(free, u)
		} else {
			got[u.part] += u.samples
		}
	}
	slices.SortFunc(free, func(a, b *unit) int {
		return cmp.Or(b.samples-a.samples, cmp.Compare(a.random, b.random))
	})
	for _, u := range free {
		most := int64(0)
		for part, f := range fractions {
			missing := int64(all)*f.Billionths - int64(got[part])*whole
			if u.part == none || missing > most {
				u.part, most = part, missing
			}
		}
		got[u.part] += u.samples
	}
}

// splitMix is the k-th output, from 0, of the generator SplitMix64 with a seed (Steele, Lea and
// Flood, 2014). Different k have different outputs.
func splitMix(seed uint64, k int) uint64 {
	z := seed + (uint64(k)+1)*0x9e3779b97f4a7c15
	z = (z ^ z>>30) * 0xbf58476d1ce4e5b9
	z = (z ^ z>>27) * 0x94d049bb133111eb
	return z ^ z>>31
}
