package gpuverify

import (
	"fmt"
	"strings"
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
}

// Passed reports whether the dataset is what its manifest and graph say.
func (r *Report) Passed() bool { return r.Differences == 0 && r.Damages == 0 }

// Findings are the first differences and damages, one line each.
func (r *Report) Findings() string {
	var lines []string
	for _, d := range r.FirstDifferences {
		lines = append(lines, d.String())
	}
	for _, d := range r.FirstDamages {
		lines = append(lines, d.What)
	}
	if more := r.Differences + r.Damages - int64(len(lines)); more > 0 {
		lines = append(lines, fmt.Sprintf("and %d more", more))
	}
	return strings.Join(lines, "\n")
}
