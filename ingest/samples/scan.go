package samples

import (
	"cmp"
	"context"
	"fmt"
	"iter"
	"runtime"

	"tcbuild/fault"
	"tcbuild/ingest"
	"tcbuild/ingest/table"
	"tcbuild/internal/inorder"
)

// A scan is one pass over a set. Parts of its rows go through workers on all cores, which make
// samples of them; what depends on earlier rows is done in their order:
//
//	rows → part → records → genotypes → samples → in order → the loop
//
// Accounts and errors do not depend on the number of workers: parts are merged in order, and the
// first wrong row counts.
type scan[B any] struct {
	columns   ingest.Columns
	genotyper *Genotyper
	newForm   func() form[B] // of one worker
	// read sends parts of all rows. It has a goroutine of its own.
	read func(send func(*part[B]) error) error
	// where names a row for messages. It is called after read has ended.
	where func(row int64) string

	inOrder inOrder[B] // sees parts in the order of the rows; nil: none
}

// inOrder is what a form does with parts in the order of the rows.
type inOrder[B any] interface {
	// add sees a part. An error is of a row of the part.
	add(p *part[B]) (row int64, err error)
	// checkEnd returns an error that only all rows show, or all above one that failed.
	checkEnd(above int64) error
}

// A part is some rows on their way through a worker.
type part[B any] struct {
	batch    B
	from, to int   // rows of the batch
	first    int64 // number of the batch's row 0

	samples []*ingest.Samples
	account ingest.Account
	failed  error // of the row after these samples
	row     int64 // that failed
}

// batches returns the samples.
func (s *scan[B]) batches(
	ctx context.Context, account *ingest.Account,
) iter.Seq2[*ingest.Samples, error] {
	return func(yield func(*ingest.Samples, error) bool) {
		var row int64
		var failed error
		samples := 0
		for p, err := range inorder.Each(ctx, s.workers(), s.read) {
			if err != nil {
				yield(nil, err)
				return
			}
			row, failed = p.row, p.failed
			if s.inOrder != nil {
				if at, err := s.inOrder.add(p); err != nil {
					row, failed = at, err
				}
			}
			account.Merge(&p.account)
			for _, batch := range p.samples {
				batch.First = samples
				samples += batch.Len()
				account.Kept += batch.Len()
				if !yield(batch, nil) {
					return
				}
			}
			if failed != nil {
				break
			}
		}
		above := int64(allRows)
		if failed != nil {
			above, failed = row, fmt.Errorf("read perturbations %s: %w", s.where(row), failed)
		}
		if s.inOrder != nil {
			failed = cmp.Or(s.inOrder.checkEnd(above), failed)
		}
		if failed != nil {
			yield(nil, failed)
		}
	}
}

func (s *scan[B]) workers() (workers []func(*part[B])) {
	for range runtime.GOMAXPROCS(0) {
		w := &worker[B]{scan: s, form: s.newForm()}
		workers = append(workers, w.work)
	}
	return workers
}

// A worker makes samples of parts. It allocates nothing per record.
type worker[B any] struct {
	*scan[B]
	form     form[B]
	genotype Genotype
	part     *part[B]
}

func (w *worker[B]) work(p *part[B]) {
	w.part = p
	p.failed = fault.Catch(func() error {
		for i := p.from; i < p.to; i++ {
			p.row = p.first + int64(i)
			r, err := w.form.Record(p.batch, i)
			if err == nil {
				err = w.add(p.batch, i, r)
			}
			if err != nil {
				return err
			}
		}
		return nil
	})()
}

// add makes a sample of a record, or counts why not.
func (w *worker[B]) add(batch B, i int, r *Record) error {
	account, genotype := &w.part.account, &w.genotype
	account.Rows++
	w.part.row = r.Row
	why, err := w.genotyper.Genotype(r, genotype)
	if err != nil {
		return err
	}
	for _, name := range genotype.Unknown {
		account.AddName(string(name), 1)
	}
	if why == ingest.Kept || w.form.strict() {
		if err := w.form.Values(batch, i, r, genotype); err != nil {
			return err
		}
		account.Add(ingest.TrimmedText, r.Trimmed)
		account.Add(ingest.InfiniteValue, r.Infinite)
	}
	if err := table.CheckUTF8(r.ID); err != nil {
		return fault.New(fault.Input, fault.HintOf(err), "sample id: %w", err)
	}
	if why != ingest.Kept {
		account.Drop(why, r.Row, genotype.Name)
		return nil
	}
	w.note(account)
	if r.MissingGene {
		account.Add(ingest.MissingGene, 1)
	}
	w.append(r)
	return nil
}

// note notes what a kept record has.
func (w *worker[B]) note(account *ingest.Account) {
	if len(w.genotype.Genes) == 0 {
		account.Add(ingest.Wildtype, 1)
	}
	if w.genotype.Controls > 0 && len(w.genotype.Genes)+len(w.genotype.Staying) == 0 {
		account.Add(ingest.ControlSample, 1)
	}
	account.Add(ingest.ControlName, w.genotype.Controls)
	account.Add(ingest.UnknownLeftOut, len(w.genotype.Unknown))
	account.Add(ingest.RepeatedGene, w.genotype.Repeated)
}

// append appends the sample of a record to the last batch of the part, or to a new one.
func (w *worker[B]) append(r *Record) {
	p := w.part
	last := len(p.samples) - 1
	size := ingest.BatchSize(w.columns)
	if last < 0 || p.samples[last].IsFull(size) {
		p.samples = append(p.samples, ingest.NewSamples(0, w.columns, min(size, p.to-p.from)))
		last++
	}
	p.samples[last].Append(r.ID, w.genotype.Genes, r.Phenotypes, r.Attributes)
}
