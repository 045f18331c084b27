package bench

import (
	"cmp"
	"fmt"
	"io"
	"slices"
	"strconv"

	"github.com/dustin/go-humanize"
	"github.com/dustin/go-humanize/english"

	"tcbuild/internal/page"
)

// page is report.html, and what is printed.
func (r *Results) page() *page.Page {
	return &page.Page{
		Title: "What each way of storing masks costs",
		Lead:  []string{r.describeSetup(), r.describeMachine(), r.describeReading()},
		Sections: []page.Section{
			r.buildTable(), r.sizeTable(), r.readTable(), r.plot(), r.decision(),
		},
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
	held := "datasets hold all of them, or as many as the tables say, evenly spaced"
	isPart := func(c *CaseResult) bool { return c.Samples < s.TotalSamples }
	if !slices.ContainsFunc(r.Cases, isPart) {
		held = "each dataset holds all of them"
	}
	return fmt.Sprintf("A graph of %s genes and %s edges of %d types: %s mask positions per "+
		"sample. The perturbation set has %s samples; %s. %s",
		page.Count(s.Genes), page.Count(s.Edges), s.EdgeTypes, page.Count(s.MaskPositions),
		page.Count(s.TotalSamples), held, rounds)
}

func (r *Results) describeMachine() string {
	m := r.Machine
	text := fmt.Sprintf("%s, %s, %s memory. tcbuild %s. %s; the benchmark took %s. "+
		"All figures are in results.json.",
		m.CPU, english.Plural(m.Cores, "core", ""), formatBytes(float64(m.MemoryBytes)),
		r.Program, english.Plural(r.Setup.Workers, "worker", ""), formatSeconds(r.Setup.Seconds))
	if m.Load > float64(m.Cores) {
		text += fmt.Sprintf(" The load was up to %.1f on %s, so other programs took time: compare "+
			"CPU times, or measure again on a quiet machine.", m.Load,
			english.Plural(m.Cores, "core", ""))
	}
	return text
}

func (r *Results) describeReading() string {
	cold := "Cold: after tcbuild dropped the dataset from the page cache (posix_fadvise, " +
		"DONTNEED); disks and file servers may still have it in theirs."
	if r.Cases[0].Cold.OpenSeconds.Rounds == 0 {
		cold = "Nothing was read cold: the files stayed in memory, as on tmpfs."
	}
	return "Reading is by tcbuild's reader in Go, not by Python's loaders: one core, samples in " +
		"random order, all masks of a sample as bytes. Opening ends with the first sample; " +
		"incidence then has its samples' genes in memory. " + cold
}

// Print prints the tables, one below the other.
func (r *Results) Print(w io.Writer) error { return r.page().Print(w) }

func (r *Results) table(
	title, text string, header []string, row func(c *CaseResult) []string,
) page.Section {
	t := page.Section{Title: title, Text: text, Header: slices.Insert(header, 0, "masks kept as")}
	for _, c := range r.Cases {
		t.Rows = append(t.Rows, append([]string{c.String()}, row(c)...))
	}
	return t
}

func (r *Results) buildTable() page.Section {
	title := "Build: " + english.Plural(r.Setup.Workers, "worker", "")
	if slices.ContainsFunc(r.Cases, func(c *CaseResult) bool {
		return min(c.Build.SecondsPerSample.Rounds, c.Extrapolated.Seconds.Rounds,
			c.Extrapolated.CPUSeconds.Rounds) == 0
	}) {
		title += fmt.Sprintf("; blank: noise hides the figure, or it is of over %d times the samples "+
			"measured; raise --samples", mostTimes)
	}
	return r.table(title,
		"Time until the dataset is published, and CPU time. A sample adds the difference from a "+
			"dataset with an eighth of the samples. The last columns extrapolate by it.",
		[]string{"samples", "time", "CPU time", "a sample adds", r.extrapolated(), "its CPU time"},
		func(c *CaseResult) []string {
			return []string{page.Count(c.Samples), formatStat(c.Build.Seconds),
				formatStat(c.Build.CPUSeconds), formatStat(c.Build.SecondsPerSample),
				formatStat(c.Extrapolated.Seconds), formatStat(c.Extrapolated.CPUSeconds)}
		})
}

func (r *Results) extrapolated() string {
	return "at " + page.Count(r.Cases[0].Extrapolated.Samples) + " samples"
}

func (r *Results) sizeTable() page.Section {
	return r.table("Size", "Bytes of the files. What is shared, such as the graph, does not "+
		"grow with the samples. The last column extrapolates.",
		[]string{"samples", "dataset", "shared", "per sample", r.extrapolated()},
		func(c *CaseResult) []string {
			samples := c.Size.BytesPerSample * float64(c.Samples)
			return []string{page.Count(c.Samples), formatBytes(float64(c.Size.DatasetBytes)),
				formatBytes(float64(c.Size.DatasetBytes) - samples),
				formatBytes(c.Size.BytesPerSample), formatBytes(c.Extrapolated.Bytes)}
		})
}

func (r *Results) readTable() page.Section {
	return r.table("Read by Go, on one core: time per sample until its whole masks are in memory",
		"CPU time is that of the warm reading.",
		[]string{"open cold", "open", "read cold", "read", "CPU time"},
		func(c *CaseResult) []string {
			return []string{formatStat(c.Cold.OpenSeconds), formatStat(c.Warm.OpenSeconds),
				formatStat(c.Cold.SecondsPerSample), formatStat(c.Warm.SecondsPerSample),
				formatStat(c.Warm.CPUPerSample)}
		}).WithoutEmptyColumns()
}

// decision says what to choose, as far as these figures decide it.
func (r *Results) decision() page.Section {
	smallest := slices.MinFunc(r.Cases, func(a, b *CaseResult) int {
		return cmp.Compare(a.Extrapolated.Bytes, b.Extrapolated.Bytes)
	})
	return page.Section{Title: "Decision", Rows: [][]string{
		{"Training reads in Python, which may order the datasets differently: measure it with " +
			"python -m tcbuild.compare NEW_FOLDER --build GRAPH PERTURBATIONS"},
		{fmt.Sprintf("Take %s, unless training is faster with another: %s it is the smallest, "+
			"with %s, %s.", smallest, r.extrapolated(),
			formatBytes(smallest.Extrapolated.Bytes), r.rankBuild(smallest))},
	}}
}

// rankBuild says whether a dataset is built faster than smallest, as far as ranges of rounds tell.
func (r *Results) rankBuild(smallest *CaseResult) string {
	own, uncertain := smallest.Extrapolated.Seconds, false
	var faster *CaseResult
	for _, c := range r.Cases {
		switch s := c.Extrapolated.Seconds; {
		case min(s.Rounds, own.Rounds) < 2: // of one, the range is unknown
			uncertain = true
		case s.Max < own.Min:
			if faster == nil || s.Median < faster.Extrapolated.Seconds.Median {
				faster = c
			}
		case c != smallest && s.Min <= own.Max:
			uncertain = true
		}
	}
	switch {
	case faster != nil:
		return fmt.Sprintf("and is built in %s; %s is built faster, in %s",
			formatSeconds(own.Median), faster,
			formatSeconds(faster.Extrapolated.Seconds.Median))
	case uncertain:
		return "but build times are too uncertain to rank"
	}
	return "and none is built faster"
}

// formatBytes formats a size with its unit: 45 B, 1.75 kB, 821 GB. A kB is 1,000 bytes.
func formatBytes(n float64) string { return humanize.BytesN(uint64(n), 3) }

// formatSeconds formats a time with its unit: 7.45 ns, 13 µs, 1.75 ms, 12.3 s, 41.0 min, 5.2 h.
func formatSeconds(s float64) string {
	switch s, _ = strconv.ParseFloat(strconv.FormatFloat(s, 'g', 3, 64), 64); {
	case s < 120:
		return humanize.SI(s, "s")
	case s < 7200:
		return fmt.Sprintf("%.1f min", s/60)
	}
	return fmt.Sprintf("%.1f h", s/3600)
}

// formatStat formats a time with the spread of its rounds: 0.52 s ±4%. A single round has no
// spread, and none has no text.
func formatStat(s Stat) string {
	switch s.Rounds {
	case 0:
		return ""
	case 1:
		return formatSeconds(s.Median)
	}
	return fmt.Sprintf("%s ±%.0f%%", formatSeconds(s.Median), 100*s.Spread())
}
