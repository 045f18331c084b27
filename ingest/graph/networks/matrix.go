package networks

import (
	"bytes"
	"cmp"
	"regexp"
	"slices"

	"tcbuild/fault"
	"tcbuild/ingest"
	"tcbuild/ingest/inputfile"
	"tcbuild/ingest/table"
	"tcbuild/ingest/where"
)

// matrixReader makes the edges of a matrix of factors and targets: one for each value that meets
// the condition.
//
//	         ABF1  ACE2
//	YAL001C     0     1   →  ACE2 -> YAL001C
type matrixReader struct {
	*file
	columns []valueColumn
	edge    edge // of the cell at hand
}

// valueColumn is a column with the values of one gene.
type valueColumn struct {
	node
	number int // of the column
}

// openMatrix prepares a matrix for reading.
func (f *file) openMatrix(files *inputfile.Files) (reader, error) {
	options, err := f.Options()
	if err != nil {
		return nil, err
	}
	in, err := files.Open(f.File)
	if err != nil {
		return nil, err
	}
	header, err := table.OpenMatrix(in, options)
	if err != nil {
		return nil, err
	}
	for _, name := range f.Ignore {
		if !slices.Contains(header.Names, name) {
			const other = "name an existing column, but not the first, which names the rows"
			return nil, fault.New(fault.Input, fault.DidYouMean(name, header.Names, other),
				"read edges %s: found no column %s to ignore", f.File, fault.Quote(name))
		}
	}
	f.relations = []relation{f.relation(f.Relation, cmp.Or(f.WeightName, "weight"))}
	c := f.newCollector("")
	m := &matrixReader{file: f}
	pattern := regexp.MustCompile(string(f.ColumnName))
	for k, name := range header.Names {
		switch {
		case slices.Contains(f.Ignore, name):
			continue
		case name == "":
			c.relations[0].account.Add(ingest.NamelessColumn, "", 1)
			continue
		}
		gene, err := nameIn([]byte(name), pattern, f.UpperCase)
		if err != nil {
			return nil, fault.New(fault.Input, "name a column without values in ignore",
				"read edges %s:%d: column %d: %w", f.File, 1+f.SkipLines, k+2, err)
		}
		m.columns = append(m.columns, valueColumn{node{gene, f.genes().find(gene)}, 1 + k})
	}
	rows, err := table.OpenFile(in, header.Options)
	f.rows = &where.Table{Reader: rows}
	return m, err
}

// read makes the edges of a row. A name matters only beside a value that makes an edge.
func (m *matrixReader) read(batch *table.Batch, i int) error {
	c := m.collectors[0]
	name := batch.Text(0, i)
	if m.UpperCase {
		name = bytes.ToUpper(name)
	}
	row := node{name, m.genes().find(name)}
	m.edge.row = batch.First + int64(i)
	for _, column := range m.columns {
		weight, err := batch.Finite(column.number, i)
		if err == nil && !c.relations[0].condition.isMet(weight) {
			c.relations[0].refuse(m.edge.row)
			continue
		}
		if err == nil {
			err = m.note(c, m.genes(), &column.node)
		}
		if err != nil {
			return fault.New(fault.Input, fault.HintOf(err), "column %q: %w", column.name, err)
		}
		if err := m.note(c, m.genes(), &row); err != nil {
			return err
		}
		m.edge.weights = append(m.edge.weights[:0], weight)
		if m.edge.from, m.edge.to = column.node, row; m.Matrix == FactorRows {
			m.edge.from, m.edge.to = row, column.node
		}
		c.add(&m.edge)
	}
	return nil
}
