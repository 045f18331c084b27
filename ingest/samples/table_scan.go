package samples

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"iter"
	"runtime"
	"sync"

	"github.com/cespare/xxhash/v2"

	"tcbuild/fault"
	"tcbuild/ingest"
	"tcbuild/ingest/table"
)

// Batches reads the samples. Memory does not depend on their number, except in the first whole pass
// over a table with sample ids: it checks that they are unique, with 11 to 21 bytes per id.
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
	r, err := table.OpenFile(p.file, p.options.Text)
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
					if err := s.ids.Add(b.Text(s.layout.id, row), b.First+int64(row)); err != nil {
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

// rowOf names the first row before the given one that has a sample id, or returns "". It reads the
// table again.
func (p *Table) rowOf(id []byte, above int64) (string, error) {
	r, err := table.OpenFile(p.file, p.options.Text)
	if err != nil {
		return "", err
	}
	defer r.Close()
	for b, err := range r.Batches() {
		if err != nil {
			return "", err
		}
		for i := range b.Len {
			switch row := b.First + int64(i); {
			case row == above:
				return "", nil
			case bytes.Equal(b.Text(p.layout.id, i), id):
				return r.Where(row), nil
			}
		}
	}
	return "", nil
}

const sampleIDHint = "give each sample a unique id, or set allow_duplicate_ids=true"

// SampleIDs finds empty and duplicate sample ids. A nil *SampleIDs finds none. It keeps a 64-bit
// hash of each id, in 11 to 21 bytes; if two hashes are equal, earlier compares the ids.
type SampleIDs struct {
	seen hashSet
	// returns the first row before the given one that has the id, or ""
	earlier func(id []byte, row int64) (where string, err error)
}

// Add returns a fault.Input if an id is empty or an earlier row has it.
func (s *SampleIDs) Add(id []byte, row int64) error {
	if s == nil {
		return nil
	}
	if len(bytes.TrimSpace(id)) == 0 {
		return fault.New(fault.Input, sampleIDHint, "found sample id %s, expected a non-empty one", fault.Quote(id))
	}
	if s.seen.add(xxhash.Sum64(id)) {
		return nil
	}
	where, err := s.earlier(id, row)
	if err == nil && where != "" {
		err = fault.New(fault.Input, sampleIDHint,
			"found sample id %s, which is also in %s, expected unique ids", fault.Quote(id), where)
	}
	return err
}

// hashSet is a table with linear probing, at most three quarters full. A Go map takes three times
// as long. 0 is an empty slot.
type hashSet struct {
	slots []uint64 // their number is a power of two
	used  int
}

// add reports whether a hash is new. 0 counts as 1.
func (s *hashSet) add(hash uint64) bool {
	if 4*s.used >= 3*len(s.slots) {
		old := s.slots
		*s = hashSet{slots: make([]uint64, max(2*len(old), 1024))}
		for _, hash := range old {
			if hash != 0 {
				s.add(hash)
			}
		}
	}
	hash = max(hash, 1)
	last := uint64(len(s.slots) - 1)
	for i := hash & last; ; i = (i + 1) & last {
		switch s.slots[i] {
		case hash:
			return false
		case 0:
			s.slots[i] = hash
			s.used++
			return true
		}
	}
}
