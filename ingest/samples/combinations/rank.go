package combinations

import (
	"math/big"
	"math/bits"
)

// binomial is the number of k-subsets of n elements; ok is false if it does not fit.
func binomial(n, k int) (count int, ok bool) {
	c := new(big.Int).Binomial(int64(n), int64(k))
	return int(c.Int64()), c.IsInt64()
}

// unrank sets subset to the k-subset of 0 to n-1, k = len(subset), that has the given rank in
// lexicographic order, 0 <= rank < total = binomial(n, k). For each element it counts the remaining
// subsets that start with it, so it takes at most n steps.
func unrank(subset []int, n, rank, total int) {
	left := uint64(total) // subsets of the elements from element on
	for i, element := 0, 0; i < len(subset); element++ {
		// binomial(m, j) * j / m = binomial(m-1, j-1): those that start with element
		high, low := bits.Mul64(left, uint64(len(subset)-i))
		begin, _ := bits.Div64(high, low, uint64(n-element))
		if uint64(rank) < begin {
			subset[i] = element
			left = begin
			i++
		} else {
			rank -= int(begin)
			left -= begin
		}
	}
}

// advance makes subset the next one in lexicographic order. There is none after the last.
func advance(subset []int, n int) {
	k := len(subset)
	i := k - 1
	for subset[i] == n-k+i {
		i--
	}
	subset[i]++
	for i++; i < k; i++ {
		subset[i] = subset[i-1] + 1
	}
}
