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
	// what to do with samples that delete the same genes: keep, error, first, last, or mean, which
	// also adds phenotypes NAME_n and NAME_sd (default: keep)
	Duplicates Choice `yaml:"duplicates" default:"keep" words:"keep error first last mean"`
	// attributes that duplicates must share, too; a missing value is a value of its own
	GroupBy []string `yaml:"group_by"`
	// columns that may differ between duplicates merged into one sample
	Ignore []string `yaml:"ignore"`
}

// Merges reports whether each group becomes one sample. The source must then have been opened to
// compare samples: see ingest.Columns.Compared.
func (r Rule) Merges() bool {
	return r.Duplicates == First || r.Duplicates == Last || r.Duplicates == Mean
}

// Apply takes ownership of a source and returns the samples that the rule leaves of it. A pass
// reads the source once, or twice for Last and Mean. Its account describes the source, except Kept,
// which counts the samples left. Keep and Error count repeats while the receiver has the batch,
// which it must not change. Messages name the set and its genes, by name and genes.
//
// Merged samples must have the same values in all columns of the source, except measured
// phenotypes, their statistics, and the columns that Rule.Ignore names. A missing value is a value
// of its own.
//
// Memory is 16 bytes for each sample, and as much again if Rule.GroupBy names attributes. Unless
// all are kept, it is 30 to 60 more for each group, and 16 more to merge them. Mean takes 4 more
// for each group, 8 for each phenotype of a group, 24 for each attribute there that Rule.Ignore
// names, and 48 for each phenotype of a group of several samples. The garbage collector doubles
// that at times.
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
	groupBy []field
	columns ingest.Columns // of the samples that are left
	plan    *plan          // of Mean
}

func (s *stage) Columns() ingest.Columns { return s.columns }

// Batches implements ingest.SampleSource.
func (s *stage) Batches(
	ctx context.Context, account *ingest.Account,
) iter.Seq2[*ingest.Samples, error] {
	return func(yield func(*ingest.Samples, error) bool) {
		err := s.run(ctx, account, yield)
		if clash, ok := errors.AsType[*clash](err); ok {
			err = s.explain(ctx, clash)
		}
		if err != nil && err != errStopped {
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

// run passes on what the policy leaves of the samples.
func (s *stage) run(
	ctx context.Context, account *ingest.Account, yield func(*ingest.Samples, error) bool,
) error {
	out := ingest.NewBatcher(s.columns, yield)
	groups := s.newGroups()
	policy := s.policy(groups)
	add := func(sample *ingest.Sample) error {
		attributes := sample.Attributes[:len(s.columns.Attributes)]
		return goesOn(out.Add(sample.ID, sample.Genes, sample.Phenotypes, attributes))
	}
	var sample ingest.Sample
	see := func(samples *ingest.Samples) error {
		for i := range samples.Len() {
			samples.At(i, &sample)
			number := samples.First + i
			group, first := groups.add(number, &sample)
			if s.Merges() && !groups.agrees(group, &sample) {
				return &clash{groups.stands[group], int32(number)}
			}
			pass, err := policy.See(group, first, number, &sample)
			if err == nil && pass && s.Merges() {
				err = add(&sample)
			}
			if err != nil {
				return err
			}
		}
		return nil
	}
	for samples, err := range s.read(ctx, account) {
		switch {
		case err != nil:
		case s.Merges():
			err = see(samples)
		default: // all samples go on; they are seen meanwhile
			out.Samples += samples.Len()
			seen := make(chan error, 1)
			go func() { seen <- fault.Catch(func() error { return see(samples) })() }()
			err = goesOn(yield(samples, nil))
			err = cmp.Or(<-seen, err)
		}
		if err != nil {
			return err
		}
	}
	read := account.Kept
	if out.Samples < len(groups.stands) {
		slices.Sort(groups.stands)
		result := func(group int, sample *ingest.Sample) error {
			if err := policy.Result(group, sample); err != nil {
				return err
			}
			return add(sample)
		}
		if err := s.readAgain(ctx, groups.stands, read, result); err != nil {
			return err
		}
	}
	account.Repeats = groups.repeats()
	account.Add(ingest.Merged, "", read-out.Samples)
	account.Kept = out.Samples
	return goesOn(out.Flush())
}

// read reads the source.
func (s *stage) read(
	ctx context.Context, account *ingest.Account,
) iter.Seq2[*ingest.Samples, error] {
	return func(yield func(*ingest.Samples, error) bool) {
		for samples, err := range s.SampleSource.Batches(ctx, account) {
			if err == nil && samples.First+samples.Len() > math.MaxInt32 {
				err = fault.New(fault.Input, "split the set",
					"read perturbations %s: found more than %d samples", s.name, math.MaxInt32)
			}
			if !yield(samples, err) || err != nil {
				return
			}
		}
	}
}

// readAgain reads the source, which had so many samples. It calls visit with those at some places,
// which ascend, and with the number of each place.
func (s *stage) readAgain(
	ctx context.Context, places []int32, samples int,
	visit func(at int, sample *ingest.Sample) error,
) error {
	at := 0
	var account ingest.Account
	var sample ingest.Sample
	for batch, err := range s.read(ctx, &account) {
		if err != nil {
			return err
		}
		for ; at < len(places) && int(places[at]) < batch.First+batch.Len(); at++ {
			batch.At(int(places[at])-batch.First, &sample)
			if err := visit(at, &sample); err != nil {
				return err
			}
		}
	}
	if account.Kept != samples {
		return fault.New(fault.Busy, "run it again when nothing is writing to the set",
			"read perturbations %s again: found %d samples, expected %d as before",
			s.name, account.Kept, samples)
	}
	return nil
}
