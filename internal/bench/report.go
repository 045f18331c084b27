package bench

import (
	"fmt"
	"io"
	"math"
	"slices"

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
		rounds = fmt.Sprintf("Every figure is the median of %d rounds, and each ran all datasets; ± is half the range from lowest to highest.", s.Rounds)
	}
	return &page.Page{
		Title: "What each way of storing masks costs",
		Lead: []string{
			fmt.Sprintf("A graph of %s genes and %s edges of %d types: %s mask positions per sample; a sample removes %s of them on average by deleting %s %s. Each dataset holds %s. %s",
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

// tables are all tables, in the order of reading.
func (r *Results) tables() []page.Section {
	return []page.Section{r.buildTable(), r.sizeTable(), r.readTable(), r.limitTable(), r.stageTable()}
}

func (r *Results) buildTable() page.Section {
	t := page.Section{
		Title: fmt.Sprintf("Build: %s samples, %s", formatNumber(float64(r.Setup.Samples)), english.Plural(r.Setup.Workers, "worker", "")),
		Text: "Time and CPU time of the program, run as a separate process. Samples/s is for the stage that writes samples. " +
			"Peak memory is the process's own, without mapped files. The disk limit is the shortest time in which the disk can write and sync the dataset's bytes.",
		Header: []string{"masks kept as", "time", "CPU time", "samples/s", "peak memory", "disk limit", "reached"},
	}
	for _, c := range r.Cases {
		t.Rows = append(t.Rows, []string{c.String(), formatStat(c.Build.Seconds, formatSeconds), formatSeconds(c.Build.CPUSeconds.Median),
			formatStat(c.Build.SamplesPerSecond, formatNumber), formatBytes(c.Build.PeakAnonBytes.Median),
			formatSeconds(c.Build.LimitSeconds), formatPercent(c.Build.LimitFraction)})
	}
	return t
}

func (r *Results) sizeTable() page.Section {
	to := formatNumber(float64(r.Cases[0].Extrapolated.Samples))
	t := page.Section{
		Title: "Size",
		Text: "Bytes per sample of the files that grow with the samples: the sample table, and data.mdb. " +
			"The last columns extrapolate from the largest dataset that was built.",
		Header: []string{"masks kept as", "dataset", "per sample", "extrapolated from",
			"at " + to + " samples", "built in"},
	}
	for _, c := range r.Cases {
		t.Rows = append(t.Rows, []string{c.String(), formatBytes(float64(c.Size.DatasetBytes)),
			formatBytes(c.Size.BytesPerSample),
			formatNumber(float64(c.Extrapolated.FromSamples)), formatBytes(c.Extrapolated.Bytes), formatSeconds(c.Extrapolated.Seconds)})
	}
	return t
}

func (r *Results) readTable() page.Section {
	t := page.Section{
		Title: "Read: milliseconds per sample until its whole masks are in memory, one core",
		Text: fmt.Sprintf("The limit is the time to fill %s bytes (for full-masks raw: to copy them); \"reached\" compares it with random order, warm. "+
			"Above 100 %% are readers that change only what differs from the sample before. "+
			"Cold passes start with an empty page cache; later reads benefit from what earlier reads and the kernel's read-ahead brought in. "+
			"Their percentages compare with the limit of memory or disk; above 100 %%, the disk can also have been faster than when it was measured, as one with a cache of its own can be. "+
			"The incidence variant has the samples in memory once it is open.",
			formatNumber(float64(r.Setup.MaskPositions))),
		Header: []string{"masks kept as", "open", "in order", "random", "limit", "reached", "cold in order", "cold random"},
	}
	for _, c := range r.Cases {
		t.Rows = append(t.Rows, []string{c.String(), formatSeconds(c.Read.OpenSeconds.Median),
			formatStat(c.Read.Sequential.Milliseconds, formatNumber), formatStat(c.Read.Random.Milliseconds, formatNumber),
			formatNumber(c.Read.Random.LimitMilliseconds), formatPercent(c.Read.Random.LimitFraction),
			coldCell(c.Read.ColdSequential), coldCell(c.Read.ColdRandom)})
	}
	if reason := r.Cases[0].Read.NotCold; reason != "" {
		t.Text += " There are no cold passes: " + reason + "."
	}
	return t
}

// coldCell is a cold pass with the fraction of its limit.
func coldCell(p *Pass) string {
	if p == nil {
		return "-"
	}
	return fmt.Sprintf("%s (%s)", formatStat(p.Milliseconds, formatNumber), formatPercent(p.LimitFraction))
}

func (r *Results) limitTable() page.Section {
	t := page.Section{
		Title: "Limits of the machine, measured in the same run",
		Text: fmt.Sprintf("Memory: one core, buffers of %s. Disk: a file of %s. Comparisons use the highest value of a limit.",
			formatBytes(float64(r.Setup.MaskPositions)), formatBytes(float64(r.Limits.DiskBytes))),
		Header: []string{"limit", "per second", "lowest", "highest"},
	}
	for _, limit := range []struct {
		name  string
		speed Stat
	}{{"fill memory", r.Limits.Fill}, {"copy memory", r.Limits.Copy}, {"write to disk, with sync",
		r.Limits.DiskWrite}, {"read from disk", r.Limits.DiskRead}} {
		if limit.speed.Median == 0 {
			t.Rows = append(t.Rows, []string{limit.name, "-", "-", "-"})
			continue
		}
		row := []string{limit.name, formatBytes(limit.speed.Median), "-", "-"}
		if limit.speed.Rounds > 1 {
			row[2], row[3] = formatBytes(limit.speed.Min), formatBytes(limit.speed.Max)
		}
		t.Rows = append(t.Rows, row)
	}
	return t
}

// stageTable has a column per stage, followed by its steps' columns.
func (r *Results) stageTable() page.Section {
	t := page.Section{
		Title: "Stages of the build",
		Text: "Wall time; \"start and publish\" is the time outside all other stages. Steps (›) run in parallel in the stage before them: " +
			"their times are summed over goroutines, and on a busy machine include waiting for a core.",
		Header: []string{"masks kept as"},
	}
	cells := make([]map[string]string, len(r.Cases))
	steps := make(map[string][]string) // of a stage, in the cases that have them
	for i, c := range r.Cases {
		cells[i] = make(map[string]string)
		for _, stage := range c.Build.Stages {
			cells[i][stage.Stage] = formatSeconds(stage.Seconds.Median)
			for _, step := range stage.Steps {
				column := "› " + step.Step
				if cells[i][column] = formatSeconds(step.BusySeconds.Median); !slices.Contains(steps[stage.Stage], column) {
					steps[stage.Stage] = append(steps[stage.Stage], column)
				}
			}
		}
	}
	for _, stage := range r.stageNames() {
		t.Header = append(append(t.Header, stage), steps[stage]...)
	}
	for i, c := range r.Cases {
		row := []string{c.String()}
		for _, column := range t.Header[1:] {
			cell := cells[i][column]
			if cell == "" {
				cell = "-"
			}
			row = append(row, cell)
		}
		t.Rows = append(t.Rows, row)
	}
	return t
}

// stageNames are the stages of all cases in the order in which they run.
func (r *Results) stageNames() (names []string) {
	for _, c := range r.Cases {
		for _, stage := range c.Build.Stages {
			if stage.Stage != restStage && !slices.Contains(names, stage.Stage) {
				names = append(names, stage.Stage)
			}
		}
	}
	return append(names, restStage)
}
