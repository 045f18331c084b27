package gpuverify

import (
	"fmt"
	"slices"
)

// Difference is a position at which a stored mask differs from the regenerated one.
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

// Damage is a part of a dataset that does not match its checksums.
type Damage struct {
	Sample int    `json:"sample"` // -1 if it is not a sample
	What   string `json:"what"`
}

// MaskReport counts one mask over all samples.
type MaskReport struct {
	Name        string `json:"name"`
	Size        int    `json:"size"`
	Removed     int64  `json:"removed"`     // positions removed, over all samples
	Differences int64  `json:"differences"` // positions that differ, over all samples and methods
}

// listed is how many differences, and how many damaged records or files, a report names; all are
// counted.
const listed = 20

// differ lists a difference, by sample, up to a limit.
func (r *Report) differ(d Difference) {
	list := r.FirstDifferences
	if len(list) == listed && d.Sample >= list[listed-1].Sample {
		return
	}
	list = append(list, d)
	slices.SortStableFunc(list, func(a, b Difference) int { return a.Sample - b.Sample })
	r.FirstDifferences = list[:min(len(list), listed)]
}

// list lists damage, by sample, up to a limit. A missing file gives the same error for each of its
// samples: the first is listed.
func (r *Report) list(damage ...Damage) {
	for _, d := range damage {
		known := slices.IndexFunc(r.FirstDamaged,
			func(other Damage) bool { return other.What == d.What })
		if known < 0 {
			r.FirstDamaged = append(r.FirstDamaged, d)
		} else if d.Sample < r.FirstDamaged[known].Sample {
			r.FirstDamaged[known] = d
		}
		slices.SortStableFunc(r.FirstDamaged, func(a, b Damage) int { return a.Sample - b.Sample })
		r.FirstDamaged = r.FirstDamaged[:min(len(r.FirstDamaged), listed)]
	}
}

// Report is what a verification found.
type Report struct {
	Dataset          string         `json:"dataset"`
	Variant          string         `json:"variant"`
	Device           string         `json:"device"`
	Method           Method         `json:"method"`
	Samples          int            `json:"samples"` // checked
	Masks            []MaskReport   `json:"masks"`
	Differences      int64          `json:"differences"`
	FirstDifferences []Difference   `json:"first_differences"`
	Damaged          int64          `json:"damaged"`
	FirstDamaged     []Damage       `json:"first_damaged"`
	LogicalContent   string         `json:"logical_content"` // computed from what is stored
	Seconds          float64        `json:"seconds"`
	SamplesPerSecond float64        `json:"samples_per_second"`
	Devices          []DeviceReport `json:"devices,omitempty"` // none when the CPU regenerated
}

// DeviceReport describes the work of one device.
type DeviceReport struct {
	Ordinal      int    `json:"ordinal"`
	Name         string `json:"name"`
	MemoryBytes  int64  `json:"memory_bytes"`  // taken on the device
	BatchSamples int    `json:"batch_samples"` // at most
	// the time from the first sample read to the last result, without start-up
	WorkingSeconds float64      `json:"working_seconds"`
	Samples        int          `json:"samples"`
	Batches        int          `json:"batches"` // the host waits once for each
	Seconds        StageSeconds `json:"seconds"`
	UploadedBytes  int64        `json:"uploaded_bytes"` // of batches
}

// StageSeconds is the time of each stage. Stages overlap: read and decode are summed over workers.
type StageSeconds struct {
	Read   float64 `json:"read"`
	Decode float64 `json:"decode"`
	Upload float64 `json:"upload"`
	Kernel float64 `json:"kernel"` // regeneration by incidence
	// also by what is stored, which is toggled between two comparisons
	Compare  float64 `json:"compare"`
	Download float64 `json:"download"`
}

// Passed reports whether the dataset matches its manifest and graph.
func (r *Report) Passed() bool { return r.Differences == 0 && r.Damaged == 0 }

// Findings lists the first damaged records and files, which may be why masks differ, and then the
// first differences, one line each.
func (r *Report) Findings() []string {
	var lines []string
	for _, d := range r.FirstDamaged {
		lines = append(lines, d.What)
	}
	for _, d := range r.FirstDifferences {
		lines = append(lines, d.String())
	}
	return lines
}
