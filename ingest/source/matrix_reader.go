package source

import (
	"fmt"
	"math"
	"slices"

	"tcbuild/fault"
	"tcbuild/ingest"
	"tcbuild/ingest/table"
)

// Counts of a matrixReader in addition to those of all screens: indices in dropped, then in noted.
const (
	ofPartialLoss = iota
	ofWholeLoss
	ofOneGene
	ofOtherHalf
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
	columnAt map[string]int
	isRow    map[string]bool // the rows so far
	deleted  map[uint32]bool // genes of the rows so far
	pairs    *pairs          // double mutants so far
	alleles  alleleReader
	geneIn   func(name []byte) ([]byte, error)
	values   [][]float64 // by column: the row of the same name, if it is an earlier one
	differ   string      // the first two cells of the halves that are not equal

	// of the cell at hand
	loci      []locus
	genes     []uint32
	id        []byte
	value     [1]float64
	condition []ingest.Value // none if columns are genes
	row       []float64      // its row, as far as it was read
	mirror    int            // the column that has the name of the row, or -1
}

// matrixColumn is a column: its gene, if columns are genes, and whether its name says that its
// strains keep part of the gene's function.
type matrixColumn struct {
	name        string
	text        []byte // the name
	locus       locus
	partialLoss bool
}

func (m *matrix) reader(r *screenReader) rowReader {
	r.dropped = []Count{{What: "of columns without a whole deletion"}, {What: "of columns with a whole deletion"}, {What: "of a gene with itself"},
		{What: "equal to the value of the same names in the other half"}}
	r.noted = []Count{{What: "rows"}, {What: "rows of a gene that has an earlier row"}, {What: "of pairs that have an earlier cell"},
		{What: "of columns without a whole deletion, taken as deletions"}}
	reader := &matrixReader{
		matrix: m, screenReader: r, columnAt: make(map[string]int), isRow: make(map[string]bool), deleted: make(map[uint32]bool),
		pairs: newPairs(true), alleles: m.spec.alleleReader(r.screen.names), geneIn: nameIn(m.spec.GenePattern, false),
	}
	for k, name := range m.names {
		reader.columns = append(reader.columns, matrixColumn{name: name, text: []byte(name), partialLoss: m.partialLoss(name)})
		reader.columnAt[name] = k
	}
	if m.spec.ColumnsAre == SecondGenes && !m.spec.BothHalves && !m.spec.AllowDuplicateIDs {
		reader.values = make([][]float64, len(m.names))
	}
	return reader.read
}

// locus is the locus that a name of a row or column means.
func (r *matrixReader) locus(name []byte) (locus, error) {
	part, err := r.geneIn(name)
	if err != nil {
		return locus{}, fault.New(fault.Input, "check gene_pattern", "%w", err)
	}
	return r.alleles.ofName(string(part)), nil
}

// findColumns finds the genes of columns.
func (r *matrixReader) findColumns() (err error) {
	for k := range r.columns {
		if r.columns[k].locus, err = r.locus([]byte(r.columns[k].name)); err != nil {
			return err
		}
	}
	return nil
}

// read turns the cells of a row into samples.
func (r *matrixReader) read(batch *table.Batch, i int) error {
	if r.noted[matrixRows].N == 0 && r.screen.spec.ColumnsAre == SecondGenes {
		if err := r.findColumns(); err != nil {
			return err
		}
	}
	r.noted[matrixRows].N++
	name := batch.Text(0, i)
	mirror, isColumn := r.columnAt[string(name)]
	switch {
	case r.screen.spec.ColumnsAre == "" && isColumn:
		return fault.New(fault.Input, columnsAreHint,
			"found row %s, which is also a column, expected columns that are not genes", fault.Quote(name))
	case r.isRow[string(name)] && !r.screen.spec.AllowDuplicateIDs:
		return fault.New(fault.Input, duplicateNameHint, "found a second row %s, expected unique names", fault.Quote(name))
	}
	r.isRow[string(name)] = true
	row, err := r.locus(name)
	if err != nil {
		return err
	}
	if row.result == gene {
		if r.deleted[row.gene] {
			r.noted[rowsAgain].N++
		}
		r.deleted[row.gene] = true
	}
	if r.mirror = -1; isColumn && r.values != nil {
		r.mirror = mirror
		r.row = slices.Repeat([]float64{math.NaN()}, len(r.columns))
	}
	for k := range r.columns {
		r.rows++
		if err := r.cell(batch, i, name, row, k); err != nil {
			return err
		}
	}
	if r.mirror >= 0 {
		r.values[r.mirror] = r.row
	}
	return nil
}

// otherHalf reports whether a row's cell in column k says again what the cell of the same names in
// the other half of a symmetric matrix does.
func (r *matrixReader) otherHalf(name []byte, k int) (again bool, err error) {
	if r.mirror < 0 {
		return false, nil
	}
	value := r.value[0]
	r.row[k] = value
	if r.values[k] == nil {
		return false, nil
	}
	other := r.values[k][r.mirror]
	switch {
	case value == other:
		r.dropped[ofOtherHalf].N++
	case r.differ == "" && !math.IsNaN(value) && !math.IsNaN(other):
		column := r.columns[k].name
		r.differ = fmt.Sprintf("%v for %s and %v for %s", other, fault.Quote(column+": "+string(name)), value, fault.Quote(string(name)+": "+column))
	}
	if r.differ != "" && r.dropped[ofOtherHalf].N > 0 {
		return false, fault.New(fault.Input, "correct the matrix; if pairs were measured both ways, say with --duplicates what becomes of their two values",
			"found %s, expected one value, as other cells of the two halves are equal", r.differ)
	}
	return value == other, nil
}

// cell turns a row's cell in column k into a sample, or counts why it is not one.
func (r *matrixReader) cell(batch *table.Batch, i int, name []byte, row locus, k int) error {
	column := &r.columns[k]
	r.loci = append(r.loci[:0], row)
	if r.screen.spec.ColumnsAre == SecondGenes {
		r.loci = append(r.loci, column.locus)
	}
	switch {
	case column.partialLoss && r.screen.spec.PartialLoss == DropPartialLoss:
		r.dropped[ofPartialLoss].N++
		return nil
	case !column.partialLoss && r.screen.spec.PartialLoss == OnlyPartialLoss:
		r.dropped[ofWholeLoss].N++
		return nil
	case len(r.loci) == 2 && row.result == gene && column.locus.result == gene && row.gene == column.locus.gene:
		r.dropped[ofOneGene].N++
		return nil
	}
	if ok, err := r.genotype(r.loci, &r.genes); err != nil || !ok {
		return err
	}
	var err error
	if r.value[0], err = phenotype(batch, 1+k, i, column.name); err != nil {
		return err
	}
	if again, err := r.otherHalf(name, k); again || err != nil {
		return err
	}
	r.id = append(append(append(r.id[:0], name...), ": "...), column.name...)
	if r.screen.spec.ColumnsAre != SecondGenes {
		r.condition = append(r.condition[:0], ingest.Value{Text: column.text})
	}
	before := r.Counts.Samples
	if err := r.add(r.id, r.genes, r.value[:], r.condition); err != nil || r.Counts.Samples == before {
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
