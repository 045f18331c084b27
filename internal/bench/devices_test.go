package bench

import (
	"strings"
	"testing"

	"tcbuild/internal/devicespeed"
)

// Rounds become medians, fractions and tables.
func TestDeviceTables(t *testing.T) {
	round := func(scale float64) devicespeed.Round {
		return devicespeed.Round{FillSpeed: 5e9 * scale, CopySpeed: 4e9 * scale, IndexUpload: 1e-6, MaskUpload: 2e-3,
			ByIncidence: 1e-3, ByEdges: 2e-3,
			CPUIncidence: 30e-3, CPUEdges: 50e-3}
	}
	d := deviceResult(devicespeed.Speed{Ordinal: 1, Name: "Card", MemoryBytes: 5e6, IndexBytes: 680, MaskBytes: 24e6, BitBytes: 3e6,
		Rounds: []devicespeed.Round{round(1), round(0.5), round(0.7)}}, 28)
	if d.Copy.Max != 4e9 || d.Methods[0].CopyFraction != 0.75 || d.Methods[1].CopyFraction != 0.375 {
		t.Errorf("got %+v", d)
	}
	table := d.speedTable()
	rows := []string{table.Title, table.Text}
	for _, row := range table.Rows {
		rows = append(rows, strings.Join(row, "|"))
	}
	text := strings.Join(rows, "\n")
	for _, want := range []string{
		"A batch of 28 samples on cuda:1 (Card)", "take 5 MB of its memory",
		"make masks by incidence|3 MB|1 ms ±0%|3 GB|75 %|30 ms ±0%|30", "upload indices|680 B|1 µs ±0%|680 MB|-|-|-", "limit: copy memory|-|-|2.80 GB|-|-|-",
	} {
		if !strings.Contains(text, want) {
			t.Errorf("no %q in\n%s", want, text)
		}
	}
}
