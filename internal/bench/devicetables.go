package bench

import (
	"fmt"

	"tcbuild/internal/page"
)

// deviceTables returns two tables for each device.
func (r *Results) deviceTables() (tables []page.Section) {
	for _, d := range r.Devices {
		tables = append(tables, d.speedTable(), d.filterTable())
	}
	return tables
}

func (d DeviceResult) speedTable() page.Section {
	t := page.Section{
		Title: fmt.Sprintf("A batch of %d samples on %s", d.BatchSamples, d.Device),
		Text: fmt.Sprintf("Indices are the deleted genes and their ptr; uploaded masks have a byte per position. Both come from pinned memory. "+
			"The device makes masks of a bit per position; those by edges it compares with the others. "+
			"\"Of copying\" compares the bytes per second with those of a copy on the device, counting reads and writes. The graph's tables and the masks take %s of its memory. "+
			"The last columns are the time on one CPU core, and how many times longer that is.", formatBytes(float64(d.MemoryBytes))),
		Header: []string{"step", "bytes", "time", "per second", "of copying", "CPU", "times"},
	}
	row := func(what string, bytes int64, seconds Stat) []string {
		return []string{what, formatBytes(float64(bytes)), formatStat(seconds, formatSeconds), formatBytes(float64(bytes) / seconds.Median)}
	}
	for _, m := range d.Methods {
		t.Rows = append(t.Rows, append(row("make masks by "+string(m.Method), d.BitBytes, m.Seconds),
			formatPercent(m.CopyFraction), formatStat(m.CPUSeconds, formatSeconds), formatNumber(m.CPUSeconds.Median/m.Seconds.Median)))
	}
	t.Rows = append(t.Rows,
		append(row("upload indices", d.IndexBytes, d.IndexUpload), "-", "-", "-"),
		append(row("upload masks", d.MaskBytes, d.MaskUpload), "-", "-", "-"),
		[]string{"limit: fill memory", "-", "-", formatBytes(d.Fill.Median), "-", "-", "-"},
		[]string{"limit: copy memory", "-", "-", formatBytes(d.Copy.Median), "-", "-", "-"})
	return t
}

// verdict is a sentence that says where the lines cross.
func (d DeviceResult) verdict() string {
	if d.CrossingGenes == 0 {
		return "Masking is faster up to the largest number of deleted genes measured."
	}
	return fmt.Sprintf("Filtering is faster from %s deleted genes.", formatNumber(d.CrossingGenes))
}

func (d DeviceResult) filterTable() page.Section {
	t := page.Section{
		Title: "Mask or filter on " + d.Device,
		Text: "One sample. A message is the 64 float32 features of an edge's source, added to its target. Both ways need the mask; then all edges have messages, " +
			"times the mask, or the list of edges is compacted and the ones left have messages. " + d.verdict(),
		Header: []string{"deleted genes", "edges left", "make the mask", "mask", "compact", "filter", "(compact + filter) / mask"},
	}
	for _, p := range d.MaskOrFilter {
		t.Rows = append(t.Rows, []string{formatNumber(float64(p.DeletedGenes)), formatNumber(float64(p.KeptEdges)),
			formatStat(p.Generate, formatSeconds), formatStat(p.Mask, formatSeconds), formatStat(p.Compact, formatSeconds),
			formatStat(p.Filter, formatSeconds), formatNumber(p.filtered() / p.Mask.Median)})
	}
	return t
}

// filterPlots returns one plot for each device, if the graph has edges.
func (r *Results) filterPlots() (plots []page.Plot) {
	for _, device := range r.Devices {
		if len(device.MaskOrFilter) == 0 {
			continue
		}
		d := page.XY{X: page.Axis{Title: "deleted genes", Log: true, Format: page.Plain},
			Y: page.Axis{Title: "time of one sample", Format: secondsTick}}
		for i, way := range []struct {
			name   string
			figure func(MaskOrFilter) float64
		}{
			{"mask", func(p MaskOrFilter) float64 { return p.Mask.Median }},
			{"filter", MaskOrFilter.filtered},
		} {
			var marks []page.Mark
			for _, p := range device.MaskOrFilter {
				marks = append(marks, page.Mark{X: float64(p.DeletedGenes), Y: way.figure(p), Color: i + 1,
					Hover: fmt.Sprintf("%s, %s deleted genes: %s", way.name, formatNumber(float64(p.DeletedGenes)), formatSeconds(way.figure(p)))})
			}
			marks[len(marks)-1].Label = way.name
			d.Marks, d.Lines = append(d.Marks, marks...), append(d.Lines, page.Line{Points: marks, Color: i + 1})
		}
		plots = append(plots, page.Plot{Title: "On " + device.Device, Drawing: d,
			Text: "Time to mask and to filter the edges of one sample against deleted genes. " + device.verdict() + " " + d.Describe()})
	}
	return plots
}
