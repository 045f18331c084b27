// Package inspect describes what a cell graph, a perturbation set or a dataset holds, and what
// differs between two graphs or datasets, by the names of nodes, edges, samples and masks.
package inspect

import (
	"math"
	"math/bits"
	"slices"
	"strconv"

	"tcbuild/internal/page"
)

// Distribution is the distribution of a count over things, such as the edges at each node.
type Distribution struct {
	Things int     `json:"things"` // number of things, such as nodes
	None   int     `json:"none"`   // those with a count of 0
	Median int     `json:"median"` // the lower one if there are two
	Mean   float64 `json:"mean"`
	P90    int     `json:"p90"` // nine tenths of all counts are at most this
	Max    int     `json:"max"`
	Most   string  `json:"most"` // the first thing that has Max
	Bins   []Bin   `json:"bins"` // 0, 1, 2-3, 4-7 and so on, up to the bin of Max
}

// Bin counts the things whose count is from From to To.
type Bin struct {
	From   int `json:"from"`
	To     int `json:"to"`
	Things int `json:"things"`
}

func distribute(counts []int, name func(i int) string) Distribution {
	d := Distribution{Things: len(counts), Bins: []Bin{}}
	if len(counts) == 0 {
		return d
	}
	sum, most := 0, 0
	for i, n := range counts {
		sum += n
		if n > counts[most] {
			most = i
		}
		for len(d.Bins) <= bits.Len(uint(n)) {
			from := 1 << len(d.Bins) >> 1
			d.Bins = append(d.Bins, Bin{From: from, To: max(2*from-1, 0)})
		}
		d.Bins[bits.Len(uint(n))].Things++
	}
	sorted := slices.Sorted(slices.Values(counts))
	d.None, _ = slices.BinarySearch(sorted, 1)
	d.Median, d.P90 = sorted[(len(sorted)-1)/2], sorted[(9*len(sorted)+9)/10-1]
	d.Mean = float64(sum) / float64(len(counts))
	d.Max, d.Most = counts[most], name(most)
	return d
}

func (b Bin) String() string {
	if b.From == b.To {
		return strconv.Itoa(b.From)
	}
	return strconv.Itoa(b.From) + "-" + strconv.Itoa(b.To)
}

// distributionHeader are the titles of a Distribution's row.
var distributionHeader = []string{"none", "median", "mean", "90 %", "most", "at"}

func (d Distribution) row() []string {
	return []string{count(d.None), count(d.Median), strconv.FormatFloat(d.Mean, 'f', 1, 64),
		count(d.P90), count(d.Max), d.Most}
}

// plots has the bins as a plot, unless there are no things.
func (d Distribution) plots(title, x, y string) []page.Plot {
	if len(d.Bins) == 0 {
		return nil
	}
	plot := page.Plot{Title: title, X: x, Counted: y}
	for _, bin := range d.Bins {
		plot.Columns = append(plot.Columns, page.Column{Label: bin.String(), Value: bin.Things})
	}
	return []page.Plot{plot}
}

func percent(part, whole int) string {
	return strconv.FormatFloat(100*float64(part)/float64(max(whole, 1)), 'f', 1, 64)
}

// number formats a measured number with four significant digits, or all digits of its whole part.
func number(x float64) string {
	if size := math.Abs(x); size >= 1e4 && size < 1e9 {
		return count(int(math.Round(x)))
	}
	return strconv.FormatFloat(x, 'g', 4, 64)
}

func count(n int) string { return page.Count(n) }
