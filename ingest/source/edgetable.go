package source

import (
	"bytes"
	"fmt"
	"maps"
	"math"
	"regexp"
	"slices"
	"strings"

	"tcbuild/fault"
	"tcbuild/ingest"
	"tcbuild/ingest/inputfile"
	"tcbuild/ingest/table"
	"tcbuild/ingest/where"
)

// open prepares an edge table for reading. place is where its settings are, for errors.
func (t *EdgeTableSpec) open(files *inputfile.Files, place string, loops SelfLoops) (*edgeFile, error) {
	name, err := t.nameReader(files)
	if err != nil {
		return nil, err
	}
	reader, err := t.TextSpec.open(files)
	if err != nil {
		return nil, err
	}
	file := &edgeFile{path: t.File, reader: reader, name: name, rename: t.rename(), undirected: *t.Undirected, groupBy: -1}
	if t.Split != "" {
		file.split = []byte(t.Split)
	}
	if err := t.useColumns(file, place, loops); err != nil {
		reader.Close()
		return nil, err
	}
	return file, nil
}

// useColumns sets what a file does with its columns.
func (t *EdgeTableSpec) useColumns(file *edgeFile, place string, loops SelfLoops) (err error) {
	column := func(name string) (number int) {
		if err == nil && name != "" {
			number, err = findColumn(file.reader, t.File, name)
		}
		return number
	}
	file.source, file.target = column(t.Source), column(t.Target)
	edges := relation{weight: -1, loops: loops}
	edges.keep, edges.refusal = t.condition()
	if t.Weight != "" {
		edges.weight = column(t.Weight)
		edges.carried = file.reader.Columns()[edges.weight]
	}
	for _, name := range slices.Sorted(maps.Keys(t.Keep)) {
		number := column(name)
		file.kept = append(file.kept, keptColumn{number, file.reader.Columns()[number], t.Keep[name]})
	}
	slices.SortFunc(file.kept, func(a, b keptColumn) int { return a.column - b.column })
	for k, kept := range file.kept {
		if kept.name == edges.carried || k > 0 && kept.column == file.kept[k-1].column || slices.Contains(ingest.EndColumns, kept.name) {
			return usage("keep other columns, or rename it by naming the file's columns", "%s.keep: the edges have a column %q already", place, kept.name)
		}
	}
	before, by, after := t.groupedBy()
	newGroup := func(value string) *edgeGroup {
		r := edges
		r.name = before + value + after
		return &edgeGroup{relations: []*relation{&r}}
	}
	if by == "" {
		file.groups = []*edgeGroup{newGroup("")}
	} else {
		file.groupBy = column(by)
		file.groupOf = func(value []byte) (*edgeGroup, error) {
			g := newGroup(notInNames.ReplaceAllString(string(value), "_"))
			for _, other := range file.groups {
				if other.relations[0].name == g.relations[0].name {
					return nil, fmt.Errorf("found %q, whose edge type %s another value has as well", value, g.relations[0].name)
				}
			}
			if !relationName.MatchString(g.relations[0].name) {
				return nil, fmt.Errorf("found %q, expected what the name of an edge type can contain: letters, digits, . and -", value)
			}
			return g, nil
		}
	}
	if err != nil || t.Where == "" {
		return err
	}
	return t.useWhere(file, place)
}

// useWhere makes a file refuse the rows for which the expression is not true.
func (t *EdgeTableSpec) useWhere(file *edgeFile, place string) error {
	keeps, err := rowFilter(place, t.Where, file.reader.Columns())
	if err != nil {
		return err
	}
	file.refused = []Count{{What: notKept}}
	file.refuse = func(batch *table.Batch, i int) (int, error) {
		keep, err := keeps(batch, i)
		if keep || err != nil {
			return -1, err
		}
		return 0, nil
	}
	return nil
}

const notKept = "not kept by where"

// rowFilter compiles an expression over the rows of a table with these columns.
func rowFilter(place, expression string, names []string) (keeps func(batch *table.Batch, i int) (bool, error), err error) {
	filter, used, err := where.CompileRows("check graph settings: "+place+".where", expression, names)
	if err != nil {
		return nil, err
	}
	columns := make([]keptColumn, len(used))
	for k, u := range used {
		columns[k] = keptColumn{slices.Index(names, u.Name), u.Name, KeptText}
		if u.Type == ingest.NumberAttribute {
			columns[k].kind = KeptNumber
		}
	}
	row := where.Sample{Attributes: make([]ingest.Value, len(used))}
	return func(batch *table.Batch, i int) (bool, error) {
		for k, column := range columns {
			c, err := column.read(batch, i)
			if err != nil {
				return false, fmt.Errorf("column %s, which where has as a %s: %w", fault.Quote(column.name), column.kind, err)
			}
			row.Attributes[k] = ingest.Value{Number: c.number, Text: c.text}
			if c.missing {
				row.Attributes[k] = ingest.Value{Number: math.NaN()}
			}
		}
		return filter.Keeps(&row), nil
	}, nil
}

// groupedBy splits the relation at {COLUMN}. by is empty if it has none.
func (t *EdgeTableSpec) groupedBy() (before, by, after string) {
	before, rest, found := strings.Cut(t.Relation, "{")
	by, after, closed := strings.Cut(rest, "}")
	if !found || !closed {
		return t.Relation, "", ""
	}
	return before, by, after
}

// notInNames are characters that the name of an edge type cannot contain.
var notInNames = regexp.MustCompile(`[^A-Za-z0-9.-]+`)

// condition returns the condition that an edge's weight must meet, and a description of the rows
// that do not meet it.
func (t *EdgeTableSpec) condition() (keep func(weight float64) bool, refusal string) {
	switch {
	case t.isSet():
		return t.Cutoff.condition("weight")
	case t.Nonzero:
		return nonzero, nonzeroRefusal
	default:
		return func(float64) bool { return true }, ""
	}
}

// nameReader reads fields literally or, in a table with an id list, by number.
func (t *EdgeTableSpec) nameReader(files *inputfile.Files) (nameReader, error) {
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
				batch.Text(column, i), t.IndexBase, len(ids)-1+t.IndexBase, t.IDs, plural(len(ids), "id", ""))
		}
		return ids[line], nil
	}, nil
}

// rename returns what finds a name behind the prefix.
func (t *EdgeTableSpec) rename() func(field []byte) ([]byte, error) {
	prefix := []byte(t.StripPrefix)
	rest := nameIn(t.Name, t.UpperCase)
	return func(field []byte) ([]byte, error) {
		name, found := bytes.CutPrefix(field, prefix)
		if !found {
			return nil, fmt.Errorf("found %s, expected a name behind %q", fault.Quote(field), prefix)
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
	reader, err := openTable(files, path, table.TextOptions{Delimiter: '\t', Columns: []string{"id"}})
	if err != nil {
		return nil, err
	}
	defer reader.Close()
	var ids [][]byte
	err = eachRow(reader, func(batch *table.Batch, i int) error {
		id := batch.Text(0, i)
		if len(id) == 0 {
			return fault.New(fault.Input, "", "read ids %s: the line is empty, expected an id", reader.Where(batch.First+int64(i)))
		}
		ids = append(ids, bytes.Clone(id))
		return nil
	})
	return ids, err
}
