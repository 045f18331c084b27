package tcbuild

import (
	"context"
	"errors"
	"path/filepath"
	"slices"
	"strings"

	"tcbuild/fault"
	"tcbuild/incidence"
	"tcbuild/ingest"
	"tcbuild/ingest/graph"
	"tcbuild/ingest/inputfile"
	"tcbuild/ingest/samples"
	"tcbuild/store"
)

// prepared is what a dataset is built from, and all that its manifest says of inputs and samples.
type prepared struct {
	graph    *ingest.Graph
	rules    *incidence.Rules
	cache    *incidence.Cache
	manifest *store.Manifest

	base  *store.Dataset      // whose files are shared; nil if the user's files are read
	files inputfile.Files     // of the graph
	set   *samples.Set        // nil without a perturbation set
	table *store.SampleWriter // of the samples; nil if an earlier build wrote it
}

// prepare reads the user's files, or the base. The result must be closed.
func (b *builder) prepare(ctx context.Context) (*prepared, error) {
	if b.Base != nil {
		return b.readBase()
	}
	p := &prepared{}
	err := b.readGraph(p)
	if err == nil {
		err = b.readSet(ctx, p)
	}
	if err == nil {
		err = p.Unchanged()
	}
	if err != nil {
		err = inputfile.Explain(err, p)
		p.Close()
		return nil, err
	}
	return p, nil
}

// readBase reads the graph of the base. It was surveyed when it was built, and each file and block
// of it is compared with its checksum when it is read.
func (b *builder) readBase() (*prepared, error) {
	manifest := *b.Base.Manifest
	p := &prepared{manifest: &manifest, base: b.Base}
	var err error
	if p.graph, err = b.Base.Graph(); err != nil {
		return nil, err
	}
	if p.cache, err = b.Base.Incidence(); err != nil {
		return nil, err
	}
	b.stage("read base", "dataset", filepath.Base(b.Base.Dir), "samples", manifest.Samples)
	p.rules, err = b.readRules(p)
	return p, err
}

// readGraph reads the graph and its rules, and begins the manifest.
func (b *builder) readGraph(p *prepared) error {
	opened, err := graph.Open(&p.files, b.Graph)
	if err != nil {
		return err
	}
	if p.graph, err = opened.Read(); err != nil {
		return err
	}
	read, err := opened.Inputs()
	if err != nil {
		return err
	}
	sources, err := opened.Sources()
	if err != nil {
		return err
	}
	p.manifest = &store.Manifest{
		FormatVersion: store.FormatVersion,
		Sources:       sources,
		Phenotypes:    []ingest.Phenotype{},
		Attributes:    []ingest.Attribute{},
		Options: store.Options{ReactionRule: b.ReactionRule,
			Perturbations: b.Spec.Record(b.Redact)},
		Inputs:      store.Inputs{Graph: read, Perturbations: []ingest.Input{}},
		GraphDigest: p.graph.Digest(), StructureDigest: p.graph.StructureDigest(),
	}
	b.logGraph(p.graph, incidence.NewLayout(p.graph))
	if p.rules, err = b.readRules(p); err != nil {
		return err
	}
	p.cache = incidence.Build(p.graph)
	b.stage("build incidence", "nodes", len(p.cache.Offsets)-1, "entries", len(p.cache.Positions))
	p.manifest.SetIncidence(p.cache)
	return nil
}

// readSet surveys the perturbation set, and completes the manifest but for its files, so that
// separately built shards and a resumed build agree on what they build.
func (b *builder) readSet(ctx context.Context, p *prepared) (err error) {
	m := p.manifest
	if b.File == "" {
		m.LogicalContent = store.LogicalContent(m.StructureDigest, b.ReactionRule, ingest.Columns{},
			nil)
		if keys := b.Given(); len(keys) > 0 {
			return fault.New(fault.Usage, "name the set with --perturbations, or omit them",
				"build %s: found %s without a perturbation set", b.Out, strings.Join(keys, ", "))
		}
		return nil
	}
	if p.set, err = samples.Open(b.Spec, p.graph); err != nil {
		return err
	}
	b.logColumns(p.set)
	m.SetColumns(p.set.Columns())
	for _, input := range p.set.Inputs() {
		input.Name = b.Redact(input.Name)
		m.Inputs.Perturbations = append(m.Inputs.Perturbations, input)
	}
	found, err := b.survey(ctx, p, !b.DryRun && store.NeedsSamples(b.Out, b.Resume))
	if names := p.set.DroppedNames(); names != nil && b.Dropped != nil {
		err = errors.Join(err, b.Dropped(names))
	}
	if err != nil {
		return err
	}
	b.result.Account, b.result.Columns = found.account, p.set.Columns()
	if err := p.set.CheckKinds(found.kinds); err != nil {
		return err
	}
	m.Samples, m.Account, m.LogicalContent = found.account.Kept, found.account.ForManifest(),
		found.content
	if counts := found.kinds.Counts(); counts != nil {
		m.Kinds = &store.Kinds{Attribute: p.set.Columns().Kinds,
			Removing: p.set.RemovingKinds(), Perturbations: counts}
	}
	b.logSurvey(found, m.Kinds)
	return nil
}

