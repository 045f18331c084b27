package source

import (
	"math"

	"tcbuild/fault"
	"tcbuild/ingest"
	"tcbuild/ingest/inputfile"
	"tcbuild/ingest/table"
)

// read reads the matrix into edges. The report counts its cells.
func (m *TFMatrixSpec) read(files *inputfile.Files, names *Names, loops SelfLoops,
	policy ingest.UnknownGenes) (*ingest.Edges, SourceReport, error) {
	delimiter, err := ParseDelimiter(m.Delimiter)
	if err != nil {
		return nil, SourceReport{}, err
	}
	file, err := files.Open(m.File)
	if err != nil {
		return nil, SourceReport{}, err
	}
	layout, err := openMatrix(file, table.TextOptions{Delimiter: delimiter, Columns: m.Columns})
	if err != nil {
		return nil, SourceReport{}, err
	}
	reader, err := table.OpenFile(file, layout.text)
	if err != nil {
		return nil, SourceReport{}, err
	}
	defer reader.Close()
	r := tfMatrixReader{names: names, policy: policy, met: newPairs(false), edges: &relation{
		name: m.Relation, weight: 0, carried: "weight", loops: loops, refusal: "with a weight of 0 or none",
		keep: func(weight float64) bool { return weight != 0 && !math.IsNaN(weight) },
	}}
	for _, name := range layout.names {
		r.factors = append(r.factors, names.named([]byte(name)))
	}
	cells := 0
	err = eachRow(reader, func(batch *table.Batch, i int) error {
		cells += len(r.factors)
		if err := r.row(batch, i); err != nil {
			return fault.New(fault.Input, fault.HintOf(err), "read edges %s: %w", reader.Where(batch.First+int64(i)), err)
		}
		return nil
	})
	if err != nil {
		return nil, SourceReport{}, err
	}
	r.edges.appendLoops(names.genes.Len())
	return r.edges.edges(), r.edges.report(m.File, cells, &r.missing), nil
}

// tfMatrixReader turns the rows of a matrix into edges.
type tfMatrixReader struct {
	names   *Names
	policy  ingest.UnknownGenes
	factors []namedGene
	edges   *relation
	met     *pairs
	states  []pairState // per pair
	missing missingNames
}

// row reads the cells of a target. Its errors do not name the row.
func (r *tfMatrixReader) row(batch *table.Batch, i int) error {
	target := r.names.named(unquote(batch.Text(0, i)))
	for k, factor := range r.factors {
		weight, err := finite(batch, 1+k, i)
		if err != nil {
			return fault.New(fault.Input, "", "factor %q: %w", factor.name, err)
		}
		if !r.edges.keep(weight) {
			r.edges.refused++
			continue
		}
		for _, end := range []namedGene{factor, target} {
			if end.result == gene {
				continue
			}
			if err := ingest.CheckGeneName([]byte(end.name)); err != nil {
				return err
			}
			if r.policy == ingest.RefuseUnknownGenes {
				return fault.New(fault.Input, unknownGenesHint, "%s", r.names.describe(end.name, end.result))
			}
			r.missing.add(end.name)
		}
		if r.missing.count([2]found{factor.result, target.result}) {
			continue
		}
		pair, meeting := r.met.meet(factor.gene, target.gene)
		if meeting == first {
			r.states = append(r.states, pairState{})
		}
		r.edges.add(factor.gene, target.gene, weight, meeting, &r.states[pair])
	}
	return nil
}
