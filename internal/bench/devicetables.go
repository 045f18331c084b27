package bench

import (
	"fmt"

	"tcbuild/internal/page"
)

// deviceTables returns a table for each device.
func (r *Results) deviceTables() (tables []page.Section) {
	for _, d := range r.Devices {
		tables = append(tables, d.speedTable())
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
