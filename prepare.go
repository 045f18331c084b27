package tcbuild

import (
	"cmp"
	"context"
	"errors"
	"io"
	"path/filepath"
	"slices"
	"strings"

	"tcbuild/fault"
	"tcbuild/incidence"
	"tcbuild/ingest"
	"tcbuild/ingest/gpr"
	"tcbuild/ingest/graph"
	"tcbuild/ingest/inputfile"
	"tcbuild/ingest/samples"
	"tcbuild/ingest/samples/combinations"
	"tcbuild/ingest/samples/duplicates"
	"tcbuild/ingest/source"
	"tcbuild/store"
)

// inputs are what shards are built from, whichever dataset they are for: the tables of a graph and
// a perturbation set, or an existing dataset.
type inputs interface {
	// prepare reads the graph, its rules, and all that a manifest says of inputs and samples.
	prepare(ctx context.Context) error
	incidence() (*incidence.Cache, error)
	// place puts the graph and the sample table into the dataset under construction, unless an
	// earlier build did.
	place(ctx context.Context, building *store.Building) error
	io.Closer
}

func (b *builder) inputs() inputs {
	if b.Base != nil {
		return base{b}
	}
	return &sources{builder: b}
}

// base is an existing dataset as inputs. It was surveyed when it was built, and each file and block
// of it is compared with its checksum when it is read.
type base struct{ *builder }

func (b base) prepare(context.Context) (err error) {
	if b.graph, err = b.Base.Graph(); err != nil {
		return err
	}
	manifest := *b.Base.Manifest
	b.manifest, b.Graph, b.ReactionRule = &manifest, filepath.Join(b.Base.Dir, "graph"), manifest.Options.ReactionRule
	b.stage("read base", "dataset", b.Base.Dir, "samples", manifest.Samples)
	return b.readRules()
}

func (b base) incidence() (*incidence.Cache, error) {
	cache, err := b.Base.Incidence()
	if err == nil {
		b.stage("read incidence", "nodes", len(cache.Offsets)-1, "entries", len(cache.Positions))
	}
	return cache, err
}

func (b base) place(_ context.Context, building *store.Building) error {
	return building.ShareInputs(b.Base)
}

func (b base) Close() error { return nil }

// sources are the user's files, or computed sets, as inputs.
type sources struct {
	*builder
	files   inputfile.Files     // of the graph
	samples *source.Set         // nil without a perturbation set
	table   *store.SampleWriter // of samples; nil if an earlier build wrote it
}

func (s *sources) prepare(ctx context.Context) error {
	err := s.read(ctx)
	if err == nil {
		err = s.survey(ctx)
	}
	if err == nil {
		err = s.Unchanged()
	}
	return inputfile.Explain(err, s)
}

func (s *sources) read(ctx context.Context) error {
	if s.File == "" {
		if keys := s.Given(); len(keys) > 0 {
			return fault.New(fault.Usage, "name the set with --perturbations, or omit them",
				"build %s: found %s without a perturbation set", s.Out, strings.Join(keys, ", "))
		}
	}
	opened, err := graph.Open(&s.files, s.Graph)
	if err != nil {
		return err
	}
	if s.graph, err = opened.Read(); err != nil {
		return err
	}
	read, err := opened.Inputs()
	if err != nil {
		return err
	}
	s.manifest = &store.Manifest{
		FormatVersion: store.FormatVersion,
		Phenotypes:    []ingest.Phenotype{},
		Attributes:    []ingest.Attribute{},
		Options: store.Options{
			ReactionRule: s.ReactionRule, UnknownGenes: cmp.Or(s.UnknownGenes, ingest.RefuseUnknownGenes), AllowWildtype: s.AllowWildtype, AllowDuplicateIDs: s.AllowDuplicateIDs,
			Controls: s.redacted(s.Controls), Where: s.Redact(s.Where),
			Duplicates: cmp.Or(s.Duplicates, duplicates.Keep), GroupBy: s.GroupBy, Ignore: s.Ignore,
		},
		Inputs:      store.Inputs{Graph: read, Names: s.graph.NameSources, Perturbations: []ingest.Input{}},
		GraphDigest: s.graph.Digest(), StructureDigest: s.graph.StructureDigest(),
	}
	repeated, loops := 0, 0
	for _, edges := range graph.OddEdges(s.graph) {
		repeated += edges.Duplicates
		loops += edges.SelfLoops
	}
	layout := incidence.NewLayout(s.graph)
	for _, mask := range layout.Masks {
		s.manifest.Masks = append(s.manifest.Masks, store.MaskSize{Name: mask.Name, Size: mask.Size})
	}
	s.stage("read graph", "genes", s.graph.Genes.Len(), "reactions", s.graph.Reactions.Len(), "metabolites", s.graph.Metabolites.Len(),
		"edge_types", len(s.graph.Edges), "edges", layout.EdgePositions(), "duplicate_edges", repeated, "self_loops", loops)
	if columns := s.graph.LeftOut(); len(columns) > 0 {
		s.Log.Warn("ignoring columns of the graph", "columns", fault.List(columns))
	}
	if err := s.readRules(); err != nil || s.File == "" {
		return err
	}
	return s.openSamples(ctx)
}

