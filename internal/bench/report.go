package bench

import (
	"fmt"
	"io"
	"math"

	"github.com/dustin/go-humanize/english"

	"tcbuild/internal/page"
)

// page is report.html, and what is printed.
func (r *Results) page() *page.Page {
	s := r.Setup
	taken := fmt.Sprintf("all %s samples of the perturbation set", formatNumber(float64(s.Samples)))
	if s.Samples < s.TotalSamples {
		taken = fmt.Sprintf("%s of the perturbation set's %s samples, taken at even distances: all of them would fill %s with masks of a byte per position",
			formatNumber(float64(s.Samples)), formatNumber(float64(s.TotalSamples)), formatBytes(float64(s.AllBytes())))
	}
	rounds := "Every figure is from a single round, so its variation is unknown; use --rounds 3 to measure it."
	if s.Rounds > 1 {
		rounds = fmt.Sprintf("Every figure is the median of %d rounds, each of which ran all datasets; ± is half the range from lowest to highest.", s.Rounds)
	}
	return &page.Page{
		Title: "What each way of storing masks costs",
		Lead: []string{
			fmt.Sprintf("A graph of %s genes and %s edges of %d types: %s mask positions per sample, of which a sample removes %s on average by deleting %s %s. Each dataset holds %s. %s",
				formatNumber(float64(s.Genes)), formatNumber(float64(s.Edges)), s.EdgeTypes, formatNumber(float64(s.MaskPositions)),
				formatNumber(s.Removed), formatNumber(s.GenesRemoved), english.PluralWord(int(math.Ceil(s.GenesRemoved)), "gene", ""),
				taken, rounds),
			fmt.Sprintf("%s, %s, %s memory, %s, %s. tcbuild %s. %s; the benchmark took %s. All figures are in results.json.",
				r.Machine.CPU, english.Plural(r.Machine.Cores, "core", ""), formatBytes(float64(r.Machine.MemoryBytes)), r.Machine.Filesystem, r.Machine.Kernel,
				r.Program, english.Plural(s.Workers, "worker", ""), formatSeconds(s.Seconds)),
		},
		Sections: append(r.figures(), r.tables()...),
	}
}

// Print prints the tables, one below the other.
func (r *Results) Print(w io.Writer) error { return r.page().Print(w) }
