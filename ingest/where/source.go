package where

import (
	"github.com/dustin/go-humanize"
	"github.com/dustin/go-humanize/english"

	"tcbuild/fault"
	"tcbuild/ingest"
)

// Source is what an expression leaves of a perturbation set. Samples keep their ids, also those
// that are named by their rows.
type Source struct {
	ingest.SampleSource
	name, expression string
	filter           *Filter
}

// NewSource filters a set that was opened with the expression's Names as FilterColumns; name is for
// messages. The expression "" keeps all samples. A mistake in it is a fault.Usage.
func NewSource(source ingest.SampleSource, name, expression string, genes Genes) (ingest.SampleSource, error) {
	if expression == "" {
		return source, nil
	}
	s := &Source{SampleSource: source, name: name, expression: expression}
	var err error
	s.filter, err = Compile(expression, source.Columns(), genes)
	if err != nil {
		return nil, err
	}
	return s, nil
}

// Columns are the samples' columns, without what only the filter reads.
func (s *Source) Columns() ingest.Columns { return s.SampleSource.Columns().Kept() }

// Scan reads the set and passes on the samples that are kept, in batches that depend only on them.
// It is an error if none is. Samples and Wildtypes of its counts are of these, the others of all
// samples that were read.
func (s *Source) Scan(yield func(*ingest.Samples) error) (ingest.Counts, error) {
	columns := s.Columns()
	yielded, next := false, 0
	kept := ingest.NewBatcher(columns, func(samples *ingest.Samples) error {
		yielded, next = true, samples.First+samples.Len()
		return yield(samples)
	})
	sample := ingest.Sample{}
	counts, err := s.SampleSource.Scan(func(samples *ingest.Samples) error {
		yielded = false
		for i := range samples.Len() {
			samples.At(i, &sample)
			if !s.filter.Keeps(&sample) {
				continue
			}
			if len(sample.Genes) == 0 {
				kept.Counts.Wildtypes++
			}
			if err := kept.Add(sample.ID, sample.Genes, sample.Phenotypes, sample.Attributes[:len(columns.Attributes)]); err != nil {
				return err
			}
		}
		if yielded {
			return nil
		}
		return yield(ingest.NewSamples(next, columns, 0)) // so that the receiver can stop
	})
	read := counts.Samples
	counts.Samples, counts.Wildtypes = kept.Counts.Samples, kept.Counts.Wildtypes
	counts.LeftOutSamples = read - counts.Samples
	switch {
	case err != nil || read == 0:
		return counts, err
	case counts.Samples == 0:
		return counts, NoneKept("perturbations", s.name, s.expression, read)
	}
	return counts, kept.Flush()
}

// NoneKeptHint is the hint for an expression that is true for no sample.
const NoneKeptHint = "check the names and units in the expression: a comparison with a missing value is false"

// NoneKept is the error of an expression that matches none of the samples that were read from
// what has this name.
func NoneKept(what, name, expression string, read int) error {
	return fault.New(fault.Input, NoneKeptHint,
		"read %s %s: --where %s matches none of %s %s, expected at least one",
		what, name, fault.Quote(expression), humanize.Comma(int64(read)), english.PluralWord(read, "sample", ""))
}
