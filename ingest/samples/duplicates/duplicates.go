// Package duplicates decides what becomes of samples with the same genotype: a stage between a
// perturbation set and what is made of it. docs/input.md, section Repeated genotypes, has its
// rules.
package duplicates

import (
	"cmp"
	"context"
	"errors"
	"iter"
	"math"
	"slices"
	"strings"

	"tcbuild/fault"
	"tcbuild/ingest"
)

// Choice is what becomes of samples of one group: those that delete the same genes and have equal
// values in the attributes that samples are grouped by.
type Choice string

const (
	Keep  Choice = "keep"  // all stay
	Error Choice = "error" // the second one is a fault.Input
	First Choice = "first" // the first stays
	Last  Choice = "last"  // the last stays
	// Mean makes one sample of the group, in the place and with the id of its first; see plan.
	Mean Choice = "mean"
)

// Choices are the values of the setting and flag, the default first.
var Choices = []string{string(Keep), string(Error), string(First), string(Last), string(Mean)}

// Rule is the setting of the stage. The zero value keeps all samples.
type Rule struct {
	Duplicates Choice
	GroupBy    []string // attributes; a missing value is a value of its own
	Ignore     []string // columns in which the samples of a group may differ
}

// Merges reports whether each group becomes one sample. The source must then have been opened to
// compare samples: see ingest.Columns.Compared.
func (r Rule) Merges() bool {
	return r.Duplicates == First || r.Duplicates == Last || r.Duplicates == Mean
}

// Apply takes ownership of a source and returns the samples that the rule leaves of it. A pass
// reads the source once, or twice for Last and Mean. Its counts describe the source, except
// Samples, which counts the samples left. Keep only counts repeats, while yield has the batch:
// yield must not change it. Messages name the set and its genes, by name and genes.
//
// Merged samples must have the same values in all columns of the source, except measured
// phenotypes, their statistics, and the columns that Rule.Ignore names. A missing value is a value
// of its own.
//
// Memory is 16 to 36 bytes for each sample if all are kept, and as much again if Rule.GroupBy names
// attributes; otherwise 30 to 60 bytes for each genotype, and as much for each group. Merging takes
// 16 more for each group. Mean takes 8 more for each group, 8 for each phenotype of a group, 17 for
// each attribute there that Rule.Ignore names, and 48 for each phenotype of a group of several
// samples. The garbage collector doubles that at times.
//
// A computed set in which each sample has its own genotype is returned as it is.
func Apply(source ingest.SampleSource, rule Rule, name string,
	genes *ingest.Nodes) (ingest.SampleSource, error) {
	rule.Duplicates = cmp.Or(rule.Duplicates, Keep)
	columns := source.Columns().Remaining()
	s := &stage{
		SampleSource: source, Rule: rule, name: name, genes: genes, columns: columns,
	}
	if err := cmp.Or(s.findGroupBy(), s.checkIgnore()); err != nil {
		return nil, err
	}
	s.shared = s.findShared(source.Columns())
	computed, ok := source.(interface{ Account() ingest.Account }) // known without reading
	if ok && computed.Account().Repeats.Genotypes == computed.Account().Kept {
		return source, nil
	}
	if rule.Duplicates != Mean {
		return s, nil
	}
	var err error
	s.plan, s.columns, err = newPlan(s.columns, rule.Ignore, name)
	return s, err
}

// Pooled says, of a source that Apply returned, which phenotypes are statistics and not averaged,
// such as "fitness_std (standard deviation of fitness)".
func Pooled(source ingest.SampleSource) []string {
	if s, ok := source.(*stage); ok && s.plan != nil {
		return s.plan.describe()
	}
	return nil
}

// stage implements ingest.SampleSource.
type stage struct {
	ingest.SampleSource
	Rule
	name    string
	genes   *ingest.Nodes
	groupBy []int          // attributes
	shared  shared         // columns in which merged samples agree
	columns ingest.Columns // of the samples that are left
	plan    *plan          // of Mean
}

func (s *stage) Columns() ingest.Columns { return s.columns }

// kinds is the attribute that is a part of genotypes, -1 if there is none.
func (s *stage) kinds() int {
	if !s.columns.KindsApart {
		return -1
	}
	return slices.Index(s.columns.AttributeNames(), s.columns.Kinds)
}

