package bench

import (
	"math"
	"slices"

	"tcbuild/encode"
	"tcbuild/incidence"
	"tcbuild/store"
)

// FormatVersion is the version of results.json. Version 1 is the first.
const FormatVersion = 1

// Results is the result of a benchmark: the schema of results.json. Times are in seconds unless the
// name says milliseconds, and sizes are in bytes.
type Results struct {
	FormatVersion int           `json:"format_version"`
	Program       string        `json:"program"` // version and commit
	Machine       Machine       `json:"machine"`
	Setup         Setup         `json:"setup"`
	Cases         []*CaseResult `json:"cases"`
}

// Machine is the machine of the measurement.
type Machine struct {
	CPU         string `json:"cpu"`
	Cores       int    `json:"cores"` // that this process may use
	MemoryBytes int64  `json:"memory_bytes"`
	// threads that ran or waited, over a minute: the most of any round; above Cores, they waited
	Load float64 `json:"load"`
}

// Setup is what was measured.
type Setup struct {
	Genes         int                    `json:"genes"`
	EdgeTypes     int                    `json:"edge_types"`
	Edges         int                    `json:"edges"`
	MaskPositions int                    `json:"mask_positions"` // over all masks of a sample
	TotalSamples  int                    `json:"total_samples"`  // of the perturbation set
	Workers       int                    `json:"workers"`
	Rounds        int                    `json:"rounds"`
	ReactionRule  incidence.ReactionRule `json:"reaction_rule"`
	Seconds       float64                `json:"seconds"` // duration of the benchmark
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

// plus is the measurement with other samples, which has no rounds if their cost is unknown.
func (s Stat) plus(others float64, each Stat) Stat {
	switch {
	case others == 0:
		return s
	case each.Rounds == 0:
		return Stat{}
	}
	return Stat{s.Median + others*each.Median, s.Min + others*each.Min, s.Max + others*each.Max,
		each.Rounds, nil}
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
	Samples int `json:"samples"` // in the dataset, spread evenly over the set
	// in a smaller dataset: costs per sample are the difference, divided by that of the samples
	FewSamples   int           `json:"few_samples"`
	Build        Build         `json:"build"`
	Size         Size          `json:"size"`
	Cold         Reading       `json:"read_cold"` // no rounds where files stay in the page cache
	Warm         Reading       `json:"read_warm"`
	Extrapolated Extrapolation `json:"extrapolated"`

	growing, growingCPU growth
}

// Build is a build from its start until the dataset is published. What a sample adds has no rounds
// where noise hides it.
type Build struct {
	Seconds          Stat `json:"seconds"`
	CPUSeconds       Stat `json:"cpu_seconds"` // user and system
	SecondsPerSample Stat `json:"seconds_per_sample"`
	CPUPerSample     Stat `json:"cpu_seconds_per_sample"`
}

// Size is what a dataset occupies.
type Size struct {
	DatasetBytes   int64   `json:"dataset_bytes"` // of all files in its folder
	BytesPerSample float64 `json:"bytes_per_sample"`
}

// Reading is how long tcbuild's reader in Go takes to open a dataset and read its first sample, and
// then for each sample: its whole masks, a byte per position, on one core, in random order.
type Reading struct {
	OpenSeconds      Stat `json:"open_seconds"`
	SecondsPerSample Stat `json:"seconds_per_sample"`
	CPUPerSample     Stat `json:"cpu_seconds_per_sample"`
}

// Extrapolation is a dataset of another number of samples: what was measured, plus the cost per
// sample of the others. Times have no rounds where that cost is unknown, and above mostTimes.
type Extrapolation struct {
	Samples    int     `json:"samples"`
	Seconds    Stat    `json:"seconds"`
	CPUSeconds Stat    `json:"cpu_seconds"`
	Bytes      float64 `json:"bytes"`
}

// mostTimes is how many times the samples measured a time is extrapolated to: further, costs that
// start with a build's first samples would outweigh what is measured.
const mostTimes = 20

// The stages of a build that grow with the samples. They have fixed parts, too.
const (
	surveyStage = "survey samples" // also writes the sample table
	masksStage  = "build masks"    // of the LMDB variants
)

// cost is what a build took; growing are the seconds of the stages that grow with the samples, and
// bytes are those of data files, of all that are in the folder.
type cost struct{ seconds, growing, cpuSeconds, bytes, folder float64 }

// add adds a round.
func (c *CaseResult) add(few, all cost, cold, warm reading) {
	b, e := &c.Build, &c.Extrapolated
	b.Seconds.add(all.seconds)
	b.CPUSeconds.add(all.cpuSeconds)
	b.SecondsPerSample = c.growing.add(few.growing, all.growing, c)
	b.CPUPerSample = c.growingCPU.add(few.cpuSeconds, all.cpuSeconds, c)
	c.Size = Size{int64(all.folder), c.perSample(few.bytes, all.bytes)}
	others := float64(e.Samples - c.Samples)
	if e.Samples <= mostTimes*c.Samples {
		e.Seconds = b.Seconds.plus(others, b.SecondsPerSample)
		e.CPUSeconds = b.CPUSeconds.plus(others, b.CPUPerSample)
	}
	e.Bytes = all.folder + others*c.Size.BytesPerSample
	c.Warm.add(warm)
	if cold != (reading{}) {
		c.Cold.add(cold)
	}
}

func (r *Reading) add(once reading) {
	r.OpenSeconds.add(once.open)
	r.SecondsPerSample.add(once.seconds)
	r.CPUPerSample.add(once.cpuSeconds)
}

// growth is a figure of few and of all samples, and what a sample adds to it.
type growth struct{ few, all, perSample Stat }

// add adds a round, and returns what a sample adds: no rounds if noise may be all of it.
func (g *growth) add(few, all float64, c *CaseResult) Stat {
	g.few.add(few)
	g.all.add(all)
	g.perSample.add(c.perSample(few, all))
	noise := math.Hypot(g.few.Max-g.few.Min, g.all.Max-g.all.Min) / 2 // of the difference
	if s := g.perSample; s.Min <= 0 || s.Spread() >= 1 || g.all.Median-g.few.Median <= noise {
		return Stat{}
	}
	return g.perSample
}

// perSample is the part of a figure that a sample adds: not negative, whatever the noise, and not
// more than if nothing were fixed.
func (c *CaseResult) perSample(few, all float64) float64 {
	slope := (all - few) / float64(c.Samples-c.FewSamples)
	return min(max(slope, 0), all/float64(c.Samples))
}
