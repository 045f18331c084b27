package bench

import (
	"context"
	"fmt"
	"slices"

	"tcbuild/gpuverify"
	"tcbuild/incidence"
	"tcbuild/ingest"
	"tcbuild/internal/devicespeed"
	"tcbuild/internal/page"
)

// BatchSamples is the number of samples in a batch on a device.
const BatchSamples = 28

// DeviceResult is how fast a CUDA device makes the masks of a batch of samples.
type DeviceResult struct {
	Device string `json:"device"` // ordinal and name
	// BatchSamples, or all samples if there are fewer
	BatchSamples int `json:"batch_samples"`
	// device memory for the graph's tables and the masks of one batch
	MemoryBytes int64 `json:"memory_bytes"`
	// of a batch: perturbation indices and their ptr, int64
	IndexBytes int64 `json:"index_bytes"`
	// of a batch: whole masks, a byte per position
	MaskBytes int64 `json:"mask_bytes"`
	// of a batch: masks of bits
	BitBytes int64 `json:"bit_bytes"`
	Fill     Stat  `json:"fill"` // bytes per second, of device memory
	// bytes per second read and written, of device memory
	Copy        Stat           `json:"copy"`
	IndexUpload Stat           `json:"index_upload_seconds"`
	MaskUpload  Stat           `json:"mask_upload_seconds"`
	Methods     []DeviceMethod `json:"methods"`
}

// DeviceMethod is one way to make the masks of a batch, as bits on a device; by edges they are
// compared with those by incidence.
type DeviceMethod struct {
	Method     gpuverify.Method `json:"method"`
	Seconds    Stat             `json:"seconds"`
	CPUSeconds Stat             `json:"cpu_seconds"` // on one core
	// BitBytes per second, as a fraction of the highest Copy
	CopyFraction float64 `json:"copy_fraction"`
}

// measureDevices measures the devices that the options name, if any.
func (b *bench) measureDevices(ctx context.Context) ([]DeviceResult, error) {
	if b.Devices == nil {
		return nil, nil
	}
	o := devicespeed.Options{Graph: b.in.graph, ByRule: b.ReactionRule == incidence.RuleGPR, Rounds: b.Rounds, Devices: *b.Devices}
	_, err := spread{b.in.samples, b.in.total, min(BatchSamples, b.in.total)}.Scan(func(samples *ingest.Samples) error {
		for i := range samples.Len() {
			o.Batch = append(o.Batch, slices.Clone(samples.Genes(i)))
		}
		return nil
	})
	if err != nil {
		return nil, err
	}
	speeds, err := devicespeed.Measure(ctx, o)
	if err != nil {
		return nil, err
	}
	var results []DeviceResult
	for _, speed := range speeds {
		results = append(results, deviceResult(speed, len(o.Batch)))
	}
	return results, nil
}

func deviceResult(s devicespeed.Speed, samples int) DeviceResult {
	r := DeviceResult{
		Device: s.String(), BatchSamples: samples,
		MemoryBytes: s.MemoryBytes, IndexBytes: s.IndexBytes, MaskBytes: s.MaskBytes, BitBytes: s.BitBytes,
		Methods: []DeviceMethod{{Method: gpuverify.ByIncidence}, {Method: gpuverify.ByEdges}},
	}
	for _, round := range s.Rounds {
		r.Fill.add(round.FillSpeed)
		r.Copy.add(round.CopySpeed)
		r.IndexUpload.add(round.IndexUpload)
		r.MaskUpload.add(round.MaskUpload)
		r.Methods[0].Seconds.add(round.ByIncidence)
		r.Methods[0].CPUSeconds.add(round.CPUIncidence)
		r.Methods[1].Seconds.add(round.ByEdges)
		r.Methods[1].CPUSeconds.add(round.CPUEdges)
	}
	for i := range r.Methods {
		r.Methods[i].CopyFraction = ratio(float64(r.BitBytes)/r.Methods[i].Seconds.Median, r.Copy.Max)
	}
	return r
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
