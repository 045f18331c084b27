package source

import (
	"math"

	"tcbuild/fault"
	"tcbuild/ingest"
	"tcbuild/ingest/table"
)

// edgeFile is a table whose rows become edges of one or more types, in one pass.
type edgeFile struct {
	path           string
	reader         *table.Reader // read to its end and closed by read
	source, target int           // columns
	name           nameReader
	undirected     bool
	unknown        ingest.UnknownGenes
	// index in refused of the reason to drop a row, or -1; if nil, no row is refused
	refuse    func(batch *table.Batch, i int) int
	refused   []Count
	relations []*relation
}

// nameReader reads the name of a gene from a field; the bytes are valid as long as the batch. An
// error says what was found and expected.
type nameReader func(batch *table.Batch, column, i int) (name []byte, err error)

// read reads the file into the relations, and returns a report for each, in order. It takes some 50
// bytes per pair of genes and 16 more per relation.
func (f *edgeFile) read(names *Names) ([]SourceReport, error) {
	defer f.reader.Close()
	var (
		rows    int
		missing missingNames
		met     = newPairs(f.undirected)
		states  []pairState // per pair, one for each relation
		blank   = make([]pairState, len(f.relations))
		weights = make([]float64, len(f.relations))
	)
	err := eachRow(f.reader, func(batch *table.Batch, i int) error {
		rows++
		if f.refuse != nil {
			if reason := f.refuse(batch, i); reason >= 0 {
				f.refused[reason].N++
				return nil
			}
		}
		if err := f.readWeights(weights, batch, i); err != nil {
			return err
		}
		src, dst, ok, err := f.readEnds(batch, i, names, &missing)
		if err != nil || !ok {
			return err
		}
		pair, meeting := met.meet(src, dst)
		if meeting == first {
			states = append(states, blank...)
		}
		for k, r := range f.relations {
			r.add(src, dst, weights[k], meeting, &states[pair*len(f.relations)+k])
		}
		return nil
	})
	if err != nil {
		return nil, err
	}
	reports := make([]SourceReport, len(f.relations))
	for k, r := range f.relations {
		r.appendLoops(names.genes.Len())
		reports[k] = r.report(f.path, rows, &missing, f.refused...)
	}
	return reports, nil
}

// readEnds finds the genes of a row. ok is false if one was not found; missing then counts it.
func (f *edgeFile) readEnds(batch *table.Batch, i int, names *Names, missing *missingNames) (src, dst uint32, ok bool, err error) {
	var rows [2]uint32
	var results [2]found
	for end, column := range [2]int{f.source, f.target} {
		name, err := f.name(batch, column, i)
		if err != nil {
			return 0, 0, false, f.malformed(batch, column, i, err)
		}
		rows[end], results[end] = names.find(name)
		if results[end] == gene {
			continue
		}
		if err := ingest.CheckGeneName(name); err != nil {
			return 0, 0, false, f.malformed(batch, column, i, err)
		}
		if f.unknown == ingest.RefuseUnknownGenes {
			return 0, 0, false, fault.New(fault.Input, unknownGenesHint,
				"read edges %s: %s", f.where(batch, i), names.describe(string(name), results[end]))
		}
		missing.add(string(name))
	}
	return rows[0], rows[1], !missing.count(results), nil
}

// readWeights reads the weights of a row, one per relation; NaN if missing.
func (f *edgeFile) readWeights(weights []float64, batch *table.Batch, i int) error {
	for k, r := range f.relations {
		weights[k] = math.NaN()
		if r.weight < 0 {
			continue
		}
		weight, err := finite(batch, r.weight, i)
		if err != nil {
			return f.malformed(batch, r.weight, i, err)
		}
		weights[k] = weight
	}
	return nil
}

func (f *edgeFile) malformed(batch *table.Batch, column, i int, err error) error {
	return fault.New(fault.Input, fault.HintOf(err), "read edges %s: column %s: %w", f.where(batch, i),
		fault.Quote(f.reader.Columns()[column]), err)
}

func (f *edgeFile) where(batch *table.Batch, i int) string {
	return f.reader.Where(batch.First + int64(i))
}

// missingNames collects the names without a gene.
type missingNames struct {
	names                      map[string]bool
	unknownRows, ambiguousRows int
}

func (m *missingNames) add(name string) {
	if m.names == nil {
		m.names = make(map[string]bool)
	}
	m.names[name] = true
}

// count counts a row by the worse of its ends, and reports whether it names an unknown gene.
func (m *missingNames) count(ends [2]found) bool {
	switch max(ends[0], ends[1]) {
	case unknown:
		m.unknownRows++
	case ambiguous:
		m.ambiguousRows++
	default:
		return false
	}
	return true
}
