package samples

import (
	"cmp"
	"context"
	"errors"
	"iter"
	"maps"
	"path/filepath"
	"slices"
	"strings"

	"tcbuild/conf"
	"tcbuild/fault"
	"tcbuild/ingest"
	"tcbuild/ingest/inputfile"
	"tcbuild/ingest/names"
	"tcbuild/ingest/samples/combinations"
	"tcbuild/ingest/samples/duplicates"
	"tcbuild/ingest/synth"
	"tcbuild/ingest/where"
)

// Set is a perturbation set as its spec says. Its stages are, in order:
//
//	form → filter → account → duplicates
type Set struct {
	ingest.SampleSource
	spec    Spec
	names   *names.Resolver
	tables  inputfile.Files // of names
	account ingest.Account  // of the latest pass
}

// Open opens a perturbation set for a graph. It must be closed.
func Open(spec Spec, cell *ingest.Graph) (*Set, error) {
	if err := spec.Prepare(); err != nil {
		return nil, err
	}
	set := &Set{spec: spec}
	var err error
	if set.names, err = spec.Resolver(&set.tables, names.BuilderOf(cell),
		cell.IgnoreCase); err == nil {
		err = set.open()
	}
	if err != nil {
		return nil, errors.Join(err, set.tables.Close())
	}
	return set, nil
}

func (s *Set) open() (err error) {
	if s.SampleSource, err = OpenForm(s.spec, s.names); err != nil {
		return err
	}
	for _, stage := range []func(ingest.SampleSource) (ingest.SampleSource, error){
		func(source ingest.SampleSource) (ingest.SampleSource, error) {
			return where.NewSource(source, s.spec.File, s.spec.Where, s.names)
		},
		func(source ingest.SampleSource) (ingest.SampleSource, error) {
			if s.spec.Form() == ComputedForm { // which knows its account without reading
				return source, nil
			}
			return &accounted{source, s}, nil
		},
		func(source ingest.SampleSource) (ingest.SampleSource, error) {
			return duplicates.Apply(source, s.spec.Rule, s.spec.File, s.names.Nodes())
		},
	} {
		next, err := stage(s.SampleSource)
		if err != nil {
			return errors.Join(err, s.SampleSource.Close())
		}
		s.SampleSource = next
	}
	return nil
}

// OpenForm opens a set without its filter, for names that are known.
func OpenForm(spec Spec, known *names.Resolver) (ingest.SampleSource, error) {
	switch spec.Form() {
	case ComputedForm:
		return openComputed(spec, known)
	case StoreForm:
		return openStore(spec, known)
	}
	return openTable(spec, known)
}

// UnknownNames returns the names in a set that mean no gene, ascending. It reads the whole set.
func UnknownNames(ctx context.Context, spec Spec, known *names.Resolver) ([]string, error) {
	spec.UnknownGenes = ingest.DropGene
	set, err := OpenForm(spec, known)
	if err != nil {
		return nil, err
	}
	defer set.Close()
	var account ingest.Account
	for _, err := range set.Batches(ctx, &account) {
		if err != nil {
			return nil, err
		}
	}
	return slices.Sorted(maps.Keys(account.Names)), nil
}

func openComputed(spec Spec, known *names.Resolver) (ingest.SampleSource, error) {
	if synth.IsName(spec.File) {
		return synth.Named(spec.File, known.Nodes())
	}
	named, err := combinations.ParseName(spec.File)
	if err != nil {
		return nil, err
	}
	return combinations.Open(named, known, spec.UnknownGenes)
}

