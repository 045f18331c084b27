package where

import (
	"context"
	"iter"

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
func NewSource(source ingest.SampleSource, name, expression string,
	genes Genes) (ingest.SampleSource, error) {
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

// Batches reads the set and passes on the samples that are kept, in batches that depend only on
// them. It is an error if none is. Of what is noted of rows, the account has the wild types that
// are kept, and all else of all samples that were read.
func (s *Source) Batches(
	ctx context.Context, account *ingest.Account,
) iter.Seq2[*ingest.Samples, error] {
	return func(yield func(*ingest.Samples, error) bool) {
		wildtypes, read := 0, ingest.Account{}
		kept := ingest.NewBatcher(s.Columns(), yield)
		defer func() {
			read.Add(ingest.WhereNotTrue, "", read.Kept-kept.Samples)
			read.Remove(ingest.Wildtype)
			read.Add(ingest.Wildtype, "", wildtypes)
			read.Kept = kept.Samples
			account.Merge(&read)
		}()
		sample := ingest.Sample{}
		for samples, err := range s.SampleSource.Batches(ctx, &read) {
			if err != nil {
				yield(nil, err)
				return
			}
			for i := range samples.Len() {
				samples.At(i, &sample)
				if !s.filter.Keeps(&sample) {
					continue
				}
				if len(sample.Genes) == 0 {
					wildtypes++
				}
				attributes := sample.Attributes[:len(s.Columns().Attributes)]
				if !kept.Add(sample.ID, sample.Genes, sample.Phenotypes, attributes) {
					return
				}
			}
		}
		if read.Kept > 0 && kept.Samples == 0 {
			yield(nil, NoneKept("perturbations", s.name, s.expression, read.Kept))
			return
		}
		kept.Flush()
	}
}

// NoneKeptHint is the hint for an expression that is true for no sample.
const NoneKeptHint = "check the names and units in the expression: " +
	"a comparison with a missing value is false"

// NoneKept is the error of an expression that matches none of the samples that were read from
// what has this name.
func NoneKept(what, name, expression string, read int) error {
	return fault.New(fault.Input, NoneKeptHint,
		"read %s %s: --where %s matches none of %s, expected at least one",
		what, name, fault.Quote(expression), ingest.Plural(read, "sample", ""))
}
