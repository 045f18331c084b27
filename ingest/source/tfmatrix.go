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

// cells makes the edges of a row of a matrix.
func (f *edgeFile) cells(batch *table.Batch, i int) error {
	g := f.groups[0]
	name, err := f.rename(batch.Text(0, i))
	if err != nil {
		return err
	}
	row := f.names.named(name)
	for _, column := range f.values {
		g.rows++
		weight, err := batch.Finite(column.column, i)
		if err != nil {
			return fault.New(fault.Input, fault.HintOf(err), "read edges %s: column %q: %w", f.where(batch, i), column.name, err)
		}
		if !g.relations[0].keep(weight) {
			g.relations[0].refused++
			continue
		}
		if err := cmp.Or(f.named(g, column.namedGene, nil, 0), f.named(g, row, batch, i)); err != nil {
			return err
		}
		factor, target := column.namedGene, row
		if f.factorRows {
			factor, target = row, column.namedGene
		}
		if !g.missing.count([2]found{factor.result, target.result}) {
			g.edges, g.weights = append(g.edges, edge{src: factor.gene, dst: target.gene}), append(g.weights, weight)
		}
	}
	return nil
}

// named notes a name without a gene, or returns an error for it. batch is nil for a name in the header.
func (f *edgeFile) named(g *edgeGroup, n namedGene, batch *table.Batch, i int) error {
	if n.result == gene {
		return nil
	}
	if err := ingest.CheckGeneName([]byte(n.name)); err != nil {
		return fault.New(fault.Input, fault.HintOf(err), "read edges %s: %w", f.where(batch, i), err)
	}
	if f.unknown == ingest.RefuseUnknownGenes {
		return fault.New(fault.Input, f.names.unknownHint(n.name), "read edges %s: %s", f.where(batch, i), f.names.describe(n.name, n.result))
	}
	g.missing.add(n.name)
	return nil
}
