package selection

import (
	"cmp"
	"math/bits"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"tcbuild/fault"
)

// none is the part of a unit that has none yet.
const none = -1

// unit is what is put into a part as a whole: a sample, a genotype, a gene or a component.
type unit struct {
	number  int // units are numbered, so that the seed means the same on every machine
	stratum int
	// none, or the one that it is pinned to or held out in; after assign the one that it got
	part    int
	held    bool
	samples int // that it has; not counted by gene
}

// assign puts each unit that has no part into one, as the package comment specifies.
func assign(units []unit, strata int, fractions []Fraction, seed uint64) {
	free := make([][]drawn, strata) // the units without a part
	pinned, counts := make([][]int, strata), make([]int, strata)
	for s := range pinned {
		pinned[s] = make([]int, len(fractions))
	}
	for i := range units {
		u := &units[i]
		if u.held {
			continue
		}
		counts[u.stratum]++
		if u.part == none {
			free[u.stratum] = append(free[u.stratum], drawn{splitMix(seed, u.number), u})
		} else {
			pinned[u.stratum][u.part]++
		}
	}
	// billionths of units that the parts got too few of so far
	owed := make([]int64, len(fractions))
	for s := range strata {
		slices.SortFunc(free[s], func(a, b drawn) int {
			if a.key == b.key {
				return cmp.Compare(a.number, b.number)
			}
			return cmp.Compare(a.key, b.key)
		})
		next := 0
		for part, count := range targets(counts[s], pinned[s], fractions, owed) {
			for range count - pinned[s][part] {
				free[s][next].part = part
				next++
			}
		}
	}
}

// drawn is a unit with its random number, by which the units of a stratum are sorted: the first
// ones go to the first part.
type drawn struct {
	key uint64
	*unit
}

// splitMix is the k-th output, from 0, of the generator SplitMix64 with a seed (Steele, Lea and
// Flood, 2014).
func splitMix(seed uint64, k int) uint64 {
	z := seed + (uint64(k)+1)*0x9e3779b97f4a7c15
	z = (z ^ z>>30) * 0xbf58476d1ce4e5b9
	z = (z ^ z>>27) * 0x94d049bb133111eb
	return z ^ z>>31
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

// Fraction is a part of a split, and how much of the whole it gets.
type Fraction struct {
	Part       string
	Billionths int64 // of the whole: exact, so that every machine computes the same
}

const whole = 1_000_000_000

// unplaced is the name of the file with the samples that no part can have.
const unplaced = "unplaced"

var (
	partName     = regexp.MustCompile(`^[A-Za-z0-9][A-Za-z0-9_-]*$`)
	partFraction = regexp.MustCompile(
		`^\s*([A-Za-z0-9][A-Za-z0-9_-]*)\s*=\s*([01]?)(?:\.([0-9]{1,9}))?\s*$`)
)

const fractionsHint = "write them as in train=0.8,val=0.1,test=0.1"

// ParseFractions reads fractions written as PART=NUMBER, which add up to 1. A number is decimal and
// has up to nine digits after its point.
func ParseFractions(words []string) ([]Fraction, error) {
	var fractions []Fraction
	sum := int64(0)
	seen := make(map[string]bool)
	for _, word := range words {
		var part string
		var billionths int64
		if match := partFraction.FindStringSubmatch(word); match != nil && match[1] != unplaced {
			part = match[1]
			billionths, _ = strconv.ParseInt(match[2]+match[3]+strings.Repeat("0", 9-len(match[3])),
				10, 64)
		}
		switch {
		case billionths == 0:
			return nil, fault.New(fault.Usage,
				fractionsHint+", without parts of 0; "+unplaced+" is no part's name",
				"read --fractions: found %s, expected PART=NUMBER: a name of letters, "+
					"digits, _ and -, "+
					"and a decimal number above 0 with at most 9 digits after the point",
				fault.Quote(word))
		// names of files, which some disks take without their case
		case seen[strings.ToLower(part)]:
			return nil, fault.New(fault.Usage, "name each part once",
				"read --fractions: found part %s twice", part)
		}
		seen[strings.ToLower(part)] = true
		fractions = append(fractions, Fraction{part, billionths})
		sum += billionths
	}
	if sum != whole {
		return nil, fault.New(fault.Usage, fractionsHint,
			"read --fractions: found %s, which add up to %s, expected 1",
			strings.Join(words, ","), formatFraction(sum))
	}
	return fractions, nil
}

func formatFraction(billionths int64) string {
	return strconv.FormatFloat(float64(billionths)/whole, 'f', -1, 64)
}

// FormatFractions is the text that ParseFractions reads, in one form for equal fractions.
func FormatFractions(fractions []Fraction) string {
	var words []string
	for _, f := range fractions {
		words = append(words, f.Part+"="+formatFraction(f.Billionths))
	}
	return strings.Join(words, ",")
}

func partIndex(fractions []Fraction, name string) (index int, hint string) {
	var names []string
	for i, f := range fractions {
		if f.Part == name {
			return i, ""
		}
		names = append(names, f.Part)
	}
	return -1, fault.DidYouMean(name, names, "the parts are "+strings.Join(names, ", "))
}
