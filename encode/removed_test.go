package encode

import (
	"math/rand/v2"
	"slices"
)

// sizes are mask space sizes around the boundaries of bytes, words, 16-bit gaps and lengths, and
// blocks of 131,072 packed bytes.
var sizes = []int{0, 1, 2, 7, 8, 9, 63, 64, 65, 1000, 65_536, 1 << 18,
	8*131_071 + 1, 8 * 131_072, 8*131_072 + 1, 2_450_000}

// removedCase is a sample's removed positions.
type removedCase struct {
	name    string
	removed []uint32
}

// removedCases are removed positions of every shape that fits into size positions.
func removedCases(size int) []removedCase {
	end := uint32(size)
	cases := []removedCase{{"nothing", nil}}
	if size == 0 {
		return cases
	}
	cases = append(cases,
		removedCase{"first", []uint32{0}},
		removedCase{"last", []uint32{end - 1}},
	)
	if size > 2 {
		cases = append(cases, removedCase{"first and last", []uint32{0, end - 1}})
	}
	if size < 1<<18 { // larger ones take time
		cases = append(cases,
			removedCase{"everything", positions(0, end, 1)},
			removedCase{"all but the first", positions(1, end, 1)},
			removedCase{"all but the last", positions(0, end-1, 1)},
			removedCase{"alternating", positions(0, end, 2)},
			removedCase{"one in each byte", positions(3, end, 8)},
			removedCase{"half at random", random(size, size/2)},
			removedCase{"a tenth at random", random(size, size/10)},
		)
	}
	if size == 1<<18 {
		for _, run := range []uint32{65_534, 65_535, 65_536, 131_070, 131_071, 180_000} {
			cases = append(cases, removedCase{"long run", positions(70_000, 70_000+run, 1)})
		}
		for _, gap := range []uint32{65_534, 65_535, 65_536, 131_070, 131_071, 200_000} {
			cases = append(cases, removedCase{"long gap", []uint32{1, 2 + gap}}, removedCase{"long first gap", []uint32{gap, gap + 1}})
		}
	}
	if size == 8*131_072+1 {
		cases = append(cases, removedCase{"a whole block", positions(0, 8*131_072, 1)})
	}
	if size > 1<<18 {
		cases = append(cases,
			removedCase{"more literals than a section holds", random(8*4000, 9000)},
			removedCase{"more stretches than a section holds", positions(0, 8*30*1100, 8*30)},
			removedCase{"as on the yeast graph", yeastLike(size)},
		)
	}
	return cases
}

// positions lists every step-th position from first to end-1.
func positions(first, end, step uint32) []uint32 {
	var list []uint32
	for position := first; position < end; position += step {
		list = append(list, position)
	}
	return list
}

// random draws up to count positions below size.
func random(size, count int) []uint32 {
	r := rand.New(rand.NewPCG(uint64(size), uint64(count)))
	list := make([]uint32, count)
	for i := range list {
		list[i] = uint32(r.IntN(size))
	}
	slices.Sort(list)
	return slices.Compact(list)
}

// yeastLike draws 1,850 positions as three deleted genes leave them: half of them
// outgoing edges in runs, half incoming ones alone.
func yeastLike(size int) []uint32 {
	const count = 1850
	r := rand.New(rand.NewPCG(1, 2))
	set := make(map[uint32]bool)
	for len(set) < count/2 {
		first := r.IntN(size)
		for i := range min(1+r.IntN(90), size-first, count/2-len(set)) {
			set[uint32(first+i)] = true
		}
	}
	for len(set) < count {
		set[uint32(r.IntN(size))] = true
	}
	var list []uint32
	for position := range set {
		list = append(list, position)
	}
	slices.Sort(list)
	return list
}
