package source

import (
	"bytes"
	"fmt"
	"strings"

	"tcbuild/ingest/inputfile"
	"tcbuild/ingest/table"
)

// open prepares a STRING links file for reading.
func (l *LinksSpec) open(files *inputfile.Files, loops SelfLoops) (*edgeFile, error) {
	reader, err := openTable(files, l.File, table.TextOptions{Delimiter: ' '})
	if err != nil {
		return nil, err
	}
	file := &edgeFile{path: l.File, reader: reader, undirected: true, name: stringNames(), groupBy: -1}
	numbers := make([]int, 2+len(l.Columns))
	for k, column := range append([]string{"protein1", "protein2"}, l.Columns...) {
		if numbers[k], err = findColumn(reader, l.File, column); err != nil {
			reader.Close()
			return nil, err
		}
	}
	file.source, file.target = numbers[0], numbers[1]
	keep, refusal := l.condition("score")
	group := &edgeGroup{}
	for k, column := range l.Columns {
		group.relations = append(group.relations, &relation{
			name: l.relation(column), weight: numbers[2+k], carried: "score", loops: loops,
			keep: keep, refusal: refusal,
		})
	}
	file.groups = []*edgeGroup{group}
	return file, nil
}

// relation is the name of the edges from a score column.
func (l *LinksSpec) relation(column string) string {
	return strings.ReplaceAll(l.Relation, "{column}", column)
}

// stringNames reads the systematic names from STRING ids, <taxon>.<systematic name>. Most ids have
// the taxon of the one before.
func stringNames() nameReader {
	var prefix []byte
	return func(batch *table.Batch, column, i int) ([]byte, error) {
		id := batch.Text(column, i)
		if len(prefix) > 0 && bytes.HasPrefix(id, prefix) {
			return id[len(prefix):], nil
		}
		taxon, name, ok := bytes.Cut(id, []byte("."))
		if !ok || !isNumber(taxon) {
			return nil, fmt.Errorf("found %q, expected an id such as 4932.YAL001C", id)
		}
		prefix = append(append(prefix[:0], taxon...), '.')
		return name, nil
	}
}

// isNumber reports whether a text is one or more digits. bytes.Trim takes a tenth of the time of
// parsing.
func isNumber(text []byte) bool {
	for _, c := range text {
		if c < '0' || c > '9' {
			return false
		}
	}
	return len(text) > 0
}
