package bench

import (
	"slices"

	"tcbuild"
	"tcbuild/encode"
	"tcbuild/incidence"
	"tcbuild/store"
)

// FormatVersion is the version of results.json. Version 1 is the first.
const FormatVersion = 1

// Results is the result of a benchmark: the schema of results.json. Times are in seconds unless the
// name says milliseconds, and sizes are in bytes.
type Results struct {
	FormatVersion int     `json:"format_version"`
	Program       string  `json:"program"` // version and commit
	Machine       Machine `json:"machine"`
	Setup         Setup   `json:"setup"`
	// filling a buffer of MaskPositions bytes on one core: no reader that makes whole masks is
	// faster
	FillMilliseconds Stat          `json:"fill_milliseconds"`
	Cases            []*CaseResult `json:"cases"`
}

// Machine is the machine of the measurement.
type Machine struct {
	CPU         string `json:"cpu"`
	Cores       int    `json:"cores"` // that this process may use
	MemoryBytes int64  `json:"memory_bytes"`
}

// Setup is what was measured.
type Setup struct {
	Genes         int `json:"genes"`
	EdgeTypes     int `json:"edge_types"`
	Edges         int `json:"edges"`
	MaskPositions int `json:"mask_positions"` // over all masks of a sample
	TotalSamples  int `json:"total_samples"`  // of the perturbation set
	// perturbation indices per sample, mean
	GenesRemoved float64 `json:"genes_removed"`
	// removed positions per sample, mean
	Removed      float64                `json:"removed"`
	Workers      int                    `json:"workers"`
	Rounds       int                    `json:"rounds"`
	ReactionRule incidence.ReactionRule `json:"reaction_rule"`
	Seconds      float64                `json:"seconds"` // duration of the benchmark
}

// Stat sums up the rounds of one measurement.
type Stat struct {
	Median float64 `json:"median"`
	Min    float64 `json:"min"`
	Max    float64 `json:"max"`
	Rounds int     `json:"rounds"` // 1: the spread is unknown

	ascending []float64
}

func (s *Stat) add(value float64) {
	at, _ := slices.BinarySearch(s.ascending, value)
	s.ascending = slices.Insert(s.ascending, at, value)
	s.Rounds = len(s.ascending)
	s.Min, s.Max = s.ascending[0], s.ascending[s.Rounds-1]
	s.Median = (s.ascending[(s.Rounds-1)/2] + s.ascending[s.Rounds/2]) / 2
}

// Spread is half the range of the rounds as a fraction of the median; 0 if that is 0.
func (s Stat) Spread() float64 {
	if s.Median == 0 {
		return 0
	}
	return (s.Max - s.Min) / 2 / s.Median
}

// Case is one way of storing masks.
type Case struct {
	Variant store.Variant `json:"variant"`
	Codec   string        `json:"codec,omitempty"` // none in the incidence variant
}

// allCases are the incidence variant and every codec of the other variants, each variant's default
// first.
func allCases() []Case {
	cases := []Case{{Variant: store.Incidence}}
	for _, variant := range []store.Variant{store.Indices, store.FullMasks} {
		for _, codec := range encode.Codecs(encode.Mode(variant)) {
			cases = append(cases, Case{variant, codec})
		}
	}
	return cases
}

func (c Case) isDefault() bool {
	return c.Variant == store.Incidence || c.Codec == encode.Codecs(encode.Mode(c.Variant))[0]
}

// String is the variant and the codec, as in "indices zstd".
func (c Case) String() string {
	if c.Codec == "" {
		return string(c.Variant)
	}
	return string(c.Variant) + " " + c.Codec
}

// CaseResult is the measurements of a case.
type CaseResult struct {
	Case
	Default      bool          `json:"default"` // its codec is the default of its variant
	Samples      int           `json:"samples"` // in the dataset, spread evenly over the set
	Build        Build         `json:"build"`
	Size         Size          `json:"size"`
	Read         Read          `json:"read"`
	Extrapolated Extrapolation `json:"extrapolated"`

	fixed Stat // seconds of the build that do not grow with the samples
}

// Build is a build from its start until the dataset is published.
type Build struct {
	Seconds          Stat `json:"seconds"`
	CPUSeconds       Stat `json:"cpu_seconds"`        // user and system
	SamplesPerSecond Stat `json:"samples_per_second"` // in the stages that grow with the samples
}

// Size is what a dataset occupies; every round has the same.
type Size struct {
	DatasetBytes int64 `json:"dataset_bytes"` // of all data files
	// of the files that grow with the number of samples: the sample table, data.mdb
	SampleBytes    int64   `json:"sample_bytes"`
	BytesPerSample float64 `json:"bytes_per_sample"` // SampleBytes / samples
}

// Read is how long it takes to have a sample's whole masks, a byte per position, in the reader's
// memory, on one core, in random order, from the page cache.
type Read struct {
	OpenSeconds  Stat `json:"open_seconds"` // until the first sample's masks are read
	Milliseconds Stat `json:"milliseconds"` // per sample
}

// Extrapolation is a dataset of another number of samples: its fixed part, plus the rest in
// proportion.
type Extrapolation struct {
	Samples int     `json:"samples"`
	Seconds float64 `json:"seconds"`
	Bytes   float64 `json:"bytes"`
}

// The stages of a build that grow with the samples.
const (
	surveyStage = "survey samples" // also writes the sample table
	masksStage  = "build masks"    // of the LMDB variants
)

func (c *CaseResult) add(
	seconds, cpuSeconds float64, stages []tcbuild.StageTime, open, read float64,
) {
	growing := 0.0
	for _, stage := range stages {
		if stage.Stage == surveyStage || stage.Stage == masksStage {
			growing += stage.Seconds
		}
	}
	c.fixed.add(seconds - growing)
	c.Build.Seconds.add(seconds)
	c.Build.CPUSeconds.add(cpuSeconds)
	c.Build.SamplesPerSecond.add(float64(c.Samples) / growing)
	c.Read.OpenSeconds.add(open)
	c.Read.Milliseconds.add(read)
}

// extrapolate estimates the cost of a dataset of another number of samples.
func (c *CaseResult) extrapolate(samples int) {
	factor := float64(samples) / float64(c.Samples)
	fixed := c.Size.DatasetBytes - c.Size.SampleBytes
	c.Extrapolated = Extrapolation{
		Samples: samples,
		Seconds: c.fixed.Median + factor*(c.Build.Seconds.Median-c.fixed.Median),
		Bytes:   float64(fixed) + factor*float64(c.Size.SampleBytes),
	}
}
