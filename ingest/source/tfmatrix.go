package source

import (
	"cmp"
	"slices"
	"strconv"

	"tcbuild/fault"
	"tcbuild/ingest"
	"tcbuild/ingest/inputfile"
	"tcbuild/ingest/table"
)

// readMatrix reads the matrix into edges. The report counts its cells.
func (m *EdgesSpec) readMatrix(files *inputfile.Files, names *Names, policy ingest.UnknownGenes) (*ingest.Edges, SourceReport, error) {
	options, err := m.options()
	if err != nil {
		return nil, SourceReport{}, err
	}
	file, err := files.Open(m.File)
	if err != nil {
		return nil, SourceReport{}, err
	}
	layout, err := openMatrix(file, options)
	if err != nil {
		return nil, SourceReport{}, err
	}
	reader, err := table.OpenFile(file, layout.text)
	if err != nil {
		return nil, SourceReport{}, err
	}
	defer reader.Close()
	r := tfMatrixReader{
		names: names, policy: policy, met: newPairs(false), rowName: nameIn("", m.UpperCase), factorRows: m.Matrix == FactorRows,
		edges: &relation{name: m.Relation, weight: 0, carried: cmp.Or(m.WeightName, "weight"), loops: m.SelfLoops},
	}
	r.edges.keep, r.edges.refusal = m.condition()
	nameless, err := r.useColumns(m, layout)
	if err != nil {
		return nil, SourceReport{}, err
	}
	rows := 0
	err = eachRow(reader, func(batch *table.Batch, i int) error {
		rows++
		if err := r.row(batch, i); err != nil {
			where := reader.Where(batch.First + int64(i))
			if r.ofHeader {
				where = m.File + ":" + strconv.Itoa(1+m.SkipLines)
			}
			return fault.New(fault.Input, fault.HintOf(err), "read edges %s: %w", where, err)
		}
		return nil
	})
	if err != nil {
		return nil, SourceReport{}, err
	}
	r.edges.appendLoops(names.genes.Len())
	report := r.edges.report(m.File, rows*len(r.columns), &r.missing)
	report.Noted = appendCount(report.Noted, "columns without a name, which are left out", nameless)
	return r.edges.edges(), report, nil
}

// tfMatrixReader turns the rows of a matrix into edges.
type tfMatrixReader struct {
	names      *Names
	policy     ingest.UnknownGenes
	factorRows bool // rows are factors, and columns their targets
	rowName    func(field []byte) ([]byte, error)
	columns    []valueColumn
	edges      *relation
	met        *pairs
	states     list[pairState] // of the pairs
	missing    missingNames
	ofHeader   bool
}

// valueColumn is a column of values of one gene.
type valueColumn struct {
	namedGene
	column int
}

// useColumns finds the columns with values, and counts those without a name.
func (r *tfMatrixReader) useColumns(m *EdgesSpec, layout *matrixLayout) (nameless int, err error) {
	for _, name := range m.Ignore {
		number, err := strconv.Atoi(name)
		if !slices.Contains(layout.names, name) && (err != nil || number < 1 || number > len(layout.names)) {
			return 0, fault.New(fault.Input, "name an existing column, or give a number from 1, as column 0 names the rows",
				"read edges %s: found no column %s to ignore", m.File, fault.Quote(name))
		}
	}
	nameOf := nameIn(m.ColumnName, m.UpperCase)
	for k, name := range layout.names {
		switch {
		case slices.Contains(m.Ignore, name), slices.Contains(m.Ignore, strconv.Itoa(k+1)):
			continue
		case name == "":
			nameless++
			continue
		}
		gene, err := nameOf([]byte(name))
		if err != nil {
			return 0, fault.New(fault.Input, "name a column without values in ignore", "read edges %s:%d: column %d: %w", m.File, 1+m.SkipLines, k+2, err)
		}
		r.columns = append(r.columns, valueColumn{r.names.named(gene), 1 + k})
	}
	return nameless, nil
}

// row reads the cells of a row. Its errors do not name the row, and are in the header if it sets
// ofHeader.
func (r *tfMatrixReader) row(batch *table.Batch, i int) error {
	name, err := r.rowName(batch.Text(0, i))
	if err != nil {
		return err
	}
	row := r.names.named(name)
	for _, column := range r.columns {
		weight, err := finite(batch, column.column, i)
		if err != nil {
			return fault.New(fault.Input, fault.HintOf(err), "column %q: %w", column.name, err)
		}
		if !r.edges.keep(weight) {
			r.edges.refused++
			continue
		}
		for k, end := range []namedGene{column.namedGene, row} {
			if end.result == gene {
				continue
			}
			r.ofHeader = k == 0
			if err := ingest.CheckGeneName([]byte(end.name)); err != nil {
				return err
			}
			if r.policy == ingest.RefuseUnknownGenes {
				return fault.New(fault.Input, r.names.unknownHint(end.name), "%s", r.names.describe(end.name, end.result))
			}
			r.missing.add(end.name)
		}
		factor, target := column.namedGene, row
		if r.factorRows {
			factor, target = row, column.namedGene
		}
		if r.missing.count([2]found{factor.result, target.result}) {
			continue
		}
		pair, meeting := r.met.meet(factor.gene, target.gene)
		if meeting == first {
			r.states.append(pairState{})
		}
		r.edges.add(factor.gene, target.gene, weight, nil, r.states.at(pair), meeting)
	}
	return nil
}