func (s *sources) openSamples(ctx context.Context) (err error) {
	s.samples, err = source.Open(s.Spec, s.graph)
	if err != nil {
		return err
	}
	if ignored := s.samples.Columns().Ignored; len(ignored) > 0 {
		s.Log.Warn("ignoring columns", "columns", fault.List(ignored))
	}
	if len(s.samples.Columns().PhenotypeNames()) == 0 {
		s.Log.Warn("the perturbation set has no phenotypes: its samples have masks and nothing to predict")
	}
	if names := s.samples.Columns().AttributeNames(); len(names) > 0 {
		s.Log.Info("keeping attributes", "columns", fault.List(names))
	}
	if names := s.samples.Columns().ByName; len(names) > 0 {
		s.Log.Info("numbers that are attributes by their names: "+
			"name those that were measured in --phenotypes", "columns", fault.List(names))
	}
	if statistics := duplicates.Pooled(s.samples.SampleSource); len(statistics) > 0 {
		s.Log.Info("pooling statistics", "columns", fault.List(statistics))
	}
	return nil
}

// survey reads the whole perturbation set, once, before the dataset is begun, and writes the sample
// table beside it. Bad data is found early, and the manifest is complete except for its files, so
// that separately built shards and a resumed build agree on what they build.
func (s *sources) survey(ctx context.Context) error {
	if s.samples == nil {
		s.manifest.LogicalContent = store.LogicalContent(s.manifest.StructureDigest, s.ReactionRule, ingest.Columns{}, nil)
		return nil
	}
	s.manifest.SetColumns(s.samples.Columns())
	for _, input := range s.samples.Inputs() {
		input.Name = s.Redact(input.Name)
		s.manifest.Inputs.Perturbations = append(s.manifest.Inputs.Perturbations, input)
	}
	progress := s.Progress(0)
	defer progress.Done()
	unmeasured, kinds := ingest.NewUnmeasured(s.manifest.Columns()), ingest.NewKindCounter(s.samples.Columns())
	account, content, err := s.tabulate(ctx, store.NeedsSamples(s.Out, s.Resume), func(samples *ingest.Samples) {
		unmeasured.Add(samples)
		kinds.Add(samples)
		progress.Add(samples.Len(), 0)
	})
	if err != nil {
		return err
	}
	if account.Kept == 0 {
		return fault.New(fault.Input, "give a table with at least one row",
			"read perturbations %s: found no samples, expected at least one", s.File)
	}
	if err := cmp.Or(s.checkDropped(&account), s.CheckKinds(kinds)); err != nil {
		return err
	}
	s.manifest.Samples, s.manifest.Account = account.Kept, account.ForManifest()
	s.manifest.LogicalContent = content
	s.stage("survey samples", append([]any{"samples", account.Kept}, account.Attributes()...)...)
	if len(s.Controls) > 0 {
		s.Log.Info("controls delete nothing", "names", fault.List(s.Controls),
			"found", account.Sum(ingest.ControlName))
	}
	if pairs := account.Sum(ingest.SelfPair); pairs > 0 {
		s.Log.Warn("samples that list a gene twice are dropped", "samples", pairs)
	}
	if found := kinds.Counts(); found != nil {
		s.manifest.Kinds = &store.Kinds{Attribute: s.samples.Columns().Kinds,
			Removing: samples.Removing(s.RemovingKinds), Perturbations: found}
		s.logKinds()
	}
	s.logRepeats(&account)
	for what, names := range map[string][]string{"one value in all samples": unmeasured.Constant(), "numbers of the rows": unmeasured.Indices()} {
		if len(names) > 0 {
			s.Log.Warn("phenotypes that may be none: leave them out with --not-phenotypes", "phenotypes", fault.List(names), "values", what)
		}
	}
	if names := unmeasured.Names(); len(names) > 0 {
		s.Log.Warn("phenotypes without a value in any sample", "phenotypes", fault.List(names))
	}
	if trimmed := account.Sum(ingest.TrimmedText); trimmed > 0 {
		s.Log.Warn("removed the spaces around texts of attributes", "values", trimmed)
	}
	if infinite := account.Sum(ingest.InfiniteValue); infinite > 0 {
		s.Log.Warn("infinite phenotype values count as missing", "values", infinite)
	}
	return nil
}