// Resolver returns a resolver of known names, which come first, and of the names in tables.
func (s *Spec) Resolver(
	files *inputfile.Files, known *names.Builder, ignoreCase bool,
) (*names.Resolver, error) {
	tables := slices.Clone(s.AliasTables)
	if s.Aliases != "" {
		var features names.AliasTable
		if err := conf.DecodeSource("sgd_features", "aliases", &features); err != nil {
			return nil, err
		}
		features.File = s.Aliases
		tables = append([]names.AliasTable{features}, tables...)
	}
	section := struct {
		Tables []names.AliasTable `yaml:"alias_tables"`
	}{tables}
	err := conf.Check(&section)
	if err != nil {
		return nil, err
	}
	if tables = section.Tables; s.Aliases != "" {
		tables[0].Place = "--aliases"
	}
	if _, err = known.ReadTables(files, tables); err != nil {
		return nil, err
	}
	return known.Resolver(ignoreCase), nil
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

// Account accounts for the rows (cells of a matrix) that the latest pass read, before duplicates.
func (s *Set) Account() *ingest.Account { return &s.account }

// DroppedNames returns a table of the names that the latest pass dropped: see
// Account.DroppedNames.
func (s *Set) DroppedNames() []byte { return s.account.DroppedNames(s.explainDropped) }

// explainDropped says why a name was dropped.
func (s *Set) explainDropped(name string) string {
	spelled := alleles{genes: s.names, yeast: s.spec.YeastAlleles}
	answer := spelled.find(name)
	switch {
	case answer.Meaning == names.Date:
		return names.ADate
	case !answer.Known():
		return "unknown"
	}
	why := "not in the graph: "
	if answer.Meaning == names.Ambiguous {
		why = "ambiguous: "
	}
	return why + strings.Join(s.names.Owners([]byte(spelled.spelling(name))), ", ")
}

// accounted is the stage that checks the account of a set in files at the end of a pass.
type accounted struct {
	ingest.SampleSource
	set *Set
}

func (a *accounted) Batches(
	ctx context.Context, account *ingest.Account,
) iter.Seq2[*ingest.Samples, error] {
	return func(yield func(*ingest.Samples, error) bool) {
		read := &a.set.account
		*read = ingest.Account{Made: "samples", File: a.set.spec.File}
		defer func() { account.Merge(read) }()
		for batch, err := range a.SampleSource.Batches(ctx, read) {
			if !yield(batch, err) || err != nil {
				return
			}
		}
		if err := a.check(read); err != nil {
			yield(nil, err)
		}
	}
}

// check returns an error for a set that loses too many rows, and for one whose samples delete
// nothing.
func (a *accounted) check(account *ingest.Account) error {
	spec := &a.set.spec
	for _, name := range spec.Controls {
		if !spec.YeastAlleles && a.set.names.Exact([]byte(name)).Known() {
			account.Add(ingest.ControlAlias, "", 1)
		}
	}
	if err := a.checkControls(account); err != nil {
		return err
	}
	share := ingest.DefaultMaxDropped
	if spec.MaxDropped != nil {
		share = *spec.MaxDropped
	}
	hint, ofNames := spec.hint(account), a.set.names.Advice(account.Names)
	if several := account.Sum(ingest.SeveralGenes); 2*several > account.LostToNames() {
		hint = severalHint
		if account.Kept == 0 {
			ofNames = hint
		}
	}
	return account.Check(share, hint, ofNames)
}

// hint is the hint for a table without any sample, or for rows that are dropped for other reasons
// than names.
func (s *Spec) hint(account *ingest.Account) string {
	switch {
	case account.Sum(ingest.WhereNotTrue) > 0:
		return where.NoneKeptHint
	case account.Sum(ingest.WithoutPhenotype) > 0:
		return "name the columns with phenotypes, or set keep_unmeasured=true"
	case account.Sum(ingest.OtherAllele) > 0:
		return "check the columns of strains and alleles: no row has only deletions"
	case account.Sum(ingest.AlleleNotChosen) > 0:
		return "name the kinds of the table's alleles in alleles"
	case s.Form() == TableForm:
		return "check the columns of genes"
	}
	return "check that it is the right file"
}

// checkControls returns an error for samples with only controls if wild types are not allowed, or
// if there are no others.
func (a *accounted) checkControls(account *ingest.Account) error {
	spec := &a.set.spec
	dropped, kept := account.Sum(ingest.OnlyControls), account.Sum(ingest.ControlSample)
	samples := account.Kept + account.Sum(ingest.WhereNotTrue) + dropped
	named := slices.Sorted(slices.Values(spec.Controls))
	if spec.ControlPattern != "" {
		named = append(named, spec.ControlPattern)
	}
	path, controls := spec.File, fault.List(named)
	switch found := dropped + kept; {
	case found > 0 && found == samples && !spec.YeastAlleles:
		return fault.New(fault.Input, "check --controls: its names delete nothing",
			"read perturbations %s: all %s have only controls (%s), "+
				"expected at least one that deletes a gene",
			path, ingest.Plural(found, "sample", ""), controls)
	case dropped > 0:
		first, err := a.Place(account.First(ingest.OnlyControls))
		if err != nil {
			return err
		}
		return fault.New(fault.Input, controlsHint,
			"read perturbations %s: %s of %s have only controls (%s), the first %s, "+
				"expected samples that delete a gene",
			path, ingest.Grouped(dropped), ingest.Plural(samples, "sample", ""), controls, first)
	}
	return nil
}

const controlsHint = "to train on the unperturbed graph, too, set allow_wildtype=true"

// controlHint is a hint for an unknown name that looks like a control's, or "".
func controlHint(name string) string {
	if names.LooksLikeControl(name) {
		return "if it is a control, which deletes nothing, pass --controls " + name
	}
	return ""
}

// badSetting returns the error of an invalid setting.
func badSetting(hint, format string, args ...any) error {
	return fault.New(fault.Usage, hint, "read settings: "+format, args...)
}
