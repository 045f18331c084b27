package samples

import (
	"cmp"
	"context"
	"errors"
	"maps"
	"path/filepath"
	"slices"

	"github.com/dustin/go-humanize"

	"tcbuild/fault"
	"tcbuild/ingest"
	"tcbuild/ingest/inputfile"
	"tcbuild/ingest/names"
	"tcbuild/ingest/table"
	"tcbuild/ingest/where"
)

// reading is a Spec with what its readers need besides.
type reading struct {
	Spec
	Names         *names.Resolver // with the spec's controls
	text          table.TextOptions
	filterColumns []string // that Where names; see ingest.Columns.FilterOnly
}

const (
	defaultGenesColumn   = "genes"
	defaultIDColumn      = "sample_id"
	defaultGeneDelimiter = "|"
)

// Perturbations is a perturbation set in a table file or in a torchcell store. Every pass reads a
// table again. It must be closed.
type Perturbations interface {
	ingest.SampleSource
	// Missing are the names of no gene, or of several, that the latest pass dropped, with the number
	// of samples; each is the first such name.
	Missing() map[string]int
	// DroppedNames are the same names, with how often samples list them.
	DroppedNames() map[string]int
	// Of returns the set, on the same open files, with deletions of other genes. Closing either
	// closes both.
	Of(known *names.Resolver) Perturbations
	readDeletions()
}

// UnknownGenes returns the names that the set gives to deleted genes and that mean no gene,
// ascending. It reads the whole set.
func UnknownGenes(ctx context.Context, set Perturbations, known *names.Resolver) ([]string, error) {
	set = set.Of(known)
	set.readDeletions()
	for _, err := range set.Batches(ctx, new(ingest.Account)) {
		if err != nil {
			return nil, err
		}
	}
	return slices.Sorted(maps.Keys(set.Missing())), nil
}

// OpenFile opens a perturbation set and finds out what its columns are. In Arrow and
// Parquet files that follows from their types: numbers and booleans (0 and 1) are phenotypes. A
// text table is read to its end, unless options names both phenotypes and attributes: a column is a
// phenotype if it has a number, or no values at all, and otherwise an attribute. A column with both
// numbers and other text is an error that names the first such text, unless it is an attribute by
// its name. Bad data and missing columns are a fault.Input. A folder is a torchcell store (see
// torchcell.Open), which is read to its end: each record is a sample, its labels and their
// statistics are the phenotypes, and what is noted of its experiments the attributes.
func OpenFile(spec Spec, genes *ingest.Nodes, known *names.Resolver) (Perturbations, error) {
	text, err := spec.TextOptions()
	if err != nil {
		return nil, err
	}
	if spec.Form() == StoreForm {
		options, err := spec.prepare(genes, known, text)
		if err != nil {
			return nil, err
		}
		return openStore(spec.File, genes, options)
	}
	file, err := inputfile.Open(spec.File)
	if err != nil {
		return nil, err
	}
	p, err := NewTable(file, genes, spec, known, text)
	if err != nil {
		file.Close()
		return nil, err
	}
	return p, nil
}

// NewTable is OpenFile for an open file. On success the set owns the file and closes it.
func NewTable(file *inputfile.File, genes *ingest.Nodes, spec Spec, known *names.Resolver,
	text table.TextOptions) (*Table, error) {
	options, err := spec.prepare(genes, known, text)
	if err != nil {
		return nil, err
	}
	r, err := table.OpenFile(file, text)
	if err != nil {
		return nil, err
	}
	defer r.Close()
	layout, err := findPerturbationLayout(file.Path(), r, options)
	if err == nil {
		err = checkRemoving(options.RemovingKinds, layout.columns, file.Path())
	}
	if err != nil {
		return nil, err
	}
	set := perturbationSet{genes: genes, options: options, layout: layout}
	return &Table{perturbationSet: set, file: file}, nil
}

// prepare fills in defaults, and checks what depends on the graph only.
func (s Spec) prepare(genes *ingest.Nodes, known *names.Resolver, text table.TextOptions) (reading, error) {
	r := reading{Spec: s, text: text, filterColumns: where.Names(s.Where)}
	if s.GenesColumns == nil {
		r.GenesColumns = []string{defaultGenesColumn}
	}
	r.GeneDelimiter = cmp.Or(s.GeneDelimiter, defaultGeneDelimiter)
	var err error
	if r.RemovingKinds, err = prepareRemoving(s.RemovingKinds); err != nil {
		return r, err
	}
	r.Names, err = resolver(known, genes).With(
		names.Rules{Controls: s.Controls, Delimiter: r.GeneDelimiter})
	if err != nil {
		return r, fault.New(fault.Usage, fault.HintOf(err), "read --controls for %s: %w", s.File, err)
	}
	return r, nil
}

