// Package tcbuild builds training datasets for perturbation graph learning on cell graphs. For each
// sample, a set of deleted genes, a dataset has boolean masks that say which nodes and edges
// remain.
//
//	Build    builds a dataset from a cell graph and a perturbation set
//	Open     opens a dataset to read its samples, masks, graph and manifest
//	Verify   regenerates all masks by independent methods and compares them
//
// A dataset has one of three variants, which describe identical masks: an incidence cache from
// which masks are looked up, an LMDB of removed positions, or an LMDB of whole masks.
// docs/concepts.md defines the masks and the guarantees of a dataset, docs/input.md the input, and
// docs/FORMAT.md the bytes.
//
// Data flows one way: package ingest reads graphs and perturbation sets, incidence finds what a
// genotype removes, encode turns that into bytes, store writes and reads them, and gpuverify checks
// them.
//
// An error that a user can fix is a *fault.Error. Its kind, such as fault.Input, can be matched
// with errors.Is; its hint names the fix.
package tcbuild

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"log/slog"
	"path/filepath"
	"runtime"
	"time"

	"golang.org/x/sync/errgroup"

	"tcbuild/encode"
	"tcbuild/fault"
	"tcbuild/gpuverify"
	"tcbuild/incidence"
	"tcbuild/ingest"
	"tcbuild/ingest/inputfile"
	"tcbuild/ingest/samples"
	"tcbuild/store"
)

// Open opens a published dataset for reading; see store.Dataset. It reads only the manifest. A
// folder without a dataset is a fault.Input, a damaged manifest a fault.Damaged.
func Open(dir string) (*store.Dataset, error) { return store.Open(dir) }

// Verify regenerates all masks of a dataset and compares them with the stored ones; see
// gpuverify.Verify.
func Verify(ctx context.Context, dataset *store.Dataset,
	o gpuverify.Options) (*gpuverify.Report, error) {
	return gpuverify.Verify(ctx, dataset, o)
}

// Build builds a dataset and publishes it in one step. After an error Out does not exist, unless it
// existed before; a build that can be resumed stays in Out.building.
//
// Errors are of kind fault.Usage (options that contradict each other or the input), fault.Input
// (bad data, with file and line), fault.Damaged (an unfinished build or an existing dataset),
// fault.Busy (Out is locked, ctx is done, or an input changed while it was read) or fault.Failed
// (I/O).
//
// Memory is bounded by the graph and 2 × Workers values of 64 samples, and by up to 19 bytes per
// sample for the check of duplicate ids.
func Build(ctx context.Context, o Options) (*Result, error) {
	o = o.withDefaults()
	b := &builder{Options: o, shard: store.AllShards,
		result: Result{Program: o.Program, Workers: o.Workers}, start: time.Now()}
	b.lap = b.start
	if err := b.findCodec(); err != nil {
		return nil, err
	}
	var err error
	if b.prepared, err = b.prepare(ctx); err != nil {
		return nil, err
	}
	defer b.prepared.Close()
	if err := b.plan(); err != nil {
		return nil, err
	}
	if b.DryRun {
		b.end(Planned)
		return &b.result, nil
	}
	if result, err := b.published(); result != nil || err != nil {
		return result, err
	}
	b.building, err = store.Begin(o.Out, b.manifest, o.Resume, b.shard)
	if fault.KindOf(err) == fault.Busy {
		// The process that built the last shard may have published the dataset since.
		if result, err := b.published(); result != nil || err != nil {
			return result, err
		}
	}
	if err != nil {
		return nil, err
	}
	defer b.building.Close()
	if err = b.write(ctx); err == nil {
		err = b.publish()
	}
	if err != nil {
		return nil, b.failed(err)
	}
	return &b.result, nil
}

// builder carries the stages' results.
type builder struct {
	Options
	shard int          // the first shard of the part to build, or store.AllShards
	codec encode.Codec // of the LMDB variants
	*prepared
	building *store.Building
	result   Result
	start    time.Time
	lap      time.Time
}

