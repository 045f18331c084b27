package samples

import (
	"bytes"
	"cmp"
	"fmt"
	"runtime"
	"sync"

	"tcbuild/fault"
	"tcbuild/ingest"
	"tcbuild/ingest/table"
)

// Scan reads the samples. Memory does not depend on their number, except in the first whole Scan of
// a table with sample ids: it checks that they are unique, with 9 to 19 bytes per id. If the scan
// fails, the counts are those up to the failure.
func (p *tablePerturbations) Scan(yield func(*ingest.Samples) error) (ingest.Counts, error) {
	s := &tableScan{tablePerturbations: p, yield: yield}
	p.missing = make(map[string]missing)
	r, err := table.OpenFile(p.file, p.options.Text)
	if err != nil {
		return s.counts, err
	}
	defer r.Close()
	for range runtime.GOMAXPROCS(0) {
		s.parsers = append(s.parsers, newSampleParser(p))
	}
	ids := p.sampleIDs()
	if ids != nil {
		s.ids = ids.late()
	}
	err = s.rows(r)
	if ids != nil {
		alike, failed := s.ids.end()
		if err = cmp.Or(failed, err); err == nil || fault.KindOf(err) == fault.Input { // in a later row
			err = cmp.Or(p.firstRepeated(ids, alike), err)
		}
	}
	if err != nil {
		return s.counts, err
	}
	p.distinctIDs = true
	return s.counts, p.checkRemaining(s.counts, p.file.Path(), &s.controls)
}

// tableScan is a Scan of a table. The rows of a batch are parsed side by side.
type tableScan struct {
	*tablePerturbations
	parsers  []*sampleParser // one for each goroutine
	ids      *lateIDs        // nil if they are not checked
	counts   ingest.Counts
	controls controlSamples
	yield    func(*ingest.Samples) error
}

func (s *tableScan) rows(r *table.Reader) error {
	for b, err := range r.Batches() {
		if err != nil {
			return err
		}
		for next := 0; next < b.Len; {
			each := min((b.Len-next+len(s.parsers)-1)/len(s.parsers), ingest.BatchSize(s.layout.columns))
			var group sync.WaitGroup
			for _, parser := range s.parsers {
				parser.next, parser.end = next, min(next+each, b.Len)
				next = parser.end
				group.Go(func() { parser.parseRows(b.Twin()) })
			}
			group.Wait()
			for _, parser := range s.parsers {
				for _, row := range parser.controls {
					s.controls.add(func() string { return r.Where(b.First + int64(row)) })
				}
				if err := s.take(parser); err != nil {
					return err
				}
				if parser.err != nil {
					return fmt.Errorf("read perturbations %s: %w", r.Where(b.First+int64(parser.next)), parser.err)
				}
			}
		}
	}
	return nil
}

// take passes on what a parser has made of its rows.
func (s *tableScan) take(parser *sampleParser) error {
	if s.ids != nil {
		s.ids.send(parser.hashes)
	}
	for name, more := range parser.genotype.missing {
		found := s.missing[name]
		s.missing[name] = missing{found.first + more.first, found.listed + more.listed}
	}
	clear(parser.genotype.missing)
	parser.samples.First = s.counts.Samples
	parser.counts.Samples = parser.samples.Len()
	s.counts.Add(parser.counts)
	if parser.samples.Len() == 0 {
		return nil
	}
	return s.yield(parser.samples)
}

// firstRepeated is the error of the first of some rows whose id an earlier row has, nil if there is
// none. It reads the table again.
func (p *tablePerturbations) firstRepeated(ids *SampleIDs, rows []int64) error {
	for _, row := range rows {
		var id []byte
		var where string
		err := p.eachRow(func(r *table.Reader, b *table.Batch, i int) bool {
			if b.First+int64(i) < row {
				return true
			}
			id, where = bytes.Clone(b.Text(p.layout.id, i)), r.Where(row)
			return false
		})
		if err != nil {
			return err
		}
		if err := ids.compare(id, row); err != nil {
			return fmt.Errorf("read perturbations %s: %w", where, err)
		}
	}
	return nil
}

// rowOf names the first row before the given one that has a sample id, or returns "". It reads the
// table again.
func (p *tablePerturbations) rowOf(id []byte, above int64) (where string, err error) {
	err = p.eachRow(func(r *table.Reader, b *table.Batch, i int) bool {
		row := b.First + int64(i)
		if row < above && bytes.Equal(b.Text(p.layout.id, i), id) {
			where = r.Where(row)
		}
		return row < above && where == ""
	})
	return where, err
}

// eachRow reads the table again, for as long as see returns true.
func (p *tablePerturbations) eachRow(see func(r *table.Reader, b *table.Batch, i int) bool) error {
	r, err := table.OpenFile(p.file, p.options.Text)
	if err != nil {
		return err
	}
	defer r.Close()
	for b, err := range r.Batches() {
		if err != nil {
			return err
		}
		for i := range b.Len {
			if !see(r, b, i) {
				return nil
			}
		}
	}
	return nil
}