// findGroupBy finds the attributes that samples are grouped by.
func (s *stage) findGroupBy() error {
	names := s.columns.AttributeNames()
	for _, name := range s.GroupBy {
		at := slices.Index(names, name)
		switch {
		case at < 0 && slices.Contains(s.columns.PhenotypeNames(), name):
			// --attributes replaces the default, so it has to name the others, too
			all := slices.DeleteFunc(slices.Clone(names), func(name string) bool { return name == s.columns.Kinds })
			for _, name := range s.GroupBy {
				if !slices.Contains(names, name) && slices.Contains(s.columns.PhenotypeNames(), name) {
					all = append(all, name)
				}
			}
			return fault.New(fault.Input, "pass --attributes "+strings.Join(all, ","),
				"read --group-by: column %s of %s is a phenotype, expected an attribute", fault.Quote(name), s.name)
		case at < 0:
			hint := "name an attribute, or keep the column with --attributes"
			if nearest := fault.Nearest(name, names); nearest != "" {
				hint = "did you mean " + fault.Quote(nearest) + "?"
			}
			return fault.New(fault.Input, hint,
				"read --group-by: found attributes %s in %s, expected %s", listed(names), s.name, fault.Quote(name))
		case slices.Contains(s.groupBy, at):
			return fault.New(fault.Usage, "name it once", "read --group-by: found %s twice", fault.Quote(name))
		}
		s.groupBy = append(s.groupBy, at)
	}
	return nil
}

func listed(names []string) string {
	if len(names) == 0 {
		return "(none)"
	}
	return fault.List(names)
}

// Batches implements ingest.SampleSource.
func (s *stage) Batches(
	ctx context.Context, account *ingest.Account,
) iter.Seq2[*ingest.Samples, error] {
	return func(yield func(*ingest.Samples, error) bool) {
		run := s.scan
		if s.Duplicates == Keep {
			run = s.keep
		}
		if err := run(ctx, account, yield); err != nil && err != errStopped {
			yield(nil, err)
		}
	}
}

var errStopped = errors.New("the loop over the samples has ended")

func goesOn(more bool) error {
	if !more {
		return errStopped
	}
	return nil
}

func (s *stage) scan(
	ctx context.Context, account *ingest.Account, yield func(*ingest.Samples, error) bool,
) error {
	out := ingest.NewBatcher(s.columns, yield)
	add := func(samples *ingest.Samples, i int, phenotypes []float64) error {
		attributes := samples.Attributes(i)[:len(s.columns.Attributes)]
		return goesOn(out.Add(samples.ID(i), samples.Genes(i), phenotypes, attributes))
	}
	groups := &groups{groupBy: s.groupBy, kinds: s.kinds(), attributes: s.SampleSource.Columns().Attributes}
	var places []int32 // of the sample that stands for each group
	see := func(samples *ingest.Samples, i, group int, first bool) error { return nil }
	var again func(samples *ingest.Samples, i, group int) error // makes what is left, in a second reading
	switch s.Duplicates {
	case Error:
		see = func(samples *ingest.Samples, i, group int, first bool) error {
			if !first {
				return &clash{int(places[group]), samples.First + i}
			}
			return nil
		}
	case First:
		see = func(samples *ingest.Samples, i, _ int, first bool) error {
			if !first {
				return nil
			}
			return add(samples, i, samples.Phenotypes(i))
		}
	case Last:
		again = func(samples *ingest.Samples, i, _ int) error { return add(samples, i, samples.Phenotypes(i)) }
	case Mean:
		means := &means{plan: s.plan}
		see = func(samples *ingest.Samples, i, group int, _ bool) error {
			means.add(group, samples.Phenotypes(i))
			for k, attribute := range s.plan.ignored {
				means.note(group, k, groups.valuesOf(samples, i, []int{attribute}))
			}
			return nil
		}
		phenotypes := make([]float64, len(s.columns.Phenotypes))
		again = func(samples *ingest.Samples, i, group int) error {
			means.of(group, phenotypes)
			if err := s.checkRange(phenotypes); err != nil {
				return err
			}
			attributes := samples.Attributes(i)[:len(s.columns.Attributes)]
			for k, attribute := range s.plan.ignored {
				if means.differs(group, k) {
					attributes[attribute] = ingest.Value{Number: math.NaN()}
				}
			}
			return goesOn(out.Add(samples.ID(i), samples.Genes(i), phenotypes, attributes))
		}
	}
	group := func(samples *ingest.Samples) error {
		for i := range samples.Len() {
			group, first := groups.add(samples, i)
			if first {
				places = append(places, int32(samples.First+i))
			}
			if s.Merges() && !s.shared.alike(group, groups.sharedBy(samples, i, &s.shared)) {
				return &clash{int(places[group]), samples.First + i}
			}
			if s.Duplicates == Last {
				places[group] = int32(samples.First + i)
			}
			if err := see(samples, i, group, first); err != nil {
				return err
			}
		}
		return nil
	}
	err := s.read(ctx, account, func(samples *ingest.Samples) error {
		if err := group(samples); err != nil || s.Duplicates != Error {
			return err
		}
		out.Samples += samples.Len()
		return goesOn(yield(samples, nil))
	})
	read := account.Kept
	if clash, ok := errors.AsType[*clash](err); ok {
		err = s.explain(ctx, clash)
	}
	if err == nil && again != nil {
		slices.Sort(places)
		err = s.readPlaces(ctx, read, places, again)
	}
	account.Repeats = groups.repeats()
	account.Add(ingest.Merged, "", read-out.Samples)
	account.Kept = out.Samples
	if err == nil {
		err = goesOn(out.Flush())
	}
	return err
}

