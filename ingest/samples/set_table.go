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
	"tcbuild/ingest/where"
)

const (
	defaultGenesColumn = "genes"
	defaultIDColumn    = "sample_id"
)

// reading is a Spec with what its readers need besides.
type reading struct {
	Spec
	filterColumns []string // that Where names; see ingest.Columns.FilterOnly
}

// tableSet is a set in a table, in one of three forms: list, strains or matrix.
type tableSet struct {
	spec      Spec
	file      *inputfile.File
	text      table.TextOptions
	columns   ingest.Columns
	genotyper *Genotyper
	newForm   func() form[*tableRows]
	matrix    *matrix // nil for another form
	id        int     // column of sample ids
	hasID     bool

	distinctIDs bool // a whole pass found no duplicates
}

// openTable opens a table and finds out what its columns are. In Arrow and Parquet files that
// follows from their types: numbers and booleans (0 and 1) are phenotypes. A text table is read to
// its end, unless the spec names both phenotypes and attributes: a column is a phenotype if it has
// a number, or no values at all, and otherwise an attribute. A column with both numbers and other
// text is an error that names the first such text, unless it is an attribute by its name. Bad data
// and missing columns are a fault.Input.
func openTable(spec Spec, known *names.Resolver) (ingest.SampleSource, error) {
	text, err := spec.TextSpec.Options()
	if err != nil {
		return nil, err
	}
	text.DelimiterSetting = "'delimiter=;'"
	file, err := inputfile.Open(spec.File)
	if err != nil {
		return nil, err
	}
	t := &tableSet{spec: spec, file: file, text: text}
	if spec.Matrix {
		err = t.openMatrix(known)
	} else {
		err = t.openColumns(known)
	}
	if err != nil {
		file.Close()
		return nil, err
	}
	return t, nil
}

func (t *tableSet) openMatrix(known *names.Resolver) error {
	layout, err := table.OpenMatrix(t.file, t.text)
	if err != nil {
		return err
	}
	if t.genotyper, err = t.spec.genotyper(known); err != nil {
		return err
	}
	if t.matrix, err = openMatrix(&t.spec, layout, t.genotyper.names); err != nil {
		return err
	}
	t.text, t.columns = layout.Options, t.matrix.samplesColumns()
	t.newForm = func() form[*tableRows] {
		return &matrixForm{matrix: t.matrix, genotyper: t.genotyper}
	}
	return t.spec.checkRemoving(t.columns)
}

// openColumns opens a table with columns of genes or strains.
func (t *tableSet) openColumns(known *names.Resolver) (err error) {
	spec := &reading{Spec: t.spec, filterColumns: where.Names(t.spec.Where)}
	r, err := table.OpenFile(t.file, t.text)
	if err != nil {
		return err
	}
	defer r.Close()
	var ofStrains []strainColumns
	if spec.Strains != nil {
		if ofStrains, spec.GenesColumns, err = spec.strainColumns(r.Columns()); err != nil {
			return err
		}
		spec.KindsColumn = IgnoreKindsColumn
	} else if spec.GenesColumns == nil {
		if spec.GenesColumns, err = findGenesColumn(r.Columns(), r.Path()); err != nil {
			return err
		}
	}
	layout, err := layOutTable(r, spec)
	if err == nil {
		err = spec.checkRemoving(layout.columns)
	}
	if err != nil {
		return err
	}
	if t.genotyper, err = spec.genotyper(known); err != nil {
		return err
	}
	t.genotyper.hasKinds = layout.hasKinds
	t.id, t.hasID, t.columns = layout.id, layout.hasID, layout.columns
	values := tableValues{layout: layout, named: spec.Phenotypes != nil}
	t.newForm = func() form[*tableRows] {
		return &list{tableValues: values, genotyper: t.genotyper, names: t.genotyper.names,
			delimiter: []byte(spec.GeneDelimiter)}
	}
	if ofStrains != nil {
		t.newForm = func() form[*tableRows] {
			s := &strains{tableValues: values, columns: ofStrains,
				alleles: spec.allelesOf(t.genotyper.names), names: t.genotyper.names}
			for range ofStrains {
				s.known = append(s.known, make(map[string][]Mention))
			}
			return s
		}
	}
	return nil
}

func (t *tableSet) Columns() ingest.Columns { return t.columns }

func (t *tableSet) Inputs() []ingest.Input {
	return []ingest.Input{t.file.Input(filepath.Base(t.file.Path()))}
}

func (t *tableSet) Unchanged() error { return t.file.Unchanged() }

func (t *tableSet) Close() error { return t.file.Close() }

func (t *tableSet) Place(row int64) (string, error) {
	r, err := table.OpenFile(t.file, t.text)
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
		r, err := table.OpenFile(t.file, t.text)
		if err != nil {
			yield(nil, err)
			return
		}
		defer r.Close()
		s := &scan[*tableRows]{
			columns: t.columns, genotyper: t.genotyper, newForm: t.newForm, where: r.Where,
			dropUnmeasured: t.spec.isScreen() && !t.spec.KeepUnmeasured,
			read: func(send func(*part[*tableRows]) error) error {
				return sendParts(r, ingest.BatchSize(t.columns), send)
			},
		}
		readsIDs := t.hasID && !t.spec.AllowDuplicateIDs && !t.distinctIDs
		switch {
		case t.matrix != nil:
			s.inOrder = t.matrix.inOrder()
		case readsIDs:
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

// tableRows are rows of a table on their way through a worker.
type tableRows struct {
	*table.Batch
	mentions [][]Mention // what names of a matrix's rows mention, as far as the worker has come
}

// sendParts reads a table and sends parts of so many rows.
func sendParts(r *table.Reader, rows int, send func(*part[*tableRows]) error) error {
	for b, err := range r.Batches() {
		if err != nil {
			return err
		}
		owned := b.Own()
		for from := 0; from < b.Len; from += rows {
			p := &part[*tableRows]{batch: &tableRows{Batch: owned.Twin()}, first: b.First,
				from: from, to: min(from+rows, b.Len)}
			if err := send(p); err != nil {
				return err
			}
		}
	}
	return nil
}
