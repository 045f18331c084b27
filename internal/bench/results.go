package bench

import (
	"slices"

	"tcbuild/incidence"
	"tcbuild/ingest"
	"tcbuild/store"
)

// FormatVersion is the version of results.json. Version 1 is the first.
const FormatVersion = 1

// Results is the result of a benchmark: the schema of results.json. Times are in seconds unless the
// name says milliseconds, sizes are in bytes, and fractions are between 0 and 1.
type Results struct {
	FormatVersion int          `json:"format_version"`
	Program       string       `json:"program"` // version and commit
	Machine       Machine      `json:"machine"`
	Setup         Setup        `json:"setup"`
	Limits        Limits       `json:"limits"`
	Cases         []CaseResult `json:"cases"`
	// Points differ from it along one axis each
	Base   Variation `json:"base"`
	Points []Point   `json:"points"` // of the default codecs
}

// Machine is the machine of the measurement.
type Machine struct {
	CPU         string `json:"cpu"`
	Cores       int    `json:"cores"` // that this process may use
	MemoryBytes int64  `json:"memory_bytes"`
	Kernel      string `json:"kernel"`
	Filesystem  string `json:"filesystem"` // of the datasets
}

// Setup is what was measured.
type Setup struct {
	Genes         int `json:"genes"`
	EdgeTypes     int `json:"edge_types"`
	Edges         int `json:"edges"`
	MaskPositions int `json:"mask_positions"` // over all masks of a sample
	TotalSamples  int `json:"total_samples"`  // of the perturbation set
	// in each dataset of Cases, spread evenly over the set
	Samples int `json:"samples"`
	// perturbation indices per sample, mean
	GenesRemoved float64 `json:"genes_removed"`
	// removed positions per sample, mean
	Removed       float64                `json:"removed"`
	Workers       int                    `json:"workers"`
	Rounds        int                    `json:"rounds"`
	ReactionRule  incidence.ReactionRule `json:"reaction_rule"`
	UnknownGenes  ingest.UnknownGenes    `json:"unknown_genes"`
	AllowWildtype bool                   `json:"allow_wildtype"`
	Seconds       float64                `json:"seconds"` // duration of the benchmark
}

// AllBytes is the size of the whole masks of all samples, a byte per position.
func (s Setup) AllBytes() int64 { return int64(s.MaskPositions) * int64(s.TotalSamples) }

// Stat sums up the rounds of one measurement.
type Stat struct {
	Median float64 `json:"median"`
	Min    float64 `json:"min"`
	Max    float64 `json:"max"`
	Rounds int     `json:"rounds"` // 0: not measured; 1: the spread is unknown

	ascending []float64
}

// add adds a round.
func (s *Stat) add(value float64) {
	at, _ := slices.BinarySearch(s.ascending, value)
	s.ascending = slices.Insert(s.ascending, at, value)
	s.Rounds = len(s.ascending)
	s.Min, s.Max = s.ascending[0], s.ascending[s.Rounds-1]
	s.Median = (s.ascending[(s.Rounds-1)/2] + s.ascending[s.Rounds/2]) / 2
}

// Spread is half the range of the rounds, two or more, as a fraction of the median; 0 if that is 0.
func (s Stat) Spread() float64 { return ratio((s.Max-s.Min)/2, s.Median) }

// Limits is how fast the machine is at work that no way of storing masks can avoid, in bytes per
// second. Comparisons use the highest round of a limit.
type Limits struct {
	Fill      Stat `json:"fill"`       // writing a buffer of MaskPositions bytes, on one core
	Copy      Stat `json:"copy"`       // copying such a buffer, on one core
	DiskWrite Stat `json:"disk_write"` // writing a file sequentially, and syncing it
	// reading it sequentially, not from the page cache; 0 if it cannot be dropped from the cache
	DiskRead  Stat  `json:"disk_read"`
	DiskBytes int64 `json:"disk_bytes"` // size of that file
}

