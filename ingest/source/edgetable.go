package source

import (
	"bytes"
	"cmp"
	"fmt"
	"maps"
	"math"
	"regexp"
	"slices"
	"strings"

	"tcbuild/conf"
	"tcbuild/fault"
	"tcbuild/ingest"
	"tcbuild/ingest/graph"
	"tcbuild/ingest/inputfile"
	"tcbuild/ingest/names"
	"tcbuild/ingest/table"
	"tcbuild/ingest/where"
)

// open prepares an edge table for reading.
func (t *EdgesSpec) open(files *inputfile.Files, types *nodeTypes) (*edgeFile, error) {
	file := &edgeFile{path: t.File, split: []byte(t.Split), rename: t.rename(), undirected: *t.Undirected, groupBy: -1, names: types.of(ingest.Gene)}
	file.row = file.tableRow
	file.ends[0].names, file.ends[1].names = types.of(t.FromType), types.of(t.ToType)
	var err error
	if file.name, err = t.nameReader(files); err != nil {
		return nil, err
	}
	patterns := t.relations()
	named := slices.Concat[[]string](t.From, t.To, t.Weight, slices.Sorted(maps.Keys(t.Keep)))
	_, by, _ := cutPlaceholder(patterns[0])
	if by != "" {
		named = append(named, by)
	}
	rows, columns, err := openRows(files, t.TextSpec, t.RowsSpec, named...)
	if err != nil {
		return nil, err
	}
	take := func(n int) (some []int) {
		some, columns = columns[:n], columns[n:]
		return some
	}
	file.rows, file.ends[0].columns, file.ends[1].columns = rows, take(len(t.From)), take(len(t.To))
	taken := graph.EndColumns
	for k, weight := range take(len(t.Weight)) {
		r := t.relation(patterns[k], weight, cmp.Or(t.WeightName, rows.Columns()[weight]))
		file.relations = append(file.relations, r)
		taken = append(taken[:len(taken):len(taken)], r.carried)
	}
	if len(t.Weight) == 0 {
		file.relations = []relation{t.relation(patterns[0], -1, "")}
	}
	if file.kept, err = keptColumns(rows.Reader, take(len(t.Keep)), t.Keep, t.Place, taken...); err != nil {
		rows.Close()
		return nil, err
	}
	if by != "" {
		file.groupBy = columns[0]
	}
	return file, nil
}

// relation makes an edge type with weights from a column, or without any if that is -1.
func (t *EdgesSpec) relation(name string, weight int, carried string) relation {
	keep, refusal := t.condition()
	return relation{kind: t.edgeType(name), weight: weight, carried: carried, keep: keep, limited: t.Cutoff.isSet(), refusal: refusal, loops: t.SelfLoops}
}

// relations are the names of the edge types, one per column of weights, in which {COLUMN} may stand
// for the value of a column.
func (t *EdgesSpec) relations() (all []string) {
	if len(t.Weight) == 0 {
		return []string{t.Relation}
	}
	for _, weight := range t.Weight {
		all = append(all, strings.ReplaceAll(t.Relation, "{column}", weight))
	}
	return all
}

func (t *EdgesSpec) edgeType(relation string) ingest.EdgeType {
	return ingest.EdgeType{Source: t.FromType, Relation: relation, Target: t.ToType}
}

// cutPlaceholder splits a relation at {COLUMN}. by is empty if it has none.
func cutPlaceholder(relation string) (before, by, after string) {
	before, rest, found := strings.Cut(relation, "{")
	by, after, closed := strings.Cut(rest, "}")
	if !found || !closed {
		return relation, "", ""
	}
	return before, by, after
}

// notInNames are characters that the name of an edge type cannot contain.
var notInNames = regexp.MustCompile(`[^A-Za-z0-9.-]+`)

// condition returns the condition that an edge's weight must meet, NaN if it is missing, and a
// description of the rows that do not meet it.
func (t *EdgesSpec) condition() (keep func(weight float64) bool, refusal string) {
	least, most := math.Inf(-1), math.Inf(1)
	if t.Min != nil {
		least = *t.Min
	}
	if t.Max != nil {
		most = *t.Max
	}
	what := "with no " + cmp.Or(t.WeightName, "weight")
	switch {
	case t.Min != nil && t.Max != nil:
		refusal = fmt.Sprintf("%s from %v to %v", what, least, most)
	case t.Max != nil:
		refusal = fmt.Sprintf("%s of at most %v", what, most)
	case t.Min != nil:
		refusal = fmt.Sprintf("%s of at least %v", what, least)
	case t.Nonzero || t.Matrix != "":
		return func(weight float64) bool { return weight != 0 && !math.IsNaN(weight) }, "with a weight of 0 or none"
	default:
		return func(float64) bool { return true }, ""
	}
	return func(weight float64) bool { return weight >= least && weight <= most }, refusal
}

// check returns an error for a range without values.
func (c Cutoff) check(place conf.Place) error {
	if c.Min != nil && c.Max != nil && *c.Min > *c.Max {
		return usage("", "%s: found min %v above max %v", place, *c.Min, *c.Max)
	}
	return nil
}

func (c Cutoff) isSet() bool { return c.Min != nil || c.Max != nil }

