package tcbuild

import (
	"cmp"
	"log/slog"
	"runtime"

	"tcbuild/incidence"
	"tcbuild/ingest"
	"tcbuild/ingest/samples"
	"tcbuild/ingest/samples/duplicates"
	"tcbuild/store"
)

// Options describe a build. Variant, Graph, Perturbations and Out are required.
type Options struct {
	Variant store.Variant
	Graph   string // folder
	// a file, a folder or a computed set (see samples.Parse); "" for an incidence dataset
	// without samples
	Perturbations string
	// an incidence dataset that takes the place of graph, perturbation set and their options: it is
	// not read again, and the two datasets share the files of graph and samples; nil: none
	Base *store.Dataset
	// the dataset's folder, which must not hold another dataset
	Out    string
	Codec  string // how to store masks; "": the default of the variant
	Shards int    // 0: depends on the dataset's size
	Shard  *int   // the only shard to build, counted from 0; nil: all
	// node-local folder to build shards in; "": they are built in Out
	Scratch      string
	Workers      int                    // goroutines that make and encode masks; 0: one per core
	Resume       store.Resume           // "": store.ResumeNever
	ReactionRule incidence.ReactionRule // "": incidence.RuleAll

	samples.PerturbationOptions // UnknownGenes "": ingest.RefuseUnknownGenes
	// share of the samples, 0 to 1, that may be dropped for unknown genes; nil: DefaultMaxDropped
	MaxDropped      *float64
	duplicates.Rule // Duplicates "": duplicates.Keep

	Program string       // version and commit, for run.json
	Log     *slog.Logger // nil: no logging
	// called at the start of a stage with its number of samples, 0 if that is not known; nil: no
	// progress is reported
	Progress func(total int) Progress
}

// DefaultMaxDropped is the share of a perturbation set that may be dropped for unknown genes.
const DefaultMaxDropped = 0.5

// withDefaults replaces zero values by their defaults.
func (o Options) withDefaults() Options {
	o.Workers = cmp.Or(o.Workers, runtime.GOMAXPROCS(0))
	o.Resume = cmp.Or(o.Resume, store.ResumeNever)
	o.ReactionRule = cmp.Or(o.ReactionRule, incidence.RuleAll)
	o.UnknownGenes = cmp.Or(o.UnknownGenes, ingest.RefuseUnknownGenes)
	o.Duplicates = cmp.Or(o.Duplicates, duplicates.Keep)
	o.Log = cmp.Or(o.Log, slog.New(slog.DiscardHandler))
	if o.MaxDropped == nil {
		o.MaxDropped = new(DefaultMaxDropped)
	}
	if o.Progress == nil {
		o.Progress = func(int) Progress { return noProgress{} }
	}
	return o
}

// Progress receives how many samples a stage is done with, and the bytes of their values.
type Progress interface {
	Add(samples int, bytes int64)
	Done()
}

type noProgress struct{}

func (noProgress) Add(int, int64) {}
func (noProgress) Done()          {}

// Result is what a build did; store/FORMAT.md describes it as run.json.
type Result struct {
	Program  string          `json:"program"`
	Workers  int             `json:"workers"`
	Seconds  float64         `json:"seconds"` // wall time
	Stages   []StageTime     `json:"stages"`
	Resumed  bool            `json:"resumed"` // an unfinished build was continued
	Manifest *store.Manifest `json:"-"`
	State    State           `json:"-"`
}

// State is how a build ended.
type State int

const (
	Built     State = iota // the dataset was published
	Unchanged              // the same dataset existed already
	Waiting                // this shard is complete, but others are not
)
