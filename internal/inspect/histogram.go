package inspect

import (
	"math"
	"strings"

	"tcbuild/internal/page"
)

// maxBins is how many bins a histogram has at most. It has more than half of that, unless there are
// fewer whole numbers.
const maxBins = 32

// histogram counts numbers in bins whose width is a power of two and whose edges are multiples of
// it. Whenever a number does not fit, neighbouring bins are merged, which loses nothing: so the
// bins are those of all numbers together, whatever their order, and one pass is enough.
type histogram struct {
	exponent int   // bins are 2^exponent wide
	first    int64 // the first bin is from first*2^exponent on
	counts   []int
	fraction bool // there is a number that is not whole
}

// add counts a finite number.
func (h *histogram) add(x float64) {
	h.fraction = h.fraction || x != math.Trunc(x)
	if len(h.counts) == 0 { // bins as narrow as x allows
		_, exponent := math.Frexp(x)
		h.exponent = max(exponent-53, -1074)
		if x == 0 {
			h.exponent = -1074
		}
		h.first, h.counts = int64(h.binOf(x)), []int{0}
	}
	for {
		// of more than 2^53 bins from 0, those of x and of what was added before are too far apart
		if bin := h.binOf(x); math.Abs(bin) < 1<<53 && h.fits(int64(bin)) {
			h.count(int64(bin))
			return
		}
		h.merge()
	}
}

// binOf is the number of the bin of x, counted from the one that starts at 0.
func (h *histogram) binOf(x float64) float64 {
	if bin := math.Floor(math.Ldexp(x, -h.exponent)); bin != 0 || x >= 0 {
		return bin
	}
	return -1 // the quotient is too close to 0 for a number of its own
}

// fits reports whether there can be a bin, besides those that there are.
func (h *histogram) fits(bin int64) bool {
	return max(bin, h.first+int64(len(h.counts))-1)-min(bin, h.first) < maxBins
}

// count adds one to a bin, which may be beside the present ones.
func (h *histogram) count(bin int64) {
	if bin < h.first {
		h.counts = append(make([]int, h.first-bin), h.counts...)
		h.first = bin
	}
	for h.first+int64(len(h.counts)) <= bin {
		h.counts = append(h.counts, 0)
	}
	h.counts[bin-h.first]++
}

// merge doubles the width of the bins.
func (h *histogram) merge() {
	merged := make([]int, 0, len(h.counts))
	for i, n := range h.counts {
		// the shift rounds down, for bins below 0 too
		if at := int((h.first+int64(i))>>1 - h.first>>1); at < len(merged) {
			merged[at] += n
		} else {
			merged = append(merged, n)
		}
	}
	h.first, h.counts, h.exponent = h.first>>1, merged, h.exponent+1
}

// bins are the bins from the lowest number's to the highest one's. Those of whole numbers are not
// narrower than 1.
func (h *histogram) bins() []page.Bin {
	bins := []page.Bin{}
	if len(h.counts) == 0 {
		return bins
	}
	for !h.fraction && h.exponent < 0 {
		h.merge()
	}
	for i, n := range h.counts {
		edge := h.first + int64(i)
		bins = append(bins, page.Bin{From: edgeOf(edge, h.exponent), To: edgeOf(edge+1, h.exponent), Value: n})
	}
	return bins
}

// edgeOf is bin*2^exponent, or the number nearest to it: JSON has no infinity.
func edgeOf(bin int64, exponent int) float64 {
	return max(-math.MaxFloat64, min(math.MaxFloat64, math.Ldexp(float64(bin), exponent)))
}

// sparkline draws bins as a line of characters, whose heights are the counts; a bin without values
// is a blank.
func sparkline(bins []page.Bin) string {
	heights := []rune("▁▂▃▄▅▆▇█")
	most := 0
	for _, bin := range bins {
		most = max(most, bin.Value)
	}
	var line strings.Builder
	for _, bin := range bins {
		if bin.Value == 0 {
			line.WriteByte(' ')
		} else {
			line.WriteRune(heights[(bin.Value*len(heights)-1)/most])
		}
	}
	return line.String()
}
