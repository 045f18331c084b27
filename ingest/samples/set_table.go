package samples

import (
	"context"
	"iter"
	"path/filepath"

	"github.com/cespare/xxhash/v2"

	"tcbuild/ingest"
	"tcbuild/ingest/inputfile"
	"tcbuild/ingest/names"
	"tcbuild/ingest/table"
)

// tableSet is a set in a table.
type tableSet struct {
	spec      Spec
	file      *inputfile.File
	layout    *layout
	genotyper *Genotyper

	distinctIDs bool // a whole pass found no duplicates
}

// openTable opens a table and finds out what its columns are. In an Arrow file that follows from
// their types: numbers and booleans (0 and 1) are phenotypes. A text table is read to its end,
// unless the spec names both phenotypes and attributes: a column is a phenotype if it has a number,
// or no values at all, and otherwise an attribute. A column with both numbers and other text is an
// error that names the first such text, unless it is an attribute by its name. Bad data and missing
// columns are a fault.Input.
func openTable(spec Spec, known *names.Resolver) (ingest.SampleSource, error) {
	file, err := inputfile.Open(spec.File)
	if err != nil {
		return nil, err
	}
	t := &tableSet{spec: spec, file: file}
	if err := t.open(known); err != nil {
		file.Close()
		return nil, err
	}
	return t, nil
}

func (t *tableSet) open(known *names.Resolver) error {
	r, err := table.OpenFile(t.file)
	if err != nil {
		return err
	}
	defer r.Close()
	if t.layout, err = layOutTable(r, &t.spec); err != nil {
		return err
	}
	if err = t.spec.checkRemoving(t.layout.columns); err != nil {
		return err
	}
	t.genotyper, err = t.spec.genotyper(known)
	if err == nil {
		t.genotyper.hasKinds = t.layout.hasKinds
	}
	return err
}

func (t *tableSet) newForm() form[*table.Batch] {
	return &list{tableValues: tableValues{layout: t.layout}, genotyper: t.genotyper,
		names: t.genotyper.names, delimiter: []byte(t.spec.GeneDelimiter)}
}

func (t *tableSet) Columns() ingest.Columns { return t.layout.columns }

func (t *tableSet) Inputs() []ingest.Input {
	return []ingest.Input{t.file.Input(filepath.Base(t.file.Path()))}
}

func (t *tableSet) Unchanged() error { return t.file.Unchanged() }

func (t *tableSet) Close() error { return t.file.Close() }

func (t *tableSet) Place(row int64) (string, error) {
	r, err := table.OpenFile(t.file)
	if err != nil {
		return "", err
	}
	defer r.Close()
	for b, err := range r.Batches() {
		if err != nil || row < b.First+int64(b.Len) {
			return r.Where(row), err
		}
	}
	return r.Where(row), nil
}

// Batches reads the samples. Memory does not depend on their number, except in the first whole pass
// over a table with sample ids: it checks that they are unique, with 8 bytes per id.
func (t *tableSet) Batches(
	ctx context.Context, account *ingest.Account,
) iter.Seq2[*ingest.Samples, error] {
	return func(yield func(*ingest.Samples, error) bool) {
		r, err := table.OpenFile(t.file)
		if err != nil {
			yield(nil, err)
			return
		}
		defer r.Close()
		columns := t.layout.columns
		s := &scan[*table.Batch]{
			columns: columns, genotyper: t.genotyper, newForm: t.newForm, where: r.Where,
			read: func(send func(*part[*table.Batch]) error) error {
				return sendParts(r, ingest.BatchSize(columns), send)
			},
		}
		if t.layout.hasID && !t.spec.AllowDuplicateIDs && !t.distinctIDs {
			s.inOrder = &idOrder{set: t, hash: xxhash.Sum64}
		}
		for batch, err := range s.batches(ctx, account) {
			if !yield(batch, err) || err != nil {
				return
			}
		}
		t.distinctIDs = true
	}
}

// sendParts reads a table and sends parts of so many rows.
func sendParts(r *table.Reader, rows int, send func(*part[*table.Batch]) error) error {
	for b, err := range r.Batches() {
		if err != nil {
			return err
		}
		owned := b.Own()
		for from := 0; from < b.Len; from += rows {
			p := &part[*table.Batch]{batch: owned.Twin(), first: b.First, from: from,
				to: min(from+rows, b.Len)}
			if err := send(p); err != nil {
				return err
			}
		}
	}
	return nil
}
