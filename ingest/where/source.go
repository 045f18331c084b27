package where

import (
	"github.com/dustin/go-humanize"

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

// NewSource filters a set; name is for messages. The expression "" keeps all samples. A mistake in
// it is a fault.Usage.
func NewSource(source ingest.SampleSource, name, expression string, genes *ingest.Nodes) (ingest.SampleSource, error) {
	if expression == "" {
		return source, nil
	}
	filter, err := Compile(expression, source.Columns(), genes)
	if err != nil {
		return nil, err
	}
	return &Source{source, name, expression, filter}, nil
}

// Scan reads the set and passes on the samples that are kept. It is an error if none is. Samples
// and Wildtypes of its counts are of these, the others of all samples that were read.
func (s *Source) Scan(yield func(*ingest.Samples) error) (ingest.Counts, error) {
	kept := ingest.Counts{}
	counts, err := s.SampleSource.Scan(func(samples *ingest.Samples) error {
		part, err := s.kept(samples, kept.Samples)
		if err != nil {
			return err
		}
		for i := range part.Len() {
			if len(part.Genes(i)) == 0 {
				kept.Wildtypes++
			}
		}
		kept.Samples += part.Len()
		if part.Len() == 0 {
			return nil
		}
		return yield(part)
	})
	read := counts.Samples
	counts.Samples, counts.Wildtypes, counts.LeftOutSamples = kept.Samples, kept.Wildtypes, read-kept.Samples
	if err == nil && read > 0 && kept.Samples == 0 {
		err = NoneKept("perturbations", s.name, s.expression, read)
	}
	return counts, err
}

// NoneKeptHint is the hint for an expression that is true for no sample.
const NoneKeptHint = "check the names and units in the expression: a comparison with a missing value is false"

// NoneKept is the error of an expression that is true for none of the samples that were read from
// what has this name.
func NoneKept(what, name, expression string, read int) error {
	return fault.New(fault.Input, NoneKeptHint, "read %s %s: --where %s is true for none of %s samples, expected at least one", what, name, fault.Quote(expression), humanize.Comma(int64(read)))
}

// IgnoredColumns are the names of the set's columns that are not part of the samples.
func (s *Source) IgnoredColumns() []string {
	if set, ok := s.SampleSource.(interface{ IgnoredColumns() []string }); ok {
		return set.IgnoredColumns()
	}
	return nil
}

// kept is the part of a batch that is kept; first is the number of its first sample.
func (s *Source) kept(samples *ingest.Samples, first int) (*ingest.Samples, error) {
	columns := s.Columns()
	part := ingest.NewSamples(first, columns, samples.Len())
	sample := Sample{}
	for i := range samples.Len() {
		sample.ID, sample.Genes, sample.Phenotypes = samples.ID(i), samples.Genes(i), samples.Phenotypes(i)
		sample.Attributes = sample.Attributes[:0]
		for k := range columns.Attributes {
			sample.Attributes = append(sample.Attributes, samples.Attribute(i, k))
		}
		keep, err := s.filter.Keeps(&sample)
		if err != nil {
			return nil, err
		}
		if keep {
			part.Append(sample.ID, sample.Genes, sample.Phenotypes, sample.Attributes)
		}
	}
	return part, nil
}