// survey is what one pass over a perturbation set found.
type survey struct {
	account    *ingest.Account
	kinds      *ingest.KindCounter
	unmeasured *ingest.SuspectPhenotypes
	content    string // store.LogicalContent
}

// survey reads the whole perturbation set. If write is true, it writes the sample table beside the
// dataset, which is not begun before bad data would be found.
func (b *builder) survey(ctx context.Context, p *prepared, write bool) (*survey, error) {
	columns := p.manifest.Columns()
	found := &survey{
		account: &ingest.Account{}, kinds: ingest.NewKindCounter(p.set.Columns()),
		unmeasured: ingest.NewSuspectPhenotypes(p.set.Columns()),
	}
	table := store.NewSampleDigester(columns)
	if write {
		var err error
		if table, err = store.NewSampleWriter(b.Out, columns); err != nil {
			return nil, err
		}
		p.table = table
	}
	progress := b.Progress(0)
	defer progress.Done()
	for batch, err := range p.set.Batches(ctx, found.account) {
		if err == nil {
			found.unmeasured.Add(batch)
			found.kinds.Add(batch)
			progress.Add(batch.Len(), 0)
			err = table.Add(batch)
		}
		if err != nil {
			return nil, err
		}
	}
	digests, err := table.Digests()
	if err != nil {
		return nil, err
	}
	if found.account.Kept == 0 {
		return nil, fault.New(fault.Input, "give a table with at least one row",
			"read perturbations %s: found no samples, expected at least one", b.File)
	}
	found.content = store.LogicalContent(p.manifest.StructureDigest, b.ReactionRule, columns,
		digests)
	if write {
		err = table.Close(found.content)
	}
	return found, err
}

// place puts the graph and the sample table into the dataset under construction, unless an earlier
// build did.
func (b *builder) place(ctx context.Context) error {
	if b.base != nil {
		return b.building.ShareInputs(b.base)
	}
	err := b.building.WriteGraph(b.graph)
	if err != nil || b.set == nil || b.building.HasSamples() {
		return err
	}
	if b.table == nil { // the table that the survey found was of another, unfinished build
		found, err := b.survey(ctx, b.prepared, true)
		if err == nil {
			err = b.Unchanged()
		}
		if err == nil && found.content != b.manifest.LogicalContent {
			err = errors.New("the perturbation set differs from what was surveyed")
		}
		if err != nil {
			return inputfile.Explain(err, b.prepared)
		}
	}
	return b.building.AdoptSamples(b.table)
}

// Unchanged checks that the files are what was read.
func (p *prepared) Unchanged() error {
	err := p.files.Unchanged()
	if err == nil && p.set != nil {
		err = p.set.Unchanged()
	}
	return err
}

// Close closes the files. It can be called again.
func (p *prepared) Close() error {
	if p.table != nil {
		_ = p.table.Discard()
	}
	p.files.Close()
	if p.set != nil {
		p.set.Close()
	}
	return nil
}

// readRules reads the gpr rules, if masks depend on them. Genes that are not in the graph count as
// never deleted, and are logged once.
func (b *builder) readRules(p *prepared) (*incidence.Rules, error) {
	rule, reactions := p.manifest.Options.ReactionRule, p.graph.Reactions
	byRule := rule == incidence.RuleGPR && reactions.Len() > 0
	if byRule && reactions.Column("gpr") == nil {
		return nil, fault.New(fault.Usage,
			"add the column gpr to the reactions, or choose --reaction-rule=all",
			"read graph %s: %s has no column gpr, which --reaction-rule=gpr needs: "+
				"no reaction would ever be removed",
			b.Graph, p.nodeFile(ingest.Reaction))
	}
	rules, err := incidence.ReadRules(p.graph, rule)
	if err != nil {
		return nil, fault.New(fault.Input, "correct the rule, or leave the field empty",
			"read graph %s: %s %w", b.Graph, p.nodeFile(ingest.Reaction), err)
	}
	if b.Base == nil { // whose build said it
		b.logRules(rules, rule, reactions)
	}
	return rules, nil
}

// nodeFile returns the name of a node table's file, relative to the graph folder.
func (p *prepared) nodeFile(nodeType string) string {
	isTable := func(input ingest.Input) bool {
		return strings.HasPrefix(input.Name, "nodes/"+nodeType+".")
	}
	return p.manifest.Inputs.Graph[slices.IndexFunc(p.manifest.Inputs.Graph, isTable)].Name
}
