package source

import (
	"math"
	"strconv"

	"tcbuild/ingest"
	"tcbuild/ingest/table"
	"tcbuild/internal/fault"
)

// MatrixSpec names a wide table of genes x conditions. Each value becomes a
// sample that deletes its gene, with the id "gene: condition" and the phenotype
// value. The first column has the genes; its name may be missing from the header, as R writes tables.
type MatrixSpec struct {
	SampleSpec `yaml:",inline"`
}

// Open finds the layout of the table. The rows of Report are its cells.
func (s MatrixSpec) Open(genes *ingest.Nodes) (*Screen, error) {
	names, text, err := s.prepare(genes)
	if err != nil {
		return nil, err
	}
	layout, err := openMatrix(s.File, text)
	if err != nil {
		return nil, err
	}
	file, err := ingest.OpenPerturbations(s.File, genes, ingest.PerturbationOptions{
		GenesColumns: layout.text.Columns[:1], Phenotypes: []string{}, Text: layout.text,
	})
	if err != nil {
		return nil, err
	}
	return &Screen{
		Perturbations: file, spec: s.SampleSpec, text: layout.text, names: names, made: "matrix samples",
		phenotypes: []string{"value"}, reader: layout.melter,
	}, nil
}

// melter makes the rowReader of one Scan.
func (m *matrixLayout) melter(r *screenReader) rowReader {
	r.dropped = []Count{{What: "cells without a value"}}
	r.noted = []Count{{What: "rows"}, {What: "rows of a gene that has an earlier row"}}
	seen := make(map[uint32]bool)
	var id []byte
	return func(batch *table.Batch, i int) error {
		r.rows += len(m.names)
		r.noted[0].N++
		name := unquote(batch.Text(0, i))
		row, result := r.names.find(name)
		if result != gene {
			return r.lost(string(name), result, len(m.names))
		}
		if seen[row] {
			r.noted[1].N++
		}
		seen[row] = true
		for k, condition := range m.names {
			value, err := phenotype(batch, 1+k, i, condition)
			if err != nil {
				return err
			}
			if math.IsNaN(value) {
				r.dropped[0].N++
				continue
			}
			id = append(append(append(id[:0], name...), ": "...), condition...)
			if err := r.add(id, []uint32{row}, []float64{value}); err != nil {
				return err
			}
		}
		return nil
	}
}

// matrixLayout is how a wide table is read: names is its header but for the first column's.
type matrixLayout struct {
	text  table.TextOptions // with column names that are unique, which those of the header need not be
	names []string
}

// openMatrix reads the header of a wide table.
func openMatrix(path string, text table.TextOptions) (*matrixLayout, error) {
	rows, err := table.Head(path, 2, text)
	if err != nil {
		return nil, err
	}
	if len(rows) < 2 {
		return nil, fault.New(fault.Input, "", "read matrix %s: found %d rows, expected a header and a row per gene", path, len(rows))
	}
	header, width := rows[0], len(rows[1])
	layout := &matrixLayout{text: text}
	if layout.text.Header = text.Columns == nil; !layout.text.Header {
		header = text.Columns
	}
	names := header
	switch {
	case len(header) == width:
		names = header[1:]
	case len(header) != width-1:
		return nil, fault.New(fault.Input, "check the delimiters", "read matrix %s: the header has %d fields and the first row %d, expected as many, or one less in the header",
			path, len(header), width)
	}
	if len(names) == 0 {
		return nil, fault.New(fault.Input, "check the delimiter", "read matrix %s: found a single column, expected one of names and one or more of numbers", path)
	}
	for _, name := range names {
		layout.names = append(layout.names, string(unquote([]byte(name))))
	}
	layout.text.Columns = make([]string, width)
	for k := range width {
		layout.text.Columns[k] = strconv.Itoa(k)
	}
	return layout, nil
}

// unquote returns a field without the quotes around it, which R writes into tab-separated text.
func unquote(field []byte) []byte {
	if n := len(field); n >= 2 && field[0] == '"' && field[n-1] == '"' {
		return field[1 : n-1]
	}
	return field
}
