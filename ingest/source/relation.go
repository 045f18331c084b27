package source

import (
	"math"

	"tcbuild/ingest"
)

// relation is an edge type under construction.
type relation struct {
	kind    ingest.EdgeType
	weight  int                       // column of the weight, or -1
	carried string                    // name for the weight's column in the graph
	keep    func(weight float64) bool // a missing weight is NaN
	refusal string                    // description of rows that fail keep, for the report
	loops   SelfLoops

	src, dst list[uint32]
	weights  list[float64] // as long as src if there is a weight
	kept     []keptValues

	refused, loopsDropped, reversed, repeated int // rows dropped
	duplicates, differing, appended           int // noted
}

// pairState is what a relation knows about a pair of genes.
type pairState struct {
	weight float64 // at its first occurrence
	stored bool
}

// add counts a row and stores its edge, unless the row is to be dropped. state belongs to its pair.
func (r *relation) add(src, dst uint32, weight float64, cells []cell, state *pairState, m meeting) {
	if m == first {
		state.weight = weight
	} else if weight != state.weight && !(math.IsNaN(weight) && math.IsNaN(state.weight)) {
		r.differing++
	}
	switch {
	case !r.keep(weight):
		r.refused++
	case src == dst && r.loops != LoopsKeep:
		r.loopsDropped++
	case m == repeated && state.stored:
		r.repeated++
	case m == reversed && state.stored:
		r.reversed++
	default:
		if m != first && state.stored {
			r.duplicates++
		}
		state.stored = true
		r.store(src, dst, weight)
		for k, values := range r.kept {
			values.append(cells[k])
		}
	}
}

func (r *relation) keepColumns(columns []keptColumn) {
	for _, column := range columns {
		r.kept = append(r.kept, newKeptValues(column))
	}
}

func (r *relation) store(src, dst uint32, weight float64) {
	r.src.append(src)
	r.dst.append(dst)
	if r.weight >= 0 {
		r.weights.append(weight)
	}
}

// appendLoops adds a self loop without weight for every gene, if the relation asks for them.
func (r *relation) appendLoops(genes int) {
	if r.loops != LoopsAppend {
		return
	}
	for row := range uint32(genes) {
		r.store(row, row, math.NaN())
		for _, values := range r.kept {
			values.append(cell{missing: true})
		}
	}
	r.appended = genes
}

// edges returns the edge table, in row order.
func (r *relation) edges() *ingest.Edges {
	edges := &ingest.Edges{Type: r.kind, Src: r.src.all(), Dst: r.dst.all()}
	if r.weight >= 0 {
		edges.Columns = []ingest.Column{ingest.NumberColumn(r.carried, r.weights.all())}
	}
	for _, values := range r.kept {
		edges.Columns = append(edges.Columns, values.values())
	}
	return edges
}

func (r *relation) report(file string, rows int, missing *missingNames, refused ...Count) SourceReport {
	report := SourceReport{Made: r.kind.String(), File: file, Rows: rows, Kept: r.src.length - r.appended}
	report.drop(refused...)
	missing.account(&report)
	report.drop(
		Count{r.refusal, r.refused},
		Count{"self loops", r.loopsDropped},
		Count{"the other direction of an earlier row", r.reversed},
		Count{"repeating an earlier row", r.repeated},
	)
	report.note(
		Count{"kept although an earlier row has the same genes", r.duplicates},
		Count{"with another weight than the first row of the pair", r.differing},
		Count{"self loops appended", r.appended},
	)
	return report
}