// logKinds says of what kind perturbations are, and which of them remove a node.
func (s *sources) logKinds() {
	kinds := s.manifest.Kinds
	removing := samples.AllKinds
	if kinds.Removing != nil {
		removing = fault.List(kinds.Removing)
	}
	s.Log.Info("kinds of perturbations",
		"perturbations", samples.ListKinds(kinds.Perturbations), "removing", removing)
}

// checkDropped returns an error if more of a computed set's genes were dropped than may be. Sets in
// files check their rows.
func (s *sources) checkDropped(account *ingest.Account) error {
	set, computed := s.samples.SampleSource.(*combinations.Set)
	share := ingest.DefaultMaxDropped
	if s.MaxDropped != nil {
		share = *s.MaxDropped
	}
	unknown := account.Sum(ingest.UnknownLeftOut)
	if !computed || float64(unknown) <= share*float64(unknown+set.Genes()) {
		return nil
	}
	return fault.New(fault.Input, "tcbuild inspect with --graph lists the names",
		"read perturbations %s: %d of %d listed genes are not in the graph, expected at most %.4g %% (max_dropped)",
		s.File, unknown, unknown+set.Genes(), 100*share)
}

// tabulate reads the whole perturbation set, computes the digest of its content and, if write is
// true, writes the sample table.
func (s *sources) tabulate(ctx context.Context, write bool, see func(*ingest.Samples)) (account ingest.Account, digest string, err error) {
	table := store.NewSampleDigester(s.manifest.Columns())
	if write {
		if table, err = store.NewSampleWriter(s.Out, s.manifest.Columns()); err != nil {
			return account, "", err
		}
		s.table = table
	}
	for samples, failed := range s.samples.Batches(ctx, &account) {
		if err = failed; err == nil {
			see(samples)
			err = table.Add(samples)
		}
		if err != nil {
			break
		}
	}
	digests, failed := table.Digests()
	if err = cmp.Or(err, failed); err != nil {
		return account, "", err
	}
	digest = store.LogicalContent(s.manifest.StructureDigest, s.ReactionRule, s.manifest.Columns(), digests)
	if write {
		err = table.Close(digest)
	}
	return account, digest, err
}

// logRepeats says that genotypes repeat, and what became of their samples: a warning, if nobody has
// chosen that.
func (s *sources) logRepeats(account *ingest.Account) {
	repeats := account.Repeats
	args := []any{"genotypes", repeats.Genotypes, "repeated", repeats.RepeatedGenotypes, "in_samples", repeats.RepeatedSamples}
	if len(s.GroupBy) > 0 {
		args = append(args, "conditions", repeats.Conditions)
	}
	args = append(args, "duplicates", cmp.Or(s.Duplicates, duplicates.Keep), "samples_merged", account.Sum(ingest.Merged))
	switch {
	case repeats.RepeatedGenotypes > 0 && cmp.Or(s.Duplicates, duplicates.Keep) == duplicates.Keep:
		s.Log.Warn("genotypes repeat", args...)
	case repeats.RepeatedGenotypes > 0 || len(s.GroupBy) > 0:
		s.Log.Info("genotypes repeat", args...)
	}
}

