package duplicates

import (
	"math"

	"gonum.org/v1/gonum/mathext"
)

// values are numbers of the open group that are there, one per record at most.
type values struct {
	records *records
	of      func(record []byte) float64 // NaN: missing
	count   int
}

// values counts the numbers that are not missing.
func (r *records) values(of func(record []byte) float64) values {
	v := values{r, of, 0}
	r.rewind()
	for range r.len() {
		if !math.IsNaN(of(r.next())) {
			v.count++
		}
	}
	return v
}

// squares are the values' squares.
func (v values) squares() values {
	of := v.of
	v.of = func(record []byte) float64 { return float64(of(record) * of(record)) }
	return v
}

// sum is that of NumPy, to the last bit: np.sum of the values in their order.
func (v values) sum() float64 {
	v.records.rewind()
	return pairwise(v.count, func() float64 {
		for v.records.at < v.records.end {
			if value := v.of(v.records.next()); !math.IsNaN(value) {
				return value
			}
		}
		return math.NaN() // a read failed
	})
}

// mean is np.mean; NaN without values.
func (v values) mean() float64 { return v.sum() / float64(v.count) }

// deviation is np.std with ddof=1: the sample standard deviation. It is missing for a single value.
func (v values) deviation() float64 {
	if v.count < 2 {
		return math.NaN()
	}
	mean := v.mean()
	of := v.of
	v.of = func(record []byte) float64 {
		difference := float64(of(record) - mean)
		return float64(difference * difference)
	}
	return math.Sqrt(v.sum() / float64(v.count-1))
}

// pairwise sums n values in the order of NumPy: pairs of halves, down to blocks of at most 128
// values, which have eight sums.
func pairwise(n int, next func() float64) float64 {
	if n > 128 {
		half := n / 2
		half -= half % 8
		left := pairwise(half, next)
		return left + pairwise(n-half, next)
	}
	sum := 0.0
	if n >= 8 {
		var sums [8]float64
		for range n / 8 {
			for k := range sums {
				sums[k] += next()
			}
		}
		sum = ((sums[0] + sums[1]) + (sums[2] + sums[3])) + ((sums[4] + sums[5]) + (sums[6] + sums[7]))
	}
	for range n % 8 {
		sum += next()
	}
	return sum
}

// pValueOfMean is the two-sided p-value of Student's t-test of n values against a mean of 0, as in
// torchcell: missing if they are all 0.
func pValueOfMean(n int, mean, deviation float64) float64 {
	t := mean / (deviation / math.Sqrt(float64(n)))
	if math.IsNaN(t) {
		return t
	}
	freedom := float64(n - 1)
	if t*t < 1 { // what is near 1 has no digits to spare
		return 1 - mathext.RegIncBeta(0.5, freedom/2, t*t/(freedom+t*t))
	}
	return mathext.RegIncBeta(freedom/2, 0.5, freedom/(freedom+t*t))
}