// stage logs what a stage did and records its time.
func (b *builder) stage(name string, args ...any) {
	now := time.Now()
	took := now.Sub(b.lap)
	b.lap = now
	b.result.Stages = append(b.result.Stages, StageTime{Stage: name, Seconds: took.Seconds()})
	b.Log.Info(name, append(args, "seconds", fmt.Sprintf("%.3f", took.Seconds()))...)
}

func (b *builder) findCodec() (err error) {
	if b.Variant == store.Incidence {
		return nil
	}
	if b.codec, err = encode.Find(encode.Mode(b.Variant), b.Codec); err != nil {
		return fault.New(fault.Usage, "choose one of its codecs with --codec", "build %s: %w",
			b.Out, err)
	}
	return nil
}

// plan completes the dataset's manifest from what is prepared, except for the list of files.
func (b *builder) plan() error {
	m := b.manifest
	m.Program, m.Variant, m.Codec, m.Checksum = b.Program, b.Variant, b.codec.Name, ""
	m.SamplesPerValue, m.Shards, m.Files = 0, nil, nil
	m.Identify()
	if b.Variant == store.Incidence {
		return nil
	}
	return b.cutShards()
}

const (
	samplesPerValue = 64 // compressed masks; a value then wastes about 2 % of its pages
	// of uncompressed masks; a value has at least one sample
	valueBytes = 256 << 10
	// A shard that is interrupted starts again: it takes two cores at most about ten seconds.
	// Compressed masks of the yeast graph, which has 2.4 million positions, take 25 µs per sample.
	shardPositions = 600_000_000_000
	shardSamples   = 1_000_000
	// of uncompressed masks; a shard is hashed while it is still in the page cache
	shardBytes = 1 << 29
)

// cutShards divides the samples into values and shards. Both depend only on the dataset's size,
// never on the machine, so that every machine writes the same bytes.
func (b *builder) cutShards() error {
	m := b.manifest
	m.SamplesPerValue = samplesPerValue
	shards := max(m.Samples/shardSamples, m.Samples*m.MaskPositions()/shardPositions) + 1
	if b.codec.WholeSize != nil {
		whole := b.codec.WholeSize(m.MaskPositions())
		m.SamplesPerValue = min(max(valueBytes/max(whole, 1), 1), samplesPerValue)
		shards = m.Samples*whole/shardBytes + 1
	}
	if b.Shards > 0 {
		shards = b.Shards
	}
	shards = (shards + b.Parts - 1) / b.Parts * b.Parts
	if shards > m.Samples {
		return fault.New(fault.Usage, "give fewer with --shards",
			"cut dataset: found %d shards, expected at most %d, one per sample", shards, m.Samples)
	}
	m.Cut(shards)
	if b.Part != nil {
		b.shard = *b.Part * b.perPart()
	}
	return nil
}

// perPart is the number of shards in each part.
func (b *builder) perPart() int { return len(b.manifest.Shards) / b.Parts }

// inPart reports whether a shard is in the part to build.
func (b *builder) inPart(shard int) bool {
	return b.shard == store.AllShards || shard/b.perPart() == *b.Part
}

// published is the result if the dataset exists and is of this input; nil if it does not exist.
func (b *builder) published() (*Result, error) {
	published, err := store.Published(b.Out, b.manifest)
	if published == nil || err != nil {
		return nil, err
	}
	b.manifest = published
	b.end(Unchanged)
	return &b.result, nil
}

func (b *builder) write(ctx context.Context) error {
	b.result.Resumed = b.building.Resumed
	if b.building.Dropped != "" {
		b.Log.Warn("cannot resume the unfinished build: starting from the beginning",
			"differs_in", b.building.Dropped)
	}
	b.building.UseScratch(b.Scratch)
	var group errgroup.Group
	group.Go(fault.Catch(func() error { return b.place(ctx) }))
	if b.Variant == store.Incidence {
		group.Go(fault.Catch(func() error { return b.building.WriteIncidence(b.cache) }))
	}
	if err := group.Wait(); err != nil {
		return err
	}
	b.stage("write graph")
	if b.Variant == store.Incidence {
		return nil
	}
	return b.writeShards(ctx)
}

