package bench

import (
	"math"
	"strings"
	"testing"

	"tcbuild/internal/devicespeed"
)

func TestCrossing(t *testing.T) {
	points := func(filterOfMask ...float64) (points []MaskOrFilter) {
		genes := 1
		for _, ratio := range filterOfMask {
			points = append(points, MaskOrFilter{DeletedGenes: genes, Mask: Stat{Median: 2}, Filter: Stat{Median: 2 * ratio}})
			genes *= 100
		}
		return points
	}
	for _, c := range []struct {
		points []MaskOrFilter
		want   float64
	}{
		{nil, 0},
		{points(1.5), 0},
		{points(0.5), 1},
		{points(1, 1), 0},
		{points(2, 0.5), 10},
		{points(2, 0.5, 1.1), 0},
		{points(0.9, 4, 0.5), 100 * math.Pow(100, 2./3)},
		{points(0.9, 0.5), 1},
	} {
		if got := crossing(c.points); math.Abs(got-c.want) > 1e-9*c.want {
			t.Errorf("%+v: got %g, want %g", c.points, got, c.want)
		}
	}
}

// Rounds become medians, fractions and tables.
func TestDeviceTables(t *testing.T) {
	round := func(scale float64) devicespeed.Round {
		return devicespeed.Round{FillSpeed: 5e9 * scale, CopySpeed: 4e9 * scale, IndexUpload: 1e-6, MaskUpload: 2e-3,
			ByIncidence: 1e-3, ByEdges: 2e-3,
			CPUIncidence: 30e-3, CPUEdges: 50e-3, MaskOrFilter: []devicespeed.MaskOrFilter{
				{DeletedGenes: 1, KeptEdges: 900, Generate: 2e-6, Mask: 1e-3, Compact: 0.5e-3, Filter: 1.5e-3},
				{DeletedGenes: 100, KeptEdges: 100, Generate: 3e-6, Mask: 1e-3, Compact: 0.2e-3, Filter: 0.3e-3}}}
	}
	d := deviceResult(devicespeed.Speed{Ordinal: 1, Name: "Card", MemoryBytes: 5e6, IndexBytes: 680, MaskBytes: 24e6, BitBytes: 3e6,
		Rounds: []devicespeed.Round{round(1), round(0.5), round(0.7)}}, 28)
	if d.Copy.Max != 4e9 || d.Methods[0].CopyFraction != 0.75 || d.Methods[1].CopyFraction != 0.375 || math.Abs(d.CrossingGenes-10) > 1e-9 {
		t.Errorf("got %+v", d)
	}
	var rows []string
	for _, table := range (&Results{Devices: []DeviceResult{d}}).deviceTables() {
		rows = append(rows, table.Title, table.Text)
		for _, row := range table.Rows {
			rows = append(rows, strings.Join(row, "|"))
		}
	}
	text := strings.Join(rows, "\n")
	for _, want := range []string{
		"A batch of 28 samples on cuda:1 (Card)", "take 5 MB of its memory",
		"make masks by incidence|3 MB|1 ms ±0%|3 GB|75 %|30 ms ±0%|30", "upload indices|680 B|1 µs ±0%|680 MB|-|-|-", "limit: copy memory|-|-|2.80 GB|-|-|-",
		"Filtering is faster from 10 deleted genes.", "100|100|3 µs ±0%|1 ms ±0%|200 µs ±0%|300 µs ±0%|0.500",
	} {
		if !strings.Contains(text, want) {
			t.Errorf("no %q in\n%s", want, text)
		}
	}
}