// Case is one way of storing masks.
type Case struct {
	Variant store.Variant `json:"variant"`
	Codec   string        `json:"codec,omitempty"` // none in the incidence variant
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
	Build        Build         `json:"build"`
	Size         Size          `json:"size"`
	Read         Read          `json:"read"`
	Extrapolated Extrapolation `json:"extrapolated"`
}

// Build is a build as its user sees it: the program as a process of its own, from its start to its
// end.
type Build struct {
	Seconds          Stat `json:"seconds"`
	CPUSeconds       Stat `json:"cpu_seconds"`        // user and system
	SamplesPerSecond Stat `json:"samples_per_second"` // in the stage that writes samples
	PeakAnonBytes    Stat `json:"peak_anon_bytes"`    // the process's own memory, without mapped files
	// the last, "start and publish", is the time outside all others
	Stages []Stage `json:"stages"`
	// Size.DatasetBytes at the speed of Limits.DiskWrite
	LimitSeconds  float64 `json:"limit_seconds"`
	LimitFraction float64 `json:"limit_fraction"` // LimitSeconds / Seconds
}

// Stage is one stage of a build.
type Stage struct {
	Stage   string `json:"stage"`
	Seconds Stat   `json:"seconds"` // wall time
	Steps   []Step `json:"steps,omitempty"`
}

// Step is one of the steps that run side by side in a stage.
type Step struct {
	Step        string `json:"step"`
	BusySeconds Stat   `json:"busy_seconds"` // summed over goroutines
}

// Size is what a dataset occupies; every round has the same.
type Size struct {
	DatasetBytes int64 `json:"dataset_bytes"` // of all data files
	// of the files that grow with the number of samples: the sample table, data.mdb
	SampleBytes    int64   `json:"sample_bytes"`
	BytesPerSample float64 `json:"bytes_per_sample"` // SampleBytes / samples
}

// Read is how long it takes to have a sample's whole masks, a byte per position, in the reader's
// memory, on one core.
type Read struct {
	OpenSeconds Stat `json:"open_seconds"` // until the first sample's masks are read
	Sequential  Pass `json:"sequential"`
	Random      Pass `json:"random"`
	// with nothing of the dataset in the page cache at first; later reads benefit from the page cache of earlier ones
	ColdSequential *Pass  `json:"cold_sequential,omitempty"`
	ColdRandom     *Pass  `json:"cold_random,omitempty"`
	NotCold        string `json:"not_cold,omitempty"` // why there is no cold pass
}

// Pass is one order of reading.
type Pass struct {
	Samples           int     `json:"samples"`            // read in a round, fewest
	Milliseconds      Stat    `json:"milliseconds"`       // per sample
	LimitMilliseconds float64 `json:"limit_milliseconds"` // readLimit's
	LimitFraction     float64 `json:"limit_fraction"`     // LimitMilliseconds / Milliseconds
}

// Extrapolation is a dataset of another number of samples: its fixed part, plus the rest in
// proportion.
type Extrapolation struct {
	Samples     int     `json:"samples"`
	FromSamples int     `json:"from_samples"` // in the largest dataset of the case that was built
	Seconds     float64 `json:"seconds"`
	Bytes       float64 `json:"bytes"`
}

// Variation is a build of a subset of the input.
type Variation struct {
	Workers  int `json:"workers"`
	Samples  int `json:"samples"`
	EveryNth int `json:"every_nth"` // edge of each edge type is kept; 1 keeps all
}

// Point is a case at a variation.
type Point struct {
	Case
	Variation
	Edges            int     `json:"edges"`
	Seconds          Stat    `json:"seconds"` // of the build
	SamplesPerSecond Stat    `json:"samples_per_second"`
	DatasetBytes     int64   `json:"dataset_bytes"`
	BytesPerSample   float64 `json:"bytes_per_sample"`
	ReadMilliseconds Stat    `json:"read_milliseconds"` // per sample, random order, warm
	// part of Seconds that does not grow with the samples
	FixedSeconds float64 `json:"fixed_seconds"`
	FixedBytes   int64   `json:"fixed_bytes"`
}