func (b *builder) publish() error {
	b.result.Seconds = time.Since(b.start).Seconds()
	published, err := b.building.Publish(&b.result)
	if err != nil {
		return err
	}
	if !published {
		b.end(Waiting)
		return nil
	}
	b.stage("publish", "dataset", filepath.Base(b.Out))
	b.end(Built)
	return nil
}

func (b *builder) end(state State) {
	b.result.State, b.result.Manifest = state, b.manifest
	b.result.Seconds = time.Since(b.start).Seconds()
}

// failed abandons the build after an error, unless it is worth resuming, and names the dataset if
// the disk is full.
func (b *builder) failed(err error) error {
	if fault.KindOf(err) == fault.Input || errors.Is(err, inputfile.ErrChanged) ||
		!b.building.WorthResuming() {
		if b.shard == store.AllShards {
			err = errors.Join(err, b.building.Abandon())
		}
	}
	if fault.DiskFull(err) {
		return fmt.Errorf("write dataset %s: %w", b.Out, err)
	}
	return err
}

// Options describe a build. Variant, Graph, Spec.File and Out are required.
type Options struct {
	Variant      store.Variant
	Graph        string // folder
	samples.Spec        // the perturbation set; without File, an incidence dataset without samples
	// an incidence dataset that takes the place of graph, perturbation set and their options: it is
	// not read again, and the two datasets share the files of graph and samples; nil: none
	Base *store.Dataset
	// the dataset's folder, which must not hold another dataset
	Out    string
	Codec  string // how to store masks; "": the default of the variant
	Shards int    // 0: depends on the dataset's size
	// number of parts, each of consecutive shards, that processes can build separately; the number
	// of shards is rounded up to a multiple of it; 0: 1
	Parts int
	Part  *int // the only part to build, counted from 0; nil: all
	// node-local folder to build shards in; "": they are built in Out
	Scratch      string
	Workers      int                    // goroutines that make and encode masks; 0: one per core
	Resume       store.Resume           // "": store.ResumeNever
	ReactionRule incidence.ReactionRule // "": incidence.RuleAll

	DryRun bool // read and check all input, and write nothing
	// gets the table of dropped names, see ingest.Account.DroppedNames, once the perturbation set
	// is read, even if too many are dropped; nil: nobody asks
	Dropped func(table []byte) error

	Program string // version and commit, for run.json
	// removes secrets from a text that a file will record; nil: there are none
	Redact func(text string) string
	Log    *slog.Logger // nil: no logging
	// called at the start of a stage with its number of samples, 0 if that is not known; nil: no
	// progress is reported
	Progress func(total int) Progress
}

// withDefaults replaces zero values by their defaults.
func (o Options) withDefaults() Options {
	o.Workers = cmp.Or(o.Workers, runtime.GOMAXPROCS(0))
	o.Parts = cmp.Or(o.Parts, 1)
	o.Resume = cmp.Or(o.Resume, store.ResumeNever)
	o.ReactionRule = cmp.Or(o.ReactionRule, incidence.RuleAll)
	o.Log = cmp.Or(o.Log, slog.New(slog.DiscardHandler))
	if o.Redact == nil {
		o.Redact = func(text string) string { return text }
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

// Result is what a build did; docs/FORMAT.md describes it as run.json.
type Result struct {
	Program  string          `json:"program"`
	Workers  int             `json:"workers"`
	Seconds  float64         `json:"seconds"` // wall time
	Stages   []StageTime     `json:"stages"`
	Resumed  bool            `json:"resumed"` // an unfinished build was continued
	Manifest *store.Manifest `json:"-"`
	Account  *ingest.Account `json:"-"` // of the perturbation set's rows; nil without one
	Columns  ingest.Columns  `json:"-"` // of the perturbation set
	State    State           `json:"-"`
}

// State is how a build ended.
type State int

const (
	Built     State = iota // the dataset was published
	Unchanged              // the same dataset existed already
	Waiting                // this part is complete, but others are not
	Planned                // nothing was written, as Options.DryRun asks
)
