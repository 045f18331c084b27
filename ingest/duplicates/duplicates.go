// Package duplicates decides what becomes of samples with the same genotype: a stage between a
// perturbation set and what is made of it. docs/DESIGN.md, section Repeated genotypes, has its
// rules.
package duplicates

import (
	"context"
	"errors"
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
}

// Apply returns the samples that are left of a source, which then belongs to it. A Scan reads the
// source once. Its counts are of the source, but for Samples, which are those left. Keeping all
// samples takes the counts alone, made while yield has the batch, which it must not change. Memory
// is 25 to 31 bytes for each genotype, and as much for each group if Rule.GroupBy names attributes.
// Last and Mean keep the samples in a temporary folder beside a path meanwhile. name is the set's,
// for messages.
//
// A computed set in which each sample has its own genotype is returned as it is.
func Apply(ctx context.Context, source ingest.SampleSource, rule Rule, name, beside string) (ingest.SampleSource, error) {
	s := &stage{SampleSource: source, ctx: ctx, Rule: rule, name: name, beside: beside, columns: source.Columns()}
	if err := s.findGroupBy(); err != nil {
		return nil, err
	}
	if indexed, ok := source.(ingest.IndexedSource); ok && indexed.Counts().Genotypes == indexed.Counts().Samples {
		return source, nil
	}
	if rule.Duplicates != Mean {
		return s, nil
	}
	var err error
	s.plan, s.columns, err = newPlan(source.Columns(), s.groupBy, name)
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
	ctx          context.Context
	name, beside string
	groupBy      []int          // attributes
	columns      ingest.Columns // of the samples that are left
	plan         *plan          // of Mean
}

func (s *stage) Columns() ingest.Columns { return s.columns }

