package bench

import (
	"fmt"
	"io"
	"slices"
	"strings"
	"text/tabwriter"
)

// table is a table of texts. Its first column stands left, the others right.
type table struct {
	Title  string
	Note   string // how to read it
	Header []string
	Rows   [][]string
}

// tables are all tables, in the order of reading.
func (r *Results) tables() []table {
	return append([]table{r.buildTable(), r.sizeTable(), r.readTable(), r.limitTable(), r.stageTable()}, r.deviceTables()...)
}

func (r *Results) buildTable() table {
	t := table{
		Title: fmt.Sprintf("Build: %s samples, %d workers", formatNumber(float64(r.Setup.Samples)), r.Setup.Workers),
		Note: "Time and CPU time of the program as a process of its own. Samples/s counts the stage that writes samples. " +
			"Peak memory is the process's own, without mapped files. The disk limit is the time in which the disk, at its best, writes and syncs the dataset's bytes.",
		Header: []string{"masks kept as", "time", "CPU time", "samples/s", "peak memory", "disk limit", "reached"},
	}
	for _, c := range r.Cases {
		t.Rows = append(t.Rows, []string{c.String(), formatStat(c.Build.Seconds, formatSeconds), formatSeconds(c.Build.CPUSeconds.Median),
			formatStat(c.Build.SamplesPerSecond, formatNumber), formatBytes(c.Build.PeakAnonBytes.Median),
			formatSeconds(c.Build.LimitSeconds), formatPercent(c.Build.LimitFraction)})
	}
	return t
}

func (r *Results) sizeTable() table {
	to := formatNumber(float64(r.Cases[0].Extrapolated.Samples))
	t := table{
		Title: "Size",
		Note: "Bytes per sample of the files that grow with the samples (data.mdb; samples.arrow for incidence), and of the LMDB values in them; page waste is the rest. " +
			"The last columns extrapolate from the largest dataset that was built.",
		Header: []string{"masks kept as", "dataset", "per sample", "in values", "page waste", "extrapolated from", "at " + to + " samples", "built in"},
	}
	for _, c := range r.Cases {
		values, waste := "-", "-"
		if c.Size.ValueBytes > 0 {
			values, waste = formatBytes(float64(c.Size.ValueBytes)/float64(r.Setup.Samples)), formatPercent(c.Size.PageWaste)
		}
		t.Rows = append(t.Rows, []string{c.String(), formatBytes(float64(c.Size.DatasetBytes)), formatBytes(c.Size.BytesPerSample), values, waste,
			formatNumber(float64(c.Extrapolated.FromSamples)), formatBytes(c.Extrapolated.Bytes), formatSeconds(c.Extrapolated.Seconds)})
	}
	return t
}

func (r *Results) readTable() table {
	t := table{
		Title: "Read: milliseconds per sample until its whole masks lie in memory, one core",
		Note: fmt.Sprintf("The limit is filling %s bytes (for full-masks raw: copying them); reached compares it with random order, warm. "+
			"Cold passes begin with an empty page cache; what one read brings in, with the kernel's read-ahead, serves those after it. "+
			"The percentage is of the time that memory or disk allow; beyond 100 %%, the disk was faster than when it was measured, as one with a cache of its own can be. "+
			"The incidence variant has the samples in memory once it is open. "+
			"A batch is what %d samples move to a device: perturbation indices, removed positions or masks; beside it the time to copy it in memory.",
			formatNumber(float64(r.Setup.MaskPositions)), BatchSamples),
		Header: []string{"masks kept as", "open", "in order", "random", "limit", "reached", "cold in order", "cold random", fmt.Sprintf("batch of %d", BatchSamples), "its copy"},
	}
	for _, c := range r.Cases {
		t.Rows = append(t.Rows, []string{c.String(), formatSeconds(c.Read.OpenSeconds.Median),
			formatStat(c.Read.Sequential.Milliseconds, formatNumber), formatStat(c.Read.Random.Milliseconds, formatNumber),
			formatNumber(c.Read.Random.LimitMilliseconds), formatPercent(c.Read.Random.LimitFraction),
			coldCell(c.Read.ColdSequential), coldCell(c.Read.ColdRandom),
			formatBytes(c.Read.BatchBytes), formatSeconds(c.Read.BatchMilliseconds / 1000)})
	}
	if reason := r.Cases[0].Read.NotCold; reason != "" {
		t.Note += " There are no cold passes: " + reason + "."
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

func (r *Results) limitTable() table {
	t := table{
		Title:  "Limits of the machine, measured in the same run",
		Note:   fmt.Sprintf("Memory: one core, buffers of %s. Disk: a file of %s. What is compared with a limit is compared with its highest.", formatBytes(float64(r.Setup.MaskPositions)), formatBytes(float64(r.Limits.DiskBytes))),
		Header: []string{"limit", "per second", "lowest", "highest"},
	}
	for _, limit := range []struct {
		name  string
		speed Stat
	}{{"fill memory", r.Limits.Fill}, {"copy memory", r.Limits.Copy}, {"write to disk, with sync", r.Limits.DiskWrite}, {"read from disk", r.Limits.DiskRead}} {
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

// stageTable has a column per stage; the steps of a stage stand behind it.
func (r *Results) stageTable() table {
	t := table{
		Title: "Stages of the build",
		Note: "Wall time; \"start and publish\" is what no other stage has. Steps (›) run side by side in the stage before them: " +
			"their times are what all goroutines together spent in them, which on a busy machine includes waiting for a core.",
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

// Print prints the tables, one below the other.
func (r *Results) Print(w io.Writer) error {
	for i, t := range r.tables() {
		if i > 0 {
			fmt.Fprintln(w)
		}
		fmt.Fprintln(w, t.Title)
		out := tabwriter.NewWriter(w, 0, 0, 2, ' ', tabwriter.AlignRight)
		for _, row := range append([][]string{t.Header}, t.Rows...) {
			fmt.Fprintln(out, strings.Join(row, "\t")+"\t")
		}
		if err := out.Flush(); err != nil {
			return err
		}
	}
	return nil
}