func (s *sources) incidence() (*incidence.Cache, error) {
	cache := incidence.Build(s.graph)
	s.stage("build incidence", "nodes", len(cache.Offsets)-1, "entries", len(cache.Positions))
	return cache, nil
}

func (s *sources) place(ctx context.Context, building *store.Building) error {
	if err := building.WriteGraph(s.graph); err != nil || s.samples == nil || building.HasSamples() {
		return err
	}
	if s.table == nil { // the table that the survey found was of another, unfinished build
		_, digest, err := s.tabulate(ctx, true, func(*ingest.Samples) {})
		if err == nil {
			err = s.Unchanged()
		}
		if err == nil && digest != s.manifest.LogicalContent {
			err = errors.New("the perturbation set differs from what was surveyed")
		}
		if err != nil {
			return inputfile.Explain(err, s)
		}
	}
	return building.AdoptSamples(s.table)
}

// Unchanged checks that the files are what was read.
func (s *sources) Unchanged() error {
	var samples error
	if s.samples != nil {
		samples = s.samples.Unchanged()
	}
	return cmp.Or(s.files.Unchanged(), samples)
}

// Close closes the files. It can be called again.
func (s *sources) Close() error {
	if s.table != nil {
		_ = s.table.Discard()
	}
	s.files.Close()
	if s.samples != nil {
		s.samples.Close()
	}
	return nil
}

// redacted returns texts as a manifest records them.
func (b *builder) redacted(texts []string) (recorded []string) {
	for _, text := range texts {
		recorded = append(recorded, b.Redact(text))
	}
	return recorded
}

// readRules reads the gpr rules, if masks depend on them. Genes that are not in the graph count as
// never deleted, and are logged once.
func (b *builder) readRules() (err error) {
	byRule := b.ReactionRule == incidence.RuleGPR && b.graph.Reactions.Len() > 0
	if byRule && b.graph.Reactions.Column("gpr") == nil {
		return fault.New(fault.Usage, "add the column gpr to the reactions, or choose --reaction-rule all",
			"read graph %s: %s has no column gpr, which --reaction-rule gpr needs: no reaction would ever be removed",
			b.Graph, b.nodeFile(ingest.Reaction))
	}
	if b.rules, err = incidence.ReadRules(b.graph, b.ReactionRule); err != nil {
		return fault.New(fault.Input, "correct the rule, or leave the field empty",
			"read graph %s: %s %w", b.Graph, b.nodeFile(ingest.Reaction), err)
	}
	b.logIsozymes()
	if unknown := b.rules.UnknownGenes; len(unknown) > 0 {
		b.Log.Warn("gpr rules name genes that are not in the graph; they count as never deleted",
			"genes", len(unknown), "reactions", b.rules.NamingUnknown, "first", unknown[:min(len(unknown), 5)])
	}
	return nil
}

// logIsozymes says what the reaction rule all means for reactions whose gpr rule has an or.
func (b *builder) logIsozymes() {
	if b.ReactionRule == incidence.RuleGPR || b.graph.Reactions.Len() == 0 {
		return
	}
	reactions := 0
	for _, text := range b.graph.Reactions.Column("gpr") {
		if rule, err := gpr.Parse(text); err == nil && rule.HasIsozymes() {
			reactions++
		}
	}
	if reactions > 0 {
		b.Log.Info("these reactions have isozymes, and any deleted gene removes them; --reaction-rule gpr keeps them while an isozyme is left",
			"reactions", reactions)
	}
}

// nodeFile returns the name of a node table's file, relative to the graph folder.
func (b *builder) nodeFile(nodeType string) string {
	i := slices.IndexFunc(b.manifest.Inputs.Graph, func(input ingest.Input) bool { return strings.HasPrefix(input.Name, "nodes/"+nodeType+".") })
	return b.manifest.Inputs.Graph[i].Name
}