// findGroupBy finds the attributes that samples are grouped by.
func (s *stage) findGroupBy() error {
	names := s.columns.AttributeNames()
	for _, name := range s.GroupBy {
		at := slices.Index(names, name)
		switch {
		case at < 0 && slices.Contains(s.columns.PhenotypeNames(), name):
			return fault.New(fault.Input, "name it with --attributes, too",
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

// Scan implements ingest.SampleSource. Once the stage's context is done it returns its cause.
func (s *stage) Scan(yield func(*ingest.Samples) error) (ingest.Counts, error) {
	groups := &grouper{keyer: keyer{groupBy: s.groupBy, attributes: s.SampleSource.Columns().Attributes}}
	defer groups.free()
	out := ingest.NewBatcher(s.columns, yield)
	pass := func(samples *ingest.Samples) error {
		out.Counts.Samples += samples.Len()
		return yield(samples)
	}
	var counts ingest.Counts
	var err error
	switch s.Duplicates {
	case Error:
		counts, err = s.scan(groups, func(samples *ingest.Samples, i int, group number, known bool) error {
			if known {
				return &repeat{group.get(), samples.First + i, samples.ID(i)}
			}
			group.set(samples.First + i)
			return nil
		}, pass)
	case First:
		counts, err = s.scan(groups, func(samples *ingest.Samples, i int, _ number, known bool) error {
			if known {
				return nil
			}
			return out.Add(samples.ID(i), samples.Genes(i), samples.Phenotypes(i), samples.Attributes(i))
		}, nil)
	case Last, Mean:
		counts, err = s.scanTwice(groups, out)
	default:
		counts, err = s.scan(groups, nil, pass)
	}
	if repeat, ok := errors.AsType[*repeat](err); ok {
		err = s.explain(repeat)
	}
	if err == nil {
		err = out.Flush()
	}
	counts.Repeats = groups.repeats
	counts.MergedSamples = counts.Samples - out.Counts.Samples
	counts.Samples = out.Counts.Samples
	return counts, err
}

// scan reads the source, and calls see with each sample and the number of its group, then pass with
// the batch. Without see, samples are counted while pass is at work.
func (s *stage) scan(groups *grouper, see func(samples *ingest.Samples, i int, group number, known bool) error,
	pass func(*ingest.Samples) error) (ingest.Counts, error) {
	return s.SampleSource.Scan(func(samples *ingest.Samples) error {
		if s.ctx.Err() != nil {
			return context.Cause(s.ctx)
		}
		if samples.First+samples.Len() > math.MaxInt32 {
			return fault.New(fault.Input, "split the set",
				"read perturbations %s: found more than %d samples", s.name, math.MaxInt32)
		}
		if see == nil {
			counted := make(chan error, 1)
			go func() {
				counted <- groups.addAll(samples, func(*ingest.Samples, int, number, bool) error { return nil })
			}()
			err := pass(samples)
			return errors.Join(err, <-counted)
		}
		if err := groups.addAll(samples, see); err != nil || pass == nil {
			return err
		}
		return pass(samples)
	})
}

// repeat is the error of a sample in the group of an earlier one.
type repeat struct {
	earlier, later int
	id             []byte // of the later one
}

func (*repeat) Error() string { return "a genotype repeats" }

var errFound = errors.New("found")

// explain names both samples, for which it reads the source again.
func (s *stage) explain(r *repeat) error {
	var earlier []byte
	_, err := s.SampleSource.Scan(func(samples *ingest.Samples) error {
		if r.earlier >= samples.First+samples.Len() {
			return nil
		}
		earlier = samples.ID(r.earlier - samples.First)
		return errFound
	})
	if !errors.Is(err, errFound) {
		return err
	}
	return fault.New(fault.Input, "choose with --duplicates: keep, first, last or mean; or name the attributes that tell them apart with --group-by",
		"read perturbations %s: samples %s and %s, numbers %d and %d from 0, delete the same genes%s, expected each genotype once",
		s.name, fault.Quote(earlier), fault.Quote(r.id), r.earlier, r.later, s.under())
}

// under names the attributes that samples are grouped by, for messages.
func (s *stage) under() string {
	if len(s.GroupBy) == 0 {
		return ""
	}
	return " and have the same " + strings.Join(s.GroupBy, ", ")
}

// grouper numbers groups of samples, and counts repeats.
type grouper struct {
	keyer
	repeats ingest.Repeats
	touched byte // of no use, but for the reads that it is made of
	// by genotype; the flags say that it repeats
	genotypes index
	// by condition, and by both; empty without attributes to group by, when genotypes are the
	// groups
	conditions, both index
}

func (g *grouper) free() {
	g.genotypes.free()
	g.conditions.free()
	g.both.free()
}

// groups has the number of each group.
func (g *grouper) groups() *index {
	if len(g.groupBy) == 0 {
		return &g.genotypes
	}
	return &g.both
}

// add counts a sample and returns the number of its group; see index.find.
func (g *grouper) add(samples *ingest.Samples, i int) (group number, known bool, err error) {
	genotype := g.genotype(samples.Genes(i))
	group, known, err = g.genotypes.find(genotype)
	switch {
	case err != nil:
		return nil, false, err
	case !known:
		g.repeats.Genotypes++
	case group.flag():
		g.repeats.RepeatedSamples++
	default:
		group.setFlag(true)
		g.repeats.RepeatedGenotypes++
		g.repeats.RepeatedSamples += 2
	}
	if len(g.groupBy) == 0 {
		return group, known, nil
	}
	condition := g.condition(samples, i)
	if _, known, err = g.conditions.find(condition); err != nil {
		return nil, false, err
	}
	if !known {
		g.repeats.Conditions++
	}
	return g.both.find(g.pair(genotype, condition))
}

// addAll adds a batch, and calls see with each sample and the number of its group.
func (g *grouper) addAll(samples *ingest.Samples, see func(samples *ingest.Samples, i int, group number, known bool) error) error {
	for i := range samples.Len() {
		g.touched += g.genotypes.touch(g.genotype(samples.Genes(i)))
	}
	for i := range samples.Len() {
		group, known, err := g.add(samples, i)
		if err == nil {
			err = see(samples, i, group, known)
		}
		if err != nil {
			return err
		}
	}
	return nil
}

// of returns the number of the group of a sample that was added.
func (g *grouper) of(samples *ingest.Samples, i int) (number, error) {
	k := g.genotype(samples.Genes(i))
	if len(g.groupBy) > 0 {
		k = g.pair(k, g.condition(samples, i))
	}
	group, _, err := g.groups().find(k)
	return group, err
}
