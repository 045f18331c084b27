package bench

import (
	"fmt"
	"image/color"
	"slices"

	"gonum.org/v1/plot"
	"gonum.org/v1/plot/plotter"

	"tcbuild/internal/chart"
)

// deviceTables returns two tables for each device.
func (r *Results) deviceTables() (tables []table) {
	for _, d := range r.Devices {
		tables = append(tables, d.speedTable(), d.filterTable())
	}
	return tables
}

func (d DeviceResult) speedTable() table {
	t := table{
		Title: fmt.Sprintf("A batch of %d samples on %s", d.BatchSamples, d.Device),
		Note: fmt.Sprintf("Indices are the deleted genes and their ptr; masks have a byte per position. Both are uploaded from pinned memory. "+
			"\"Of copying\" compares the bytes per second with those of a copy on the device, counting reads and writes. The graph's tables and the masks take %s of its memory. "+
			"The last columns are the time on one CPU core, and how many times longer that is.", formatBytes(float64(d.MemoryBytes))),
		Header: []string{"", "bytes", "time", "per second", "of copying", "CPU", "times"},
	}
	row := func(what string, bytes int64, seconds Stat) []string {
		return []string{what, formatBytes(float64(bytes)), formatStat(seconds, formatSeconds), formatBytes(float64(bytes) / seconds.Median)}
	}
	for _, m := range d.Methods {
		t.Rows = append(t.Rows, append(row("make masks by "+string(m.Method), d.MaskBytes, m.Seconds),
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

func (d DeviceResult) filterTable() table {
	t := table{
		Title: "Mask or filter on " + d.Device,
		Note: "One sample, and a matrix of 64 float32 features per edge. Both make the mask; then either all features are multiplied by it, " +
			"or the list of edges is compacted and the remaining features are gathered. " + d.verdict(),
		Header: []string{"deleted genes", "edges left", "mask", "filter", "filter / mask"},
	}
	for _, p := range d.MaskOrFilter {
		t.Rows = append(t.Rows, []string{formatNumber(float64(p.DeletedGenes)), formatNumber(float64(p.KeptEdges)),
			formatStat(p.Mask, formatSeconds),
			formatStat(p.Filter, formatSeconds), formatNumber(p.Filter.Median / p.Mask.Median)})
	}
	return t
}

// filterPlots returns one plot for each device, if the graph has edges.
func (r *Results) filterPlots() (plots []*plot.Plot) {
	for _, d := range r.Devices {
		if len(d.MaskOrFilter) == 0 {
			continue
		}
		p := chart.New("deleted genes, on "+d.Device, "time of one sample")
		chart.AddGrid(p)
		genes := valuesOf(d.MaskOrFilter, func(p MaskOrFilter) float64 { return float64(p.DeletedGenes) })
		var all []float64
		var labels []label
		for _, way := range []struct {
			name   string
			color  color.Color
			figure func(MaskOrFilter) float64
		}{
			{"mask", blue, func(p MaskOrFilter) float64 { return p.Mask.Median }},
			{"filter", vermilion, func(p MaskOrFilter) float64 { return p.Filter.Median }},
		} {
			times, line := valuesOf(d.MaskOrFilter, way.figure), plotter.XYs{}
			for i := range genes {
				line = append(line, plotter.XY{X: genes[i], Y: times[i]})
			}
			all = append(all, times...)
			addLine(p, line, way.color, false)
			addPoints(p, line, way.color, true)
			labels = append(labels, label{line[len(line)-1].X, line[len(line)-1].Y, way.name, way.color})
		}
		logAxis(&p.X, genes[0], 2*genes[len(genes)-1], plainTick)
		linearAxis(&p.Y, slices.Max(all), secondsTick)
		addLabels(p, labels, widthOf(len(r.Devices)), high)
		plots = append(plots, p)
	}
	return plots
}
