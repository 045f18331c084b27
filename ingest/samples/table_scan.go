package samples

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"iter"
	"runtime"
	"sync"

	"tcbuild/fault"
	"tcbuild/ingest"
	"tcbuild/ingest/table"
)

// Batches reads the samples. Memory does not depend on their number, except in the first whole pass
// over a table with sample ids: it checks that they are unique, with 8 bytes per id.
func (p *Table) Batches(
	ctx context.Context, account *ingest.Account,
) iter.Seq2[*ingest.Samples, error] {
	return func(yield func(*ingest.Samples, error) bool) {
		s := &tableScan{Table: p, ctx: ctx, account: account, yield: yield}
		if err := s.run(); err != nil && !s.stopped {
			yield(nil, err)
		}
	}
}

func (s *tableScan) run() error {
	p := s.Table
	p.missing = make(map[string]*missing)
	r, err := table.OpenFile(p.file, p.options.text)
	if err != nil {
		return err
	}
	defer r.Close()
	for range runtime.GOMAXPROCS(0) {
		s.parsers = append(s.parsers, newSampleParser(p))
	}
	s.each = max(firstRows/len(s.parsers), 1)
	s.ids = p.SampleIDs()
	err = s.rows(r)
	for _, parser := range s.parsers {
		for name, more := range parser.genotype.missing {
			if found := s.missing[name]; found != nil {
				more.first, more.listed = more.first+found.first, more.listed+found.listed
			}
			s.missing[name] = more
		}
	}
	if err == nil || fault.KindOf(err) == fault.Input { // an earlier row may have an id twice
		err = cmp.Or(s.ids.Check(), err)
	}
	if err != nil {
		return err
	}
	p.distinctIDs = true
	return p.checkRemaining(s.account, p.file.Path(), &s.controls)
}

// firstRows is the number of rows that are parsed before the length of texts is known.
const firstRows = 256

// tableScan is a Scan of a table. The rows of a batch are parsed side by side.
type tableScan struct {
	*Table
	parsers  []*sampleParser // one for each goroutine
	ids      *SampleIDs
	ctx      context.Context
	account  *ingest.Account
	samples  int
	controls controlSamples
	yield    func(*ingest.Samples, error) bool
	stopped  bool
	each     int // rows that a parser is given: fewer if texts are long
}

func (s *tableScan) rows(r *table.Reader) error {
	for b, err := range r.Batches() {
		if err != nil {
			return err
		}
		for next := 0; next < b.Len; {
			share := (b.Len - next + len(s.parsers) - 1) / len(s.parsers)
			each := min(share, ingest.BatchSize(s.layout.columns), s.each)
			var group sync.WaitGroup
			for _, parser := range s.parsers {
				parser.first, parser.next, parser.end = next, next, min(next+each, b.Len)
				next = parser.end
				group.Go(func() { parser.parseRows(b.Twin()) })
			}
			group.Wait()
			s.adapt()
			for _, parser := range s.parsers {
				for _, row := range parser.controls {
					s.controls.add(func() string { return r.Where(b.First + int64(row)) })
				}
				if err := s.take(parser); err != nil {
					return err
				}
				for row := parser.first; row < parser.next && s.ids != nil; row++ {
					if err := s.ids.Add(b.Text(s.layout.id, row)); err != nil {
						parser.next, parser.err = row, err
					}
				}
				if parser.err != nil {
					return fmt.Errorf("read perturbations %s: %w", r.Where(b.First+int64(parser.next)), parser.err)
				}
			}
		}
	}
	return nil
}

// adapt makes the next batches smaller if the texts of those just parsed are long, and larger if
// they are short.
func (s *tableScan) adapt() {
	bytes := 0
	for _, parser := range s.parsers {
		bytes += parser.samples.TextBytes(0, parser.samples.Len())
	}
	switch {
	case bytes > ingest.BatchTexts:
		s.each = max(s.each/4, 1)
	case bytes < ingest.BatchTexts/4:
		s.each = min(4*s.each, ingest.BatchSamples)
	}
}

var errStopped = errors.New("the loop over the samples has ended")

// take passes on what a parser has made of its rows.
func (s *tableScan) take(parser *sampleParser) error {
	parser.samples.First = s.samples
	s.samples += parser.samples.Len()
	parser.account.Kept = parser.samples.Len()
	s.account.Merge(&parser.account)
	if s.ctx.Err() != nil {
		return context.Cause(s.ctx)
	}
	if s.stopped = !s.yield(parser.samples, nil); s.stopped {
		return errStopped
	}
	return nil
}
