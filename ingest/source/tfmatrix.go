package source

import (
	"cmp"
	"slices"
	"strconv"

	"tcbuild/fault"
	"tcbuild/ingest/inputfile"
	"tcbuild/ingest/table"
)

// valueColumn is a column of a matrix with the values of one gene.
type valueColumn struct {
	namedGene
	column int
}

// openMatrix prepares a matrix for reading. nameless is the number of columns without a name.
func (t *EdgesSpec) openMatrix(files *inputfile.Files, names *Names) (_ *edgeFile, nameless int, err error) {
	options, err := t.options()
	if err != nil {
		return nil, 0, err
	}
	file, err := files.Open(t.File)
	if err != nil {
		return nil, 0, err
	}
	layout, err := openMatrix(file, options)
	if err != nil {
		return nil, 0, err
	}
	for _, name := range t.Ignore {
		number, err := strconv.Atoi(name)
		if !slices.Contains(layout.names, name) && (err != nil || number < 1 || number > len(layout.names)) {
			return nil, 0, fault.New(fault.Input, "name an existing column, or give a number from 1, as column 0 names the rows",
				"read edges %s: found no column %s to ignore", t.File, fault.Quote(name))
		}
	}
	keep, refusal := t.condition()
	r := &relation{kind: t.edgeType(t.Relation), weight: 0, carried: cmp.Or(t.WeightName, "weight"), keep: keep, refusal: refusal, loops: t.SelfLoops}
	f := &edgeFile{path: t.File, rename: nameIn("", t.UpperCase), factorRows: t.Matrix == FactorRows,
		header: t.File + ":" + strconv.Itoa(1+t.SkipLines), groups: []*edgeGroup{{relations: []*relation{r}}}, names: names}
	nameOf := nameIn(t.ColumnName, t.UpperCase)
	for k, name := range layout.names {
		switch {
		case slices.Contains(t.Ignore, name), slices.Contains(t.Ignore, strconv.Itoa(k+1)):
			continue
		case name == "":
			nameless++
			continue
		}
		gene, err := nameOf([]byte(name))
		if err != nil {
			return nil, 0, fault.New(fault.Input, "name a column without values in ignore", "read edges %s: column %d: %w", f.header, k+2, err)
		}
		f.values = append(f.values, valueColumn{names.named(gene), 1 + k})
	}
	f.reader, err = table.OpenFile(file, layout.text)
	return f, nameless, err
}

// matrixRow makes the edges of a row of a matrix.
func (f *edgeFile) matrixRow(batch *table.Batch, i int) error {
	g := f.groups[0]
	name, err := f.rename(batch.Text(0, i))
	if err != nil {
		return err
	}
	row := f.names.find(name)
	for _, column := range f.values {
		weight, err := batch.Finite(column.column, i)
		if err != nil {
			return fault.New(fault.Input, fault.HintOf(err), "read edges %s: column %q: %w", f.where(batch, i), column.name, err)
		}
		if !g.relations[0].keep(weight) {
			g.rows++
			g.relations[0].refused++
			continue
		}
		if _, err := f.resolve(g, f.names, column.meaning, []byte(column.name), nil, -1, 0); err != nil {
			return err
		}
		if _, err := f.resolve(g, f.names, row, name, batch, -1, i); err != nil {
			return err
		}
		f.weights = append(f.weights[:0], weight)
		if f.factorRows {
			f.add(g, row, column.meaning)
		} else {
			f.add(g, column.meaning, row)
		}
	}
	return nil
}
