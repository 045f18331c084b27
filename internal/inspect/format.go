// Package inspect describes what a cell graph, a perturbation set or a dataset holds, and what
// differs between two graphs or datasets, by the names of nodes, edges, samples and masks.
package inspect

import (
	"math"
	"strconv"

	"github.com/dustin/go-humanize"
)

// percent is a part of a whole, in percent.
func percent(part, whole int) string {
	return strconv.FormatFloat(100*float64(part)/float64(max(whole, 1)), 'f', 1, 64)
}

// number formats a measured number with four significant digits, or all those of its whole part.
func number(x float64) string {
	if size := math.Abs(x); size >= 1e4 && size < 1e9 {
		return count(int(math.Round(x)))
	}
	return strconv.FormatFloat(x, 'g', 4, 64)
}

// count formats a number with thousands separators.
func count(n int) string { return humanize.Comma(int64(n)) }
