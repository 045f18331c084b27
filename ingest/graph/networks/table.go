package networks

import (
	"bytes"
	"cmp"
	"fmt"
	"math"
	"regexp"
	"slices"

	"tcbuild/fault"
	"tcbuild/ingest"
	"tcbuild/ingest/graph"
	"tcbuild/ingest/inputfile"
	"tcbuild/ingest/table"
	"tcbuild/ingest/where"
)

// tableReader makes the edges of an edge list.
type tableReader struct {
	*file
	from, to tableEnd
	weights  []int // columns, one for each relation, or none
	groupBy  int   // the column whose values have edge types of their own, if there is one
	byValue  map[string]*collector
	ids      [][]byte // of a table that gives their numbers
	name     *regexp.Regexp
	edge     edge // of the row at hand
}

// tableEnd is one of the two ends of a table's edges.
type tableEnd struct {
	*nodes
	areGenes bool   // whose names may have a prefix and more around them
	columns  []int  // the first that has a name counts
	found    []node // of the row at hand
}

// openTable prepares an edge list for reading.
func (f *file) openTable(files *inputfile.Files) (reader, error) {
	t := &tableReader{file: f, name: regexp.MustCompile(string(f.Name))}
	t.from = tableEnd{nodes: f.types.nodesOf(f.FromType), areGenes: f.FromType == ingest.Gene}
	t.to = tableEnd{nodes: f.types.nodesOf(f.ToType), areGenes: f.ToType == ingest.Gene}
	var err error
	if f.IDs != "" {
		if t.ids, err = readIDs(files, f.IDs); err != nil {
			return nil, err
		}
	}
	named := f.columns()
	_, by, _ := GroupedBy(f.Relations()[0])
	if by != "" {
		named = append(named, by)
	}
	var columns []int
	if f.rows, columns, err = where.OpenTable(files, f.TextSpec, f.RowsSpec, named...); err != nil {
		return nil, err
	}
	next := func(n int) (some []int) {
		some, columns = columns[:n], columns[n:]
		return some
	}
	t.from.columns, t.to.columns = next(len(f.From)), next(len(f.To))
	t.weights = next(len(f.Weight))
	taken := slices.Clone(graph.EndColumns)
	for k, relation := range f.Relations() {
		weightName := ""
		if len(t.weights) > 0 {
			weightName = cmp.Or(f.WeightName, f.rows.Columns()[t.weights[k]])
		}
		f.relations = append(f.relations, f.relation(relation, weightName))
		taken = append(taken, weightName)
	}
	f.kept, err = NewKept(f.rows.Reader, next(len(f.Keep)), f.Keep, f.Place, taken...)
	if err != nil {
		f.rows.Close()
		return nil, err
	}
	if by == "" {
		f.newCollector("")
	} else {
		t.groupBy, t.byValue = columns[0], make(map[string]*collector)
	}
	return t, nil
}

// readIDs reads a file with an id per line.
func readIDs(files *inputfile.Files, path string) (ids [][]byte, err error) {
	in, err := table.TextSpec{File: path, Delimiter: "tab", Columns: []string{"id"}}.Open(files)
	if err != nil {
		return nil, err
	}
	defer in.Close()
	err = in.Each(func(batch *table.Batch, i int) error {
		id := batch.Text(0, i)
		if len(id) == 0 {
			return fault.New(fault.Input, "", "read ids %s: the line is empty, expected an id",
				in.Where(batch.First+int64(i)))
		}
		ids = append(ids, bytes.Clone(id))
		return nil
	})
	return ids, err
}

// read makes the edges of a row: of every source to every target.
func (t *tableReader) read(batch *table.Batch, i int) error {
	c, err := t.collector(batch, i)
	if err != nil {
		return err
	}
	if err := t.readValues(batch, i); err != nil {
		return err
	}
	for _, end := range []*tableEnd{&t.from, &t.to} {
		if err := t.readEnd(c, end, batch, i); err != nil {
			return err
		}
	}
	t.edge.row = batch.First + int64(i)
	for _, t.edge.from = range t.from.found {
		for _, t.edge.to = range t.to.found {
			c.add(&t.edge)
		}
	}
	return nil
}