// keep is scan where all samples stay: they are counted while yield has them.
func (s *stage) keep(
	ctx context.Context, account *ingest.Account, yield func(*ingest.Samples, error) bool,
) error {
	all := &keeping{groups: groups{groupBy: s.groupBy, kinds: s.kinds(), attributes: s.columns.Attributes}}
	err := s.read(ctx, account, func(samples *ingest.Samples) error {
		counted := make(chan error, 1)
		add := fault.Catch(func() error {
			all.add(samples)
			return nil
		})
		go func() { counted <- add() }()
		err := goesOn(yield(samples, nil))
		return cmp.Or(<-counted, err)
	})
	if err == nil {
		account.Repeats = all.repeats()
	}
	return err
}

// read reads the source.
func (s *stage) read(
	ctx context.Context, account *ingest.Account, see func(samples *ingest.Samples) error,
) error {
	for samples, err := range s.SampleSource.Batches(ctx, account) {
		if err != nil {
			return err
		}
		if samples.First+samples.Len() > math.MaxInt32 {
			return fault.New(fault.Input, "split the set",
				"read perturbations %s: found more than %d samples", s.name, math.MaxInt32)
		}
		if err := see(samples); err != nil {
			return err
		}
	}
	return nil
}

// readPlaces reads the source, which had so many samples, again. It calls see with the samples at
// some places, ascending, and with their index in places.
func (s *stage) readPlaces(
	ctx context.Context, samples int, places []int32,
	see func(samples *ingest.Samples, i, at int) error,
) error {
	at := 0
	var account ingest.Account
	err := s.read(ctx, &account, func(samples *ingest.Samples) error {
		for ; at < len(places) && int(places[at]) < samples.First+samples.Len(); at++ {
			if err := see(samples, int(places[at])-samples.First, at); err != nil {
				return err
			}
		}
		return nil
	})
	if err == nil && account.Kept != samples {
		err = fault.New(fault.Busy, "run it again when nothing is writing to the set",
			"read perturbations %s again: found %d samples, expected %d as before", s.name, account.Kept, samples)
	}
	return err
}

// clash is the error of two samples of one group, by their numbers: a genotype repeats, or they
// differ in a column in which merged samples must agree.
type clash struct{ earlier, later int }

func (*clash) Error() string { return "a genotype repeats" }

var errFound = errors.New("found")

// explain names both samples, for which it reads the source again.
func (s *stage) explain(ctx context.Context, c *clash) error {
	var pair [2]ingest.Sample
	err := s.readPlaces(ctx, c.later+1, []int32{int32(c.earlier), int32(c.later)}, func(samples *ingest.Samples, i, at int) error {
		samples.At(i, &pair[at])
		pair[at] = pair[at].Clone()
		if at == 1 {
			return errFound
		}
		return nil
	})
	if !errors.Is(err, errFound) {
		return err
	}
	under := ""
	if len(s.GroupBy) > 0 {
		under = " and have the same " + strings.Join(s.GroupBy, ", ")
	}
	if s.Merges() {
		return s.explainDifference(pair, under)
	}
	return fault.New(fault.Input, "set --duplicates to keep, first, last or mean, or name attributes that distinguish them with --group-by",
		"read perturbations %s: samples %s and %s (numbers %d and %d, counted from 0) delete the same genes%s, expected each genotype once",
		s.name, fault.Quote(pair[0].ID), fault.Quote(pair[1].ID), c.earlier, c.later, under)
}
