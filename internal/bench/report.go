package bench

import (
	"fmt"
	"io"
	"math"
	"strconv"

	"github.com/dustin/go-humanize"
	"github.com/dustin/go-humanize/english"

	"tcbuild/internal/page"
)

// page is report.html, and what is printed.
func (r *Results) page() *page.Page {
	return &page.Page{
		Title:    "What each way of storing masks costs",
		Lead:     []string{r.describeSetup(), r.describeMachine()},
		Sections: []page.Section{r.buildTable(), r.sizeTable(), r.readTable()},
	}
}

func (r *Results) describeSetup() string {
	s := r.Setup
	rounds := "Every figure is from a single round, so its variation is unknown; " +
		"use --rounds 3 to measure it."
	if s.Rounds > 1 {
		rounds = fmt.Sprintf("Every figure is the median of %d rounds, and each ran all datasets; "+
			"± is half the range from lowest to highest.", s.Rounds)
	}
	return fmt.Sprintf("A graph of %s genes and %s edges of %d types: %s mask positions per "+
		"sample; a sample removes %s of them on average by deleting %s %s. The perturbation set "+
		"has %s samples; each dataset holds some of them, at even distances. %s",
		formatCount(s.Genes), formatCount(s.Edges), s.EdgeTypes, formatCount(s.MaskPositions),
		formatNumber(s.Removed), formatNumber(s.GenesRemoved),
		english.PluralWord(int(math.Ceil(s.GenesRemoved)), "gene", ""),
		formatCount(s.TotalSamples), rounds)
}

func (r *Results) describeMachine() string {
	return fmt.Sprintf("%s, %s, %s memory. tcbuild %s. %s; the benchmark took %s. "+
		"All figures are in results.json.",
		r.Machine.CPU, english.Plural(r.Machine.Cores, "core", ""),
		formatBytes(float64(r.Machine.MemoryBytes)), r.Program,
		english.Plural(r.Setup.Workers, "worker", ""), formatSeconds(r.Setup.Seconds))
}

// Print prints the tables, one below the other.
func (r *Results) Print(w io.Writer) error { return r.page().Print(w) }

func (r *Results) table(
	title, text string, header []string, row func(c *CaseResult) []string,
) page.Section {
	header = append([]string{"masks kept as"}, header...)
	t := page.Section{Title: title, Text: text, Header: header}
	for _, c := range r.Cases {
		t.Rows = append(t.Rows, append([]string{c.String()}, row(c)...))
	}
	return t
}

func (r *Results) buildTable() page.Section {
	return r.table("Build: "+english.Plural(r.Setup.Workers, "worker", ""),
		"Time until the dataset is published, and CPU time. "+
			"Samples/s is for the stages that grow with the samples.",
		[]string{"samples", "time", "CPU time", "samples/s"},
		func(c *CaseResult) []string {
			return []string{formatCount(c.Samples), formatStat(c.Build.Seconds, formatSeconds),
				formatSeconds(c.Build.CPUSeconds.Median),
				formatStat(c.Build.SamplesPerSecond, formatNumber)}
		})
}

func (r *Results) sizeTable() page.Section {
	extrapolated := "at " + formatCount(r.Cases[0].Extrapolated.Samples) + " samples"
	return r.table("Size", "Bytes per sample of the files that grow with the samples: "+
		"the sample table, and data.mdb. The last columns extrapolate.",
		[]string{"samples", "dataset", "per sample", extrapolated, "built in"},
		func(c *CaseResult) []string {
			return []string{formatCount(c.Samples), formatBytes(float64(c.Size.DatasetBytes)),
				formatBytes(c.Size.BytesPerSample), formatBytes(c.Extrapolated.Bytes),
				formatSeconds(c.Extrapolated.Seconds)}
		})
}

func (r *Results) readTable() page.Section {
	return r.table("Read: milliseconds per sample until its whole masks are in memory, one core",
		fmt.Sprintf("Random order, from the page cache. Filling %s bytes takes %s ms; readers "+
			"that change only what differs from the sample before are faster. "+
			"The incidence variant has the samples in memory once it is open.",
			formatCount(r.Setup.MaskPositions), formatNumber(r.FillMilliseconds.Min)),
		[]string{"open", "read"},
		func(c *CaseResult) []string {
			return []string{formatSeconds(c.Read.OpenSeconds.Median),
				formatStat(c.Read.Milliseconds, formatNumber)}
		})
}

func formatCount(n int) string { return humanize.Comma(int64(n)) }

// formatNumber formats a number with about three significant digits and thousands separators:
// 0.0123, 4, 4.57, 45.7, 332,313.
func formatNumber(x float64) string {
	switch size := math.Abs(x); {
	case x == math.Trunc(x) && size < 1000:
		return strconv.FormatFloat(x, 'f', 0, 64)
	case size < 0.9995:
		return strconv.FormatFloat(x, 'f', min(2-int(math.Floor(math.Log10(size))), 9), 64)
	case size < 10:
		return strconv.FormatFloat(x, 'f', 2, 64)
	case size < 100:
		return strconv.FormatFloat(x, 'f', 1, 64)
	}
	return humanize.Comma(int64(math.Round(x)))
}

// formatBytes formats a size with its unit: 45 B, 1.75 kB, 821 GB. A kB is 1,000 bytes.
func formatBytes(n float64) string { return humanize.BytesN(uint64(n), 3) }

// formatSeconds formats a time with its unit: 13 µs, 1.75 ms, 12.3 s, 41 min, 5.2 h.
func formatSeconds(s float64) string {
	switch {
	case s == 0:
		return "0 s"
	case s < 0.9995e-3:
		return formatNumber(s*1e6) + " µs"
	case s < 0.9995:
		return formatNumber(s*1000) + " ms"
	case s < 120:
		return formatNumber(s) + " s"
	case s < 7200:
		return formatNumber(s/60) + " min"
	}
	return formatNumber(s/3600) + " h"
}

// formatStat formats a median with the spread of its rounds: 0.52 ±4%. A single round has no
// spread.
func formatStat(s Stat, format func(float64) string) string {
	if s.Rounds < 2 {
		return format(s.Median)
	}
	return fmt.Sprintf("%s ±%.0f%%", format(s.Median), 100*s.Spread())
}
