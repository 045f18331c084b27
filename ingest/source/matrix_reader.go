package source

import (
	"tcbuild/fault"
	"tcbuild/ingest/table"
)

// matrix is a wide table with the roles of its columns.
type matrix struct {
	MatrixSpec
	*matrixLayout
}

// Counts of a matrixReader in addition to those of all screens: indices in dropped, then in noted.
const (
	ofPartialLoss = iota
	ofOneGene
)
const (
	matrixRows = iota
	rowsAgain
	pairsAgain
	partialLossKept
)

// matrixReader is one Scan of a matrix.
type matrixReader struct {
	*matrix
	*screenReader
	columns  []matrixColumn
	isColumn map[string]bool
	isRow    map[string]bool // the rows so far
	deleted  map[uint32]bool // genes of the rows so far
	pairs    *pairs          // double mutants so far

	loci  []locus
	genes []uint32
	id    []byte
}

// matrixColumn is a column: its gene, if columns are genes, and whether its name says that its
// strains keep part of the gene's function.
type matrixColumn struct {
	locus
	partialLoss bool
}

func (m *matrix) reader(r *screenReader) rowReader {
	r.dropped = []Count{{What: "of columns without a whole deletion"}, {What: "of a gene with itself"}}
	r.noted = []Count{{What: "rows"}, {What: "rows of a gene that has an earlier row"}, {What: "of pairs that have an earlier cell"},
		{What: "of columns without a whole deletion, taken as deletions"}}
	reader := &matrixReader{
		matrix: m, screenReader: r, isColumn: make(map[string]bool), isRow: make(map[string]bool), deleted: make(map[uint32]bool),
		pairs: newPairs(true),
	}
	for _, name := range m.names {
		column := matrixColumn{reader.locus([]byte(name)), saysPartialLoss(m.first) || saysPartialLoss(name)}
		reader.columns = append(reader.columns, column)
		reader.isColumn[name] = true
	}
	return reader.read
}

// locus is the locus of a deleted gene.
func (r *matrixReader) locus(name []byte) locus {
	return locus{namedGene: r.screenReader.names.named(name), kind: DeletionAllele}
}

// read turns the cells of a row into samples.
func (r *matrixReader) read(batch *table.Batch, i int) error {
	r.noted[matrixRows].N++
	name := unquote(batch.Text(0, i))
	switch {
	case r.ColumnsAre == "" && r.isColumn[string(name)]:
		return fault.New(fault.Input, columnsAreHint,
			"found row %s, which is also a column, expected columns that are not genes", fault.Quote(name))
	case r.isRow[string(name)] && !r.AllowDuplicateIDs:
		return fault.New(fault.Input, duplicateNameHint, "found a second row %s, expected unique names", fault.Quote(name))
	}
	r.isRow[string(name)] = true
	row := r.locus(name)
	if row.result == gene {
		if r.deleted[row.gene] {
			r.noted[rowsAgain].N++
		}
		r.deleted[row.gene] = true
	}
	for k := range r.columns {
		r.rows++
		if err := r.cell(batch, i, row, k); err != nil {
			return err
		}
	}
	return nil
}

// cell turns a row's cell in column k into a sample, or counts why it is not one.
func (r *matrixReader) cell(batch *table.Batch, i int, row locus, k int) error {
	column := r.columns[k]
	r.loci = append(r.loci[:0], row)
	if r.ColumnsAre == SecondGenes {
		r.loci = append(r.loci, column.locus)
	}
	switch {
	case column.partialLoss && r.PartialLoss == DropPartialLoss:
		r.dropped[ofPartialLoss].N++
		return nil
	case len(r.loci) == 2 && row.result == gene && column.result == gene && row.gene == column.gene:
		r.dropped[ofOneGene].N++
		return nil
	}
	if ok, err := r.genotype(r.loci, deletionsAlone, &r.genes); err != nil || !ok {
		return err
	}
	value, err := phenotype(batch, 1+k, i, column.name)
	if err != nil {
		return err
	}
	r.id = append(append(append(r.id[:0], row.name...), ": "...), column.name...)
	before := r.counts.Samples
	if err := r.add(r.id, r.genes, []float64{value}, nil); err != nil || r.counts.Samples == before {
		return err
	}
	if column.partialLoss {
		r.noted[partialLossKept].N++
	}
	if len(r.genes) == 2 {
		if _, meeting := r.pairs.meet(r.genes[0], r.genes[1]); meeting != first {
			r.noted[pairsAgain].N++
		}
	}
	return nil
}
