package samples

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"slices"

	"github.com/dustin/go-humanize"

	"tcbuild/fault"
	"tcbuild/ingest"
	"tcbuild/ingest/inputfile"
	"tcbuild/ingest/names"
	"tcbuild/ingest/table"
)

// PerturbationOptions says how a table holds a perturbation set. The zero value is
// the project's own layout: columns genes, sample_id and phenotypes.
type PerturbationOptions struct {
	UnknownGenes  ingest.UnknownGenes // "" is RefuseUnknownGenes
	AllowWildtype bool                // allow samples that delete no gene
	// AllowDuplicateIDs allows empty and repeated sample ids. Without it, finding them costs 11
	// to 21 bytes per sample.
	AllowDuplicateIDs bool
	// Where is an expression (see package where) that Open keeps samples by; "":
	// all are kept
	Where string
	// FilterColumns are those that the expression names. The ones that are no part of the samples
	// are read too: see Columns.FilterOnly.
	FilterColumns []string
	// Compare says that samples of one genotype will be merged. Columns that are left out are then
	// read to compare them: see Columns.Compared. MayDiffer names the columns in which they may
	// differ; numbers there are not phenotypes.
	Compare   bool
	MayDiffer []string

	GenesColumns  []string // default genes; if several, each holds at most one gene
	GeneDelimiter string   // between the genes of a single text column; default |
	// default sample_id; if that is missing, samples are named by their row, from 0
	IDColumn      string
	Phenotypes    []string          // default: every other column of numbers, in file order
	NotPhenotypes []string          // columns to ignore
	Attributes    []string          // default: every other column of text, in file order
	Text          table.TextOptions // layout of a text file
	Names         *names.Resolver   // nil: genes have only their ids
	Synonyms      ingest.Synonyms   // "" is RefuseSynonyms
	// Controls are names that stand where a gene's does and delete nothing. They are looked for
	// before genes are.
	Controls []string

	// KindsColumn says of what kind each gene's perturbation is; default kinds or perturbation_type,
	// if there is such a column. NoKinds: none.
	KindsColumn string
	// RemovingKinds are the kinds of perturbations that remove the gene's node, without case:
	// AllKinds, NoKind, or names. nil: all, but Set.Open refuses sets with kinds that are not
	// losses.
	RemovingKinds []string
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
func OpenFile(path string, genes *ingest.Nodes, options PerturbationOptions) (Perturbations, error) {
	if err := options.prepare(path, genes); err != nil {
		return nil, err
	}
	if info, err := os.Stat(path); err == nil && info.IsDir() {
		return openStore(path, genes, options)
	}
	file, err := inputfile.Open(path)
	if err != nil {
		return nil, err
	}
	p, err := NewTable(file, genes, options)
	if err != nil {
		file.Close()
		return nil, err
	}
	return p, nil
}

// NewTable is OpenFile for an open file. On success the set owns the file and closes it.
func NewTable(file *inputfile.File, genes *ingest.Nodes, options PerturbationOptions) (*Table, error) {
	if err := options.prepare(file.Path(), genes); err != nil {
		return nil, err
	}
	r, err := table.OpenFile(file, options.Text)
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

// prepare fills in defaults and checks what does not depend on the file.
func (o *PerturbationOptions) prepare(path string, genes *ingest.Nodes) (err error) {
	if o.GenesColumns == nil {
		o.GenesColumns = []string{defaultGenesColumn}
	}
	if o.GeneDelimiter == "" {
		o.GeneDelimiter = defaultGeneDelimiter
	}
	if err := o.UnknownGenes.Check(); err != nil {
		return fmt.Errorf("read perturbations %s: %w", path, err)
	}
	if o.RemovingKinds, err = prepareRemoving(o.RemovingKinds); err != nil {
		return err
	}
	o.Names, err = o.resolver(genes).With(names.Rules{Controls: o.Controls, Delimiter: o.GeneDelimiter})
	if err != nil {
		return fault.New(fault.Usage, fault.HintOf(err), "read --controls for %s: %w", path, err)
	}
	return o.Synonyms.Check()
}

// resolver finds the genes of a graph; nil has none.
func (o *PerturbationOptions) resolver(genes *ingest.Nodes) *names.Resolver {
	if o.Names != nil {
		return o.Names
	}
	if genes == nil {
		genes = &ingest.Nodes{Type: ingest.Gene}
	}
	return names.OfIDs(genes)
}

// perturbationSet is what is said of a perturbation set, in a table or a store.
type perturbationSet struct {
	genes   *ingest.Nodes
	options PerturbationOptions
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
	r, err := table.OpenFile(p.file, p.options.Text)
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