// collector returns the collector of a row's edges.
func (t *tableReader) collector(batch *table.Batch, i int) (*collector, error) {
	if t.byValue == nil {
		return t.collectors[0], nil
	}
	value := batch.Text(t.groupBy, i)
	if c := t.byValue[string(value)]; c != nil {
		return c, nil
	}
	if batch.Missing(t.groupBy, i) {
		return nil, t.in(t.groupBy, fault.New(fault.Input,
			"drop such rows with where: not missing(…)",
			"found no value, expected one for the name of the edge type"))
	}
	c := t.newCollector(notInRelations.ReplaceAllString(string(value), "_"))
	made := c.relations[0].kind
	isTaken := func(other *collector) bool { return other != c && other.relations[0].kind == made }
	switch {
	case slices.ContainsFunc(t.collectors, isTaken):
		return nil, t.in(t.groupBy, fmt.Errorf(
			"found %q, whose edge type %s another value has as well", value, made.Relation))
	case !graph.IsRelation(made.Relation):
		return nil, t.in(t.groupBy, fmt.Errorf("found %q, expected what the name of an edge type "+
			"can contain: letters, digits, . and -", value))
	}
	t.byValue[string(value)] = c
	return c, nil
}

// readValues reads the weights of a row and the columns that are kept.
func (t *tableReader) readValues(batch *table.Batch, i int) error {
	e := &t.edge
	e.weights, e.kept = e.weights[:0], e.kept[:0]
	for _, column := range t.weights {
		weight, err := batch.Finite(column, i)
		if err != nil {
			return t.in(column, err)
		}
		e.weights = append(e.weights, weight)
	}
	if len(t.weights) == 0 {
		e.weights = append(e.weights, math.NaN())
	}
	for _, kept := range t.kept {
		value, err := kept.Read(batch, i)
		if err != nil {
			return err
		}
		e.kept = append(e.kept, value)
	}
	return nil
}

// readEnd finds the nodes of an end of a row.
func (t *tableReader) readEnd(c *collector, end *tableEnd, batch *table.Batch, i int) (err error) {
	var field []byte
	var column int
	for _, column = range end.columns {
		if field, err = t.field(batch, column, i); err != nil {
			return t.in(column, err)
		}
		if len(field) > 0 && string(field) != "-" {
			break
		}
	}
	end.found = end.found[:0]
	for more := true; more; {
		name := field
		if more = t.Split != ""; more {
			name, field, more = bytes.Cut(field, []byte(t.Split))
			name = bytes.TrimSpace(name)
		}
		found, err := t.node(end, name)
		if err == nil {
			err = t.note(c, end.nodes, &found)
		}
		if err != nil {
			return t.in(column, err)
		}
		end.found = append(end.found, found)
	}
	return nil
}

// field returns a field as a name: in a table with a list of ids, the id with its number.
func (t *tableReader) field(batch *table.Batch, column, i int) ([]byte, error) {
	if t.ids == nil {
		return batch.Text(column, i), nil
	}
	number, missing, err := batch.Integer(column, i)
	if err != nil {
		return nil, err
	}
	line := number - int64(t.IndexBase)
	if missing || line < 0 || line >= int64(len(t.ids)) {
		return nil, fmt.Errorf("found %q, expected a number from %d to %d, as %s has %s",
			batch.Text(column, i), t.IndexBase, len(t.ids)-1+t.IndexBase, t.IDs,
			ingest.Plural(len(t.ids), "id", ""))
	}
	return t.ids[line], nil
}

// node finds the node that a name means. Names of genes lose their prefix, and are found by the
// pattern.
func (t *tableReader) node(end *tableEnd, text []byte) (node, error) {
	name := text
	if end.areGenes {
		var hasPrefix bool
		if name, hasPrefix = bytes.CutPrefix(text, []byte(t.StripPrefix)); !hasPrefix {
			return node{}, fault.New(fault.Input, "set strip_prefix to the prefix of all names",
				"found %s, expected a name after %q", fault.Quote(text), t.StripPrefix)
		}
		var err error
		if name, err = nameIn(name, t.name, t.UpperCase); err != nil {
			return node{}, err
		}
	}
	return node{name, end.find(name)}, nil
}

// nameIn returns the name in a text: what the first group of a pattern matches, in capitals if so
// wanted. Without a pattern, it is the text.
func nameIn(text []byte, pattern *regexp.Regexp, upperCase bool) ([]byte, error) {
	name := text
	if pattern.NumSubexp() > 0 {
		match := pattern.FindSubmatch(text)
		if match == nil {
			return nil, fmt.Errorf("found %s, expected what matches %s", fault.Quote(text), pattern)
		}
		name = match[1]
	}
	if upperCase {
		name = bytes.ToUpper(name)
	}
	return name, nil
}