// resolver is the one that is known; nil makes one of a graph's ids, nil genes one without any.
func resolver(known *names.Resolver, genes *ingest.Nodes) *names.Resolver {
	if known != nil {
		return known
	}
	if genes == nil {
		genes = &ingest.Nodes{Type: ingest.Gene}
	}
	return names.OfIDs(genes)
}

// perturbationSet is what is said of a perturbation set, in a table or a store.
type perturbationSet struct {
	genes   *ingest.Nodes
	options reading
	layout  perturbationLayout
	missing map[string]*missing

	deletions bool // Batches reads nothing else
}

func (p *perturbationSet) Columns() ingest.Columns { return p.layout.columns }

// setGenes makes names mean other genes.
func (p *perturbationSet) setGenes(known *names.Resolver) {
	p.genes, p.options.Names = known.Nodes(), known
	resolver, err := known.With(names.Rules{Controls: p.options.Controls, Delimiter: p.options.GeneDelimiter})
	if err == nil { // else a control is a gene, and counts as one
		p.options.Names = resolver
	}
}

// readDeletions makes Batches read only which genes samples delete, whether or not they are in the
// graph.
func (p *perturbationSet) readDeletions() {
	p.deletions, p.options.UnknownGenes = true, ingest.DropGene
	p.layout.id, p.layout.kindsAt = -1, -1
	p.layout.phenotypes, p.layout.attributes, p.layout.columns = nil, nil, ingest.Columns{}
}

func (p *perturbationSet) Missing() map[string]int {
	samples := make(map[string]int)
	for name, found := range p.missing {
		samples[name] = found.first
	}
	return samples
}

func (p *perturbationSet) DroppedNames() map[string]int {
	listed := make(map[string]int)
	for name, found := range p.missing {
		listed[name] = found.listed
	}
	return listed
}

// genotypeParser is a parser of one pass, or of some of its rows.
func (p *perturbationSet) genotypeParser(account *ingest.Account) genotypeParser {
	return genotypeParser{genes: p.genes, options: p.options, account: account, missing: make(map[string]*missing)}
}

// ErrNoneRemains ends a pass that dropped every sample because of its genes.
var ErrNoneRemains = errors.New("expected at least one to remain")

// checkRemaining returns an error if every sample was dropped, and if some that have only controls
// are not allowed.
func (p *perturbationSet) checkRemaining(
	account *ingest.Account, path string, controls *controlSamples,
) error {
	if p.deletions {
		return nil
	}
	if dropped := account.LostToNames(); dropped > 0 && account.Kept == 0 {
		return fault.New(fault.Input, "use names of the graph, or give the genes' other names with aliases",
			"read perturbations %s: all samples (%s) were dropped because of genes that are not in nodes/gene, such as %s, %w",
			path, humanize.Comma(int64(dropped)), fault.Quote(slices.Min(slices.Collect(maps.Keys(p.missing)))), ErrNoneRemains)
	}
	if pairs := account.Sum(ingest.SelfPair); pairs > 0 && account.Kept == 0 {
		return fault.New(fault.Input, "check the columns of genes",
			"read perturbations %s: found no sample to keep, as %s list a gene twice, %w",
			path, humanize.Comma(int64(pairs)), ErrNoneRemains)
	}
	return controls.check(p.options, path, account.Kept)
}

// Table is a perturbation set in a table file.
type Table struct {
	perturbationSet
	file        *inputfile.File
	distinctIDs bool // true after a whole pass found no duplicates
}

func (p *Table) Of(known *names.Resolver) Perturbations {
	of := *p
	of.setGenes(known)
	return &of
}

func (p *Table) Inputs() []ingest.Input {
	return []ingest.Input{p.file.Input(filepath.Base(p.file.Path()))}
}

func (p *Table) Unchanged() error { return p.file.Unchanged() }

func (p *Table) Close() error { return p.file.Close() }

func (p *Table) Place(row int64) (string, error) {
	r, err := table.OpenFile(p.file, p.options.text)
	if err != nil {
		return "", err
	}
	defer r.Close()
	for b, err := range r.Batches() {
		if err != nil || row < b.First+int64(b.Len) {
			return r.Where(row), err
		}
	}
	return r.Where(row), nil
}
