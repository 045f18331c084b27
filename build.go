package tcbuild

import (
	"context"
	"errors"
	"fmt"
	"time"

	"golang.org/x/sync/errgroup"

	"tcbuild/encode"
	"tcbuild/fault"
	"tcbuild/incidence"
	"tcbuild/ingest"
	"tcbuild/ingest/duplicates"
	"tcbuild/ingest/inputfile"
	"tcbuild/ingest/perturbationset"
	"tcbuild/store"
)

// Build builds a dataset and publishes it in one step. After an error Out does not exist, unless it
// existed before; a build that can be resumed stays in Out.building.
//
// Errors are of kind fault.Usage (options that contradict each other or the input), fault.Input
// (bad data, with file and line), fault.Damaged (an unfinished build or an existing dataset),
// fault.Busy (Out is locked, ctx is done, or an input changed while it was read) or fault.Failed
// (I/O).
//
// The perturbation set is read twice. Memory is bounded by the graph and 2 × Workers values of 64
// samples, and by up to 19 bytes per sample for the check of duplicate ids.
func Build(ctx context.Context, o Options) (*Result, error) {
	o = o.withDefaults()
	b := &builder{Options: o, shard: store.AllShards, result: Result{Program: o.Program, Workers: o.Workers}, start: time.Now()}
	b.lap = b.start
	if o.Shard != nil {
		b.shard = *o.Shard
	}
	defer b.close()
	if err := b.plan(ctx); err != nil {
		return nil, err
	}
	if result, err := b.published(); result != nil || err != nil {
		return result, err
	}
	building, err := store.Begin(o.Out, b.manifest, o.Resume, b.shard)
	if fault.KindOf(err) == fault.Busy {
		// The process that built the last shard may have published the dataset since.
		if result, err := b.published(); result != nil || err != nil {
			return result, err
		}
	}
	if err != nil {
		return nil, err
	}
	defer building.Close()
	b.building, b.result.Resumed = building, building.Resumed
	if err := b.adoptSamples(ctx); err != nil {
		return nil, b.failed(err)
	}
	if building.Dropped != "" {
		b.Log.Warn("cannot resume the unfinished build: starting from the beginning", "differs_in", building.Dropped)
	}
	if o.Scratch != "" {
		if err := building.UseScratch(o.Scratch); err != nil {
			return nil, err
		}
	}
	if err := b.write(ctx); err != nil {
		return nil, b.failed(err)
	}
	result, err := b.publish(ctx)
	if err != nil {
		return nil, b.failed(err)
	}
	return result, nil
}

// published is the result if the dataset exists and is of this input; nil if it does not exist.
func (b *builder) published() (*Result, error) {
	published, err := store.Published(b.Out, b.manifest)
	if published == nil || err != nil {
		return nil, err
	}
	b.manifest = published
	return b.end(Unchanged), nil
}

// builder carries the stages' results.
type builder struct {
	Options
	shard      int // the shard to build, or store.AllShards
	graph      *ingest.Graph
	inputs     []ingest.Input
	rules      *incidence.Rules
	graphFiles inputfile.Files
	source     ingest.SampleSource // nil without a perturbation set
	samples    *store.SampleWriter // of the sample table; nil if it exists, or is written later
	unread     bool                // the survey did not read the samples; see surveyedSamples
	codec      encode.Codec        // of the LMDB variants
	manifest   *store.Manifest
	building   *store.Building
	result     Result
	start      time.Time
	lap        time.Time
}

// stage logs what a stage did and records its time.
func (b *builder) stage(name string, args ...any) {
	now := time.Now()
	took := now.Sub(b.lap)
	b.lap = now
	b.result.Stages = append(b.result.Stages, StageTime{Stage: name, Seconds: took.Seconds()})
	b.Log.Info(name, append(args, "seconds", fmt.Sprintf("%.3f", took.Seconds()))...)
}

// plan reads what is to be built, and finds out what the manifest will be but for its files.
func (b *builder) plan(ctx context.Context) error {
	if b.Base != nil {
		return b.readBase()
	}
	err := b.read(ctx)
	if err == nil {
		err = b.survey(ctx)
	}
	if err == nil {
		err = b.Unchanged()
	}
	b.adoptContent()
	return inputfile.Explain(err, b)
}

