package source

import (
	"cmp"
	"context"
	"errors"
	"iter"
	"path/filepath"
	"strings"

	"tcbuild/conf"
	"tcbuild/fault"
	"tcbuild/ingest"
	"tcbuild/ingest/inputfile"
	"tcbuild/ingest/names"
	"tcbuild/ingest/samples"
	"tcbuild/ingest/samples/duplicates"
	"tcbuild/ingest/where"
)

// Set is a perturbation set as its spec says: with the samples that its filter keeps, and after
// its rule for duplicates.
type Set struct {
	ingest.SampleSource
	form   perturbations   // nil for a computed set
	tables inputfile.Files // of names
}

// Inputs lists the set's files, then the tables of names.
func (s *Set) Inputs() []ingest.Input {
	inputs := s.SampleSource.Inputs()
	for _, table := range s.tables.Inputs() {
		table.Name = filepath.Base(table.Name)
		inputs = append(inputs, table)
	}
	return inputs
}

// Unchanged checks that the files are what was read.
func (s *Set) Unchanged() error { return cmp.Or(s.SampleSource.Unchanged(), s.tables.Unchanged()) }

// Close closes the files.
func (s *Set) Close() error { return errors.Join(s.SampleSource.Close(), s.tables.Close()) }

// Account is that of the rows (cells of a matrix) that the latest pass read.
func (s *Set) Account() *ingest.Account {
	if s.form == nil {
		return &ingest.Account{}
	}
	return s.form.Account()
}

// DroppedNames returns a table of the names that the latest pass dropped: see
// Account.DroppedNames.
func (s *Set) DroppedNames() []byte {
	if s.form == nil {
		return []byte(ingest.DroppedNamesHeader)
	}
	return s.form.DroppedNames()
}

// perturbations is a set in files: its samples have genes of a graph.
type perturbations interface {
	ingest.SampleSource
	// Account is that of the rows (cells of a matrix) that the latest pass read.
	Account() *ingest.Account
	// DroppedNames returns a table of the names that the latest pass dropped: see
	// Account.DroppedNames.
	DroppedNames() []byte
}

// Open opens a perturbation set for a graph. It must be closed.
func Open(spec samples.Spec, cell *ingest.Graph) (*Set, error) {
	err := spec.Prepare()
	if err != nil {
		return nil, err
	}
	set := &Set{}
	if spec.Form() == samples.ComputedForm {
		set.SampleSource, err = samples.OpenComputed(spec, cell)
	} else {
		set.form, err = opener{spec}.open(&set.tables, cell)
		set.SampleSource = set.form
	}
	if err != nil {
		set.tables.Close()
		return nil, err
	}
	opened := set.SampleSource
	set.SampleSource, err = duplicates.Apply(opened, spec.Rule, spec.File, cell.Genes)
	if err != nil {
		return nil, errors.Join(err, opened.Close(), set.tables.Close())
	}
	return set, nil
}

// opener opens a set in files.
type opener struct{ samples.Spec }

func (s opener) open(tables *inputfile.Files, cell *ingest.Graph) (perturbations, error) {
	text, err := s.TextOptions()
	if err != nil {
		return nil, err
	}
	if s.MaxDropped == nil {
		s.MaxDropped = new(ingest.DefaultMaxDropped)
	}
	known, err := s.names(tables, cell)
	switch {
	case err != nil:
		return nil, err
	case s.Matrix:
		return s.openScreen(known, text, s.openMatrix)
	case s.Strains != nil:
		return s.openScreen(known, text, s.openStrains)
	}
	return s.openPlain(known)
}

// badSetting returns the error of an invalid setting.
func badSetting(hint, format string, args ...any) error {
	return fault.New(fault.Usage, hint, "read settings: "+format, args...)
}

// plainSet is a table with columns of genes, or a torchcell store.
type plainSet struct {
	ingest.SampleSource // filtered
	set                 samples.Perturbations
	spec                opener
	genes               *names.Resolver
	account             ingest.Account // of the latest pass
}

// openPlain opens the set; see samples.OpenFile. An ambiguous name counts as unknown.
func (s opener) openPlain(known *names.Resolver) (perturbations, error) {
	genes := known.Nodes()
	set, err := samples.OpenFile(s.Spec, genes, known)
	if err != nil {
		return nil, err
	}
	filtered, err := where.NewSource(set, s.File, s.Where, known)
	if err != nil {
		set.Close()
		return nil, err
	}
	return &plainSet{SampleSource: filtered, set: set, spec: s, genes: known}, nil
}

func (p *plainSet) Account() *ingest.Account { return &p.account }

// Batches reads the samples. A set that loses more than MaxDropped to names of no gene, or of
// several, is an error.
func (p *plainSet) Batches(
	ctx context.Context, account *ingest.Account,
) iter.Seq2[*ingest.Samples, error] {
	return func(yield func(*ingest.Samples, error) bool) {
		p.account = ingest.Account{Made: "samples", File: p.spec.File}
		defer func() { account.Merge(&p.account) }()
		for batch, err := range p.SampleSource.Batches(ctx, &p.account) {
			if errors.Is(err, samples.ErrNoneRemains) {
				break
			}
			if !yield(batch, err) || err != nil {
				return
			}
		}
		p.account.Names = p.set.DroppedNames()
		for _, name := range p.spec.Controls {
			if p.genes.Exact([]byte(name)).Known() {
				p.account.Add(ingest.ControlAlias, "", 1)
			}
		}
		err := check(&p.account, "check the columns of genes", p.genes, *p.spec.MaxDropped)
		if err != nil {
			yield(nil, err)
		}
	}
}

func (p *plainSet) DroppedNames() []byte {
	return p.account.DroppedNames((&alleleReader{genes: p.genes}).explainDropped)
}

// explainDropped says why a name was dropped.
func (r *alleleReader) explainDropped(name string) string {
	answer := r.find(name)
	switch {
	case !answer.Known() && names.IsDate([]byte(name)):
		return "a date, as Excel makes of names"
	case !answer.Known():
		return "unknown"
	}
	why := "not in the graph: "
	if answer.Meaning == names.Ambiguous {
		why = "ambiguous: "
	}
	return why + strings.Join(r.genes.Owners([]byte(r.spelling(name))), ", ")
}

// names makes the look-up of genes.
func (s opener) names(files *inputfile.Files, cell *ingest.Graph) (*names.Resolver, error) {
	tables := s.AliasTables
	if s.Aliases != "" {
		var features names.AliasTable
		if err := conf.DecodeSource("sgd_features", "aliases", &features); err != nil {
			return nil, err
		}
		features.File = s.Aliases
		tables = append([]names.AliasTable{features}, tables...)
	}
	tables, err := prepareAliases(tables)
	if err != nil {
		return nil, err
	}
	if s.Aliases != "" {
		tables[0].Place = "--aliases"
	}
	known := names.BuilderOf(cell)
	_, err = known.ReadTables(files, tables)
	return known.Resolver(cell.IgnoreCase), err
}
