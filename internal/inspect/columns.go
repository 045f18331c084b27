package inspect

import (
	"cmp"
	"math"
	"slices"
	"strconv"
	"strings"

	"tcbuild/ingest"
	"tcbuild/internal/page"
)

// NumberSummary is what a column of numbers holds. Without values, Min, Mean and Max are 0.
type NumberSummary struct {
	Values  int        `json:"values"`
	Missing int        `json:"missing"` // NaN, or infinite, as a build stores no infinite value
	Min     float64    `json:"min"`
	Mean    float64    `json:"mean"`
	SD      *float64   `json:"sd"` // with n-1; nil of fewer than two values, or beyond float64
	Max     float64    `json:"max"`
	Bins    []page.Bin `json:"bins"` // of equal width, from Min's to Max's
	whole   bool       // there are only whole numbers
}

type numberCounter struct {
	NumberSummary
	squares   float64 // of the differences from the mean
	histogram histogram
}

// add counts a value, NaN if it is missing.
func (c *numberCounter) add(value float64) {
	if math.IsNaN(value) || math.IsInf(value, 0) {
		c.Missing++
		return
	}
	if c.Values++; c.Values == 1 {
		c.Min, c.Max = value, value
	}
	c.Min, c.Max = min(c.Min, value), max(c.Max, value)
	n := float64(c.Values)
	mean := c.Mean + (value/n - c.Mean/n) // divided first: the difference may be beyond float64
	c.squares += (value - c.Mean) * (value - mean)
	c.Mean = mean
	c.histogram.add(value)
}

func (c *numberCounter) summary() NumberSummary {
	s := c.NumberSummary
	if sd := math.Sqrt(c.squares / float64(s.Values-1)); s.Values > 1 && sd <= math.MaxFloat64 {
		s.SD = &sd
	}
	s.Bins, s.whole = c.histogram.bins(), !c.histogram.fraction
	return s
}

// plots has the histogram, unless there are no values; unit may be empty.
func (s *NumberSummary) plots(name, unit string) []page.Plot {
	if len(s.Bins) == 0 {
		return nil
	}
	plot := page.Plot{Title: name, X: cmp.Or(unit, "value"), Counted: "samples", Bins: s.Bins}
	if s.whole && s.Bins[0].To-s.Bins[0].From == 1 { // each bin is one number
		plot.Bins = nil
		for _, bin := range s.Bins {
			plot.Columns = append(plot.Columns,
				page.Column{Label: strconv.FormatFloat(bin.From, 'f', -1, 64), Value: bin.Value})
		}
	}
	return []page.Plot{plot}
}

// PhenotypeSummary is one phenotype.
type PhenotypeSummary struct {
	ingest.Phenotype
	NumberSummary
}

// AttributeSummary is one attribute.
type AttributeSummary struct {
	ingest.Attribute
	Values  int `json:"values"` // samples that have it
	Missing int `json:"missing"`
	// Different is the number of distinct values; nil if there are more than mostDifferent, or if
	// their texts are longer than mostText together. Then MostFrequent is empty.
	Different *int `json:"different"`
	// of all, at most mostFrequent, descending
	MostFrequent []ValueCount   `json:"most_frequent"`
	Numbers      *NumberSummary `json:"numbers,omitempty"` // of an attribute of numbers
}

// ValueCount is a value of an attribute, a string or float64, and how many samples have it.
type ValueCount struct {
	Value   any `json:"value"`
	Samples int `json:"samples"`
}

const (
	mostDifferent = 100_000
	mostText      = 16 << 20
	mostFrequent  = 10
)

// attributeCounter builds an AttributeSummary, value by value. Its memory is bounded.
type attributeCounter struct {
	ingest.Attribute
	values, missing int
	number          numberCounter
	texts           map[string]*int // how often each occurs
	numbers         map[float64]*int
	textBytes       int
	tooMany         bool // values to tell them apart; the maps are empty
}

func (c *attributeCounter) add(value ingest.Value) {
	isNumber, isMissing := c.Type == ingest.NumberAttribute, value.Text == nil
	if isNumber {
		c.number.add(value.Number)
		isMissing = math.IsNaN(value.Number)
	}
	if isMissing {
		c.missing++
		return
	}
	c.values++
	if c.tooMany {
		return
	}
	seen := c.texts[string(value.Text)]
	if isNumber {
		seen = c.numbers[value.Number]
	}
	if seen != nil {
		*seen++
		return
	}
	one := 1
	if isNumber {
		c.numbers[value.Number] = &one
	} else {
		c.texts[string(value.Text)] = &one
		c.textBytes += len(value.Text)
	}
	if len(c.texts)+len(c.numbers) > mostDifferent || c.textBytes > mostText {
		c.tooMany, c.texts, c.numbers = true, nil, nil
	}
}

func (c *attributeCounter) summary() AttributeSummary {
	s := AttributeSummary{Attribute: c.Attribute, Values: c.values, Missing: c.missing,
		MostFrequent: []ValueCount{}}
	if c.Type == ingest.NumberAttribute {
		numbers := c.number.summary()
		s.Numbers = &numbers
	}
	if c.tooMany {
		return s
	}
	different := len(c.texts) + len(c.numbers)
	s.Different = &different
	s.MostFrequent = append(s.MostFrequent, frequent(c.texts)...)
	s.MostFrequent = append(s.MostFrequent, frequent(c.numbers)...)
	return s
}

// frequent are the most frequent values, the lowest first of equals.
func frequent[V cmp.Ordered](counts map[V]*int) (most []ValueCount) {
	values := make([]V, 0, len(counts))
	for value := range counts {
		values = append(values, value)
	}
	slices.SortFunc(values,
		func(a, b V) int { return cmp.Or(*counts[b]-*counts[a], cmp.Compare(a, b)) })
	for _, value := range values[:min(len(values), mostFrequent)] {
		most = append(most, ValueCount{value, *counts[value]})
	}
	return most
}

// maxBins is how many bins a histogram has at most. It has more than half of that, unless there are
// fewer whole numbers.
const maxBins = 32

// histogram counts numbers in bins whose width is a power of two and whose edges are multiples of
// it. Whenever a number does not fit, neighbouring bins are merged, which loses nothing: so the
// bins cover all numbers together, whatever their order, and one pass is enough.
type histogram struct {
	exponent int   // bins are 2^exponent wide
	first    int64 // the first bin is from first*2^exponent on
	counts   []int
	fraction bool // there is a number that is not whole
}

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
	bin := h.binOf(x)
	// of more than 2^53 bins from 0, the bins of x and of what was added before are too far apart
	for ; math.Abs(bin) >= 1<<53 || !h.fits(int64(bin)); bin = h.binOf(x) {
		h.merge()
	}
	at := int(int64(bin) - h.first)
	if at < 0 {
		h.counts, h.first, at = append(make([]int, -at), h.counts...), int64(bin), 0
	}
	h.counts = append(h.counts, make([]int, max(0, at+1-len(h.counts)))...)
	h.counts[at]++
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
		bins = append(bins,
			page.Bin{From: edgeOf(edge, h.exponent), To: edgeOf(edge+1, h.exponent), Value: n})
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
