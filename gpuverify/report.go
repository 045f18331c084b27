package gpuverify

import (
	"fmt"
)

// Difference is a position at which a stored mask is not the regenerated one.
type Difference struct {
	Sample   int    `json:"sample"`
	SampleID string `json:"sample_id"`
	Mask     string `json:"mask"`
	Position int    `json:"position"` // within the mask
	Expected int    `json:"expected"` // what Method regenerated: 1 keep, 0 removed
	Found    int    `json:"found"`    // what is stored; -1 when nothing can be decoded
	Method   Method `json:"method"`
}

func (d Difference) String() string {
	found := fmt.Sprint(d.Found)
	if d.Found < 0 {
		found = "nothing that can be decoded"
	}
	return fmt.Sprintf("sample %d (id %s), mask %s, position %d: expected %d by %s, found %s",
		d.Sample, d.SampleID, d.Mask, d.Position, d.Expected, d.Method, found)
}

// Damage is a part of a dataset that is not what its checksums say.
type Damage struct {
	Sample int    `json:"sample"` // -1 when it is not a sample's
	What   string `json:"what"`
}

// MaskReport counts one mask over all samples.
type MaskReport struct {
	Name        string `json:"name"`
	Size        int    `json:"size"`
	Removed     int64  `json:"removed"`     // positions removed, over all samples
	Differences int64  `json:"differences"` // positions that differ, over all samples and methods
}

// listed is how many differences and damages a report spells out; all are counted.
const listed = 20

// Report is what a verification found.
type Report struct {
	Dataset          string       `json:"dataset"`
	Variant          string       `json:"variant"`
	Device           string       `json:"device"`
	Method           Method       `json:"method"`
	Samples          int          `json:"samples"` // checked
	Masks            []MaskReport `json:"masks"`
	Differences      int64        `json:"differences"`
	FirstDifferences []Difference `json:"first_differences"`
	Damages          int64        `json:"damages"`
	FirstDamages     []Damage     `json:"first_damages"`
	LogicalContent   string       `json:"logical_content"` // computed from what is stored
	Seconds          float64      `json:"seconds"`
	SamplesPerSecond float64      `json:"samples_per_second"`
	CUDA             *CUDAReport  `json:"cuda,omitempty"` // nil when the CPU regenerated
}

// CUDAReport is what the devices did. On them, differences counts all, and of a sample's mask
// the first is among the first differences.
type CUDAReport struct {
	DeviceWork                 // of all devices
	Devices     []DeviceReport `json:"devices"`
	FileSeconds float64        `json:"file_seconds"` // checksums of files, before all else
}

// DeviceReport is what one device did.
type DeviceReport struct {
	Ordinal      int    `json:"ordinal"`
	Name         string `json:"name"`
	MemoryBytes  int64  `json:"memory_bytes"`  // taken on the device
	BatchSamples int    `json:"batch_samples"` // at most
	DeviceWork
}

// DeviceWork is work on samples.
type DeviceWork struct {
	Samples int `json:"samples"`
	Batches int `json:"batches"`
	// waits of the host: one for the graph, and one for each batch
	HostSynchronizations int64        `json:"host_synchronizations"`
	Seconds              StageSeconds `json:"seconds"`
	UploadedBytes        int64        `json:"uploaded_bytes"` // of batches
	DownloadedBytes      int64        `json:"downloaded_bytes"`
	// of masks that kernels wrote, and read to compare
	MaskBytes int64 `json:"mask_bytes"`
	// MaskBytes by the time of kernel and compare, 10^9 each
	GigabytesPerSecond float64 `json:"gigabytes_per_second"`
}

// StageSeconds is where time went. Stages overlap: read and decode are summed over workers, the
// others over devices.
type StageSeconds struct {
	Read     float64 `json:"read"`
	Decode   float64 `json:"decode"`
	Upload   float64 `json:"upload"`
	Kernel   float64 `json:"kernel"` // regeneration, and expansion of removed positions
	Compare  float64 `json:"compare"`
	Download float64 `json:"download"`
}

// sum computes the rates, and the work of all devices.
func (r *CUDAReport) sum() {
	for i := range r.Devices {
		d := &r.Devices[i].DeviceWork
		d.rate()
		r.Samples += d.Samples
		r.Batches += d.Batches
		r.HostSynchronizations += d.HostSynchronizations
		r.UploadedBytes += d.UploadedBytes
		r.DownloadedBytes += d.DownloadedBytes
		r.MaskBytes += d.MaskBytes
		r.Seconds.Read += d.Seconds.Read
		r.Seconds.Decode += d.Seconds.Decode
		r.Seconds.Upload += d.Seconds.Upload
		r.Seconds.Kernel += d.Seconds.Kernel
		r.Seconds.Compare += d.Seconds.Compare
		r.Seconds.Download += d.Seconds.Download
	}
	r.rate()
}

func (d *DeviceWork) rate() {
	if seconds := d.Seconds.Kernel + d.Seconds.Compare; seconds > 0 {
		d.GigabytesPerSecond = float64(d.MaskBytes) / seconds / 1e9
	}
}

// Passed reports whether the dataset is what its manifest and graph say.
func (r *Report) Passed() bool { return r.Differences == 0 && r.Damages == 0 }

// Findings are the first damages, which may be why masks differ, and the first differences, one
// line each.
func (r *Report) Findings() []string {
	var lines []string
	for _, d := range r.FirstDamages {
		lines = append(lines, d.What)
	}
	for _, d := range r.FirstDifferences {
		lines = append(lines, d.String())
	}
	return lines
}