func (b *builder) read(ctx context.Context) error {
	opened, err := ingest.OpenGraph(&b.graphFiles, b.Graph)
	if err != nil {
		return err
	}
	if b.graph, err = opened.Read(); err != nil {
		return err
	}
	b.inputs = opened.Inputs
	repeated, loops := 0, 0
	for _, edges := range b.graph.OddEdges() {
		repeated += edges.Duplicates
		loops += edges.SelfLoops
	}
	layout := incidence.NewLayout(b.graph)
	b.stage("read graph", "genes", b.graph.Genes.Len(), "reactions", b.graph.Reactions.Len(), "metabolites", b.graph.Metabolites.Len(),
		"edge_types", len(b.graph.Edges), "edges", layout.EdgePositions(), "duplicate_edges", repeated, "self_loops", loops)
	if err := b.readRules(); err != nil {
		return err
	}
	if err := b.findCodec(); err != nil {
		return err
	}
	if b.Perturbations == "" && b.Where != "" {
		return fault.New(fault.Usage, "add --perturbations FILE, or omit --where",
			"build %s: found --where without a perturbation set", b.Out)
	}
	if b.Perturbations == "" && (b.Duplicates != duplicates.Keep || len(b.GroupBy) > 0) {
		return fault.New(fault.Usage, "add --perturbations FILE, or omit them",
			"build %s: found --duplicates or --group-by without a perturbation set", b.Out)
	}
	if b.Perturbations == "" {
		return nil
	}
	source, err := perturbationset.Open(b.Perturbations, b.graph.Genes, b.PerturbationOptions)
	if err != nil {
		return err
	}
	b.source = source // which close closes
	if set, ok := source.(interface{ IgnoredColumns() []string }); ok && len(set.IgnoredColumns()) > 0 {
		b.Log.Warn("ignoring columns", "columns", fault.List(set.IgnoredColumns()))
	}
	if names := source.Columns().AttributeNames(); len(names) > 0 {
		b.Log.Info("keeping attributes", "columns", fault.List(names))
	}
	if source, err = duplicates.Apply(ctx, source, b.Rule, b.Perturbations); err != nil {
		return err
	}
	b.source = source
	if statistics := duplicates.Pooled(source); len(statistics) > 0 {
		b.Log.Info("pooling statistics", "columns", fault.List(statistics))
	}
	return nil
}

func (b *builder) findCodec() (err error) {
	if b.Variant == store.Incidence {
		return nil
	}
	if b.codec, err = encode.Find(encode.Mode(b.Variant), b.Codec); err != nil {
		return fault.New(fault.Usage, "choose one of its codecs with --codec", "build %s: %w", b.Out, err)
	}
	return nil
}

// Unchanged checks that the inputs are what was read.
func (b *builder) Unchanged() error {
	if err := b.graphFiles.Unchanged(); err != nil || b.source == nil {
		return err
	}
	return b.source.Unchanged()
}

func (b *builder) close() {
	if b.samples != nil {
		_ = b.samples.Discard()
	}
	b.graphFiles.Close()
	if b.source != nil {
		b.source.Close()
	}
}

// write fills the folder under construction.
func (b *builder) write(ctx context.Context) error {
	cache, err := b.readIncidence()
	if err != nil {
		return err
	}
	var group errgroup.Group
	group.Go(fault.Catch(func() error { return b.building.WriteGraph(b.graph) }))
	if b.Variant == store.Incidence {
		group.Go(fault.Catch(func() error { return b.building.WriteIncidence(cache) }))
	}
	if err := group.Wait(); err != nil {
		return err
	}
	b.stage("write graph")
	if b.Variant == store.Incidence {
		return nil
	}
	return b.writeShards(ctx, cache)
}

func (b *builder) publish(ctx context.Context) (*Result, error) {
	if b.unread && b.shard == store.AllShards {
		if err := b.surveyLate(ctx); err != nil {
			return nil, err
		}
	}
	if b.unread && b.shard != store.AllShards {
		return b.end(Kept), nil
	}
	b.result.Seconds = time.Since(b.start).Seconds()
	published, err := b.building.Publish(&b.result)
	if err != nil {
		return nil, err
	}
	if !published {
		return b.end(Waiting), nil
	}
	b.stage("publish", "dataset", b.Out)
	return b.end(Built), nil
}

func (b *builder) end(state State) *Result {
	b.result.State, b.result.Manifest = state, b.manifest
	b.result.Seconds = time.Since(b.start).Seconds()
	return &b.result
}

// failed abandons the build after an error, unless it is worth resuming, and names the dataset if
// the disk is full.
func (b *builder) failed(err error) error {
	if fault.KindOf(err) == fault.Input || errors.Is(err, inputfile.ErrChanged) || !b.building.WorthResuming() {
		if b.shard == store.AllShards {
			err = errors.Join(err, b.building.Abandon())
		}
	}
	if fault.DiskFull(err) {
		return fmt.Errorf("write dataset %s: %w", b.Out, err)
	}
	return err
}