// nameReader reads fields literally or, in a table with an id list, by number.
func (t *EdgesSpec) nameReader(files *inputfile.Files) (nameReader, error) {
	if t.IDs == "" {
		return func(batch *table.Batch, column, i int) ([]byte, error) { return batch.Text(column, i), nil }, nil
	}
	ids, err := readIDs(files, t.IDs)
	if err != nil {
		return nil, err
	}
	return func(batch *table.Batch, column, i int) ([]byte, error) {
		number, missing, err := batch.Integer(column, i)
		if err != nil {
			return nil, err
		}
		line := number - int64(t.IndexBase)
		if missing || line < 0 || line >= int64(len(ids)) {
			return nil, fmt.Errorf("found %q, expected a number from %d to %d, as %s has %s",
				batch.Text(column, i), t.IndexBase, len(ids)-1+t.IndexBase, t.IDs, ingest.Plural(len(ids), "id", ""))
		}
		return ids[line], nil
	}, nil
}

// rename returns a function that finds the name after the prefix.
func (t *EdgesSpec) rename() func(field []byte) ([]byte, error) {
	prefix := []byte(t.StripPrefix)
	rest := nameIn(t.Name, t.UpperCase)
	return func(field []byte) ([]byte, error) {
		name, found := bytes.CutPrefix(field, prefix)
		if !found {
			return nil, fault.New(fault.Input, "set strip_prefix to the prefix of all names",
				"found %s, expected a name after %q", fault.Quote(field), prefix)
		}
		return rest(name)
	}
}

// nameIn returns a function that finds a name in a field: what the first group of a pattern
// matches, or all of it without one, in capitals if so wanted.
func nameIn(pattern string, upperCase bool) func(field []byte) ([]byte, error) {
	expression := regexp.MustCompile(pattern)
	return func(field []byte) ([]byte, error) {
		name := field
		if pattern != "" {
			found := expression.FindSubmatch(field)
			if found == nil {
				return nil, fmt.Errorf("found %s, expected what matches %s", fault.Quote(field), pattern)
			}
			name = found[1]
		}
		if upperCase {
			name = bytes.ToUpper(name)
		}
		return name, nil
	}
}

// readIDs reads a file with an id per line.
func readIDs(files *inputfile.Files, path string) ([][]byte, error) {
	reader, err := table.TextSpec{File: path, Delimiter: "tab", Columns: []string{"id"}}.Open(files)
	if err != nil {
		return nil, err
	}
	defer reader.Close()
	var ids [][]byte
	err = reader.Each(func(batch *table.Batch, i int) error {
		id := batch.Text(0, i)
		if len(id) == 0 {
			return fault.New(fault.Input, "", "read ids %s: the line is empty, expected an id", reader.Where(batch.First+int64(i)))
		}
		ids = append(ids, bytes.Clone(id))
		return nil
	})
	return ids, err
}

// valueColumn is a column of a matrix with the values of one gene.
type valueColumn struct {
	name   string // of the gene
	answer names.Answer
	column int
}

// openMatrix prepares a matrix for reading.
func (t *EdgesSpec) openMatrix(files *inputfile.Files, genes *nodeNames) (*edgeFile, error) {
	options, err := t.Options()
	if err != nil {
		return nil, err
	}
	file, err := files.Open(t.File)
	if err != nil {
		return nil, err
	}
	layout, err := table.OpenMatrix(file, options)
	if err != nil {
		return nil, err
	}
	for _, name := range t.Ignore {
		if !slices.Contains(layout.Names, name) {
			return nil, fault.New(fault.Input, fault.DidYouMean(name, layout.Names, "name an existing column, but not the first, which names the rows"),
				"read edges %s: found no column %s to ignore", t.File, fault.Quote(name))
		}
	}
	f := &edgeFile{path: t.File, rename: nameIn("", t.UpperCase), factorRows: t.Matrix == FactorRows, groupBy: -1, names: genes,
		relations: []relation{t.relation(t.Relation, 0, cmp.Or(t.WeightName, "weight"))}}
	f.row = f.matrixRow
	nameOf := nameIn(t.ColumnName, t.UpperCase)
	for k, name := range layout.Names {
		switch {
		case slices.Contains(t.Ignore, name):
			continue
		case name == "":
			f.nameless++
			continue
		}
		gene, err := nameOf([]byte(name))
		if err != nil {
			return nil, fault.New(fault.Input, "name a column without values in ignore", "read edges %s:%d: column %d: %w", t.File, 1+t.SkipLines, k+2, err)
		}
		f.values = append(f.values, valueColumn{string(gene), genes.find(gene), 1 + k})
	}
	reader, err := table.OpenFile(file, layout.Options)
	f.rows = &sourceRows{Table: &where.Table{Reader: reader}}
	return f, err
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
			return fault.New(fault.Input, fault.HintOf(err), "column %q: %w", column.name, err)
		}
		if !g.relations[0].keep(weight) {
			g.rows++
			g.relations[0].refused++
			continue
		}
		if _, err := f.resolve(g, f.names, column.answer, []byte(column.name)); err != nil {
			return fault.New(fault.Input, fault.HintOf(err), "column %q: %w", column.name, err)
		}
		if _, err := f.resolve(g, f.names, row, name); err != nil {
			return err
		}
		f.weights = append(f.weights[:0], weight)
		if f.factorRows {
			f.add(g, row, column.answer)
		} else {
			f.add(g, column.answer, row)
		}
	}
	return nil
}
