package source

import (
	"math"

	"github.com/apache/arrow/go/v17/arrow"
	"github.com/apache/arrow/go/v17/arrow/array"
	"github.com/apache/arrow/go/v17/arrow/memory"

	"tcbuild/fault"
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

	src, dst []uint32
	weights  []float64       // as long as src if there is a weight
	kept     []array.Builder // of the file's kept columns

	refused, loopsDropped, reversed, repeated int // rows dropped
	duplicates, differing                     int // noted
}

// pairState is what a relation knows about a pair of nodes.
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
		r.src, r.dst = push(r.src, src), push(r.dst, dst)
		if r.weight >= 0 {
			r.weights = push(r.weights, weight)
		}
		for k, builder := range r.kept {
			cells[k].appendTo(builder)
		}
	}
}

// finish makes the table of a group's relation, in row order: it ablates the edges, and appends a
// self loop without weight of every gene if the relation asks for them.
func (f *edgeFile) finish(g *edgeGroup, r *relation) (*ingest.Edges, SourceReport, error) {
	rows, done, err := r.ablate(f.ablation, f.undirected)
	if err != nil {
		return nil, SourceReport{}, fault.New(fault.Input, fault.HintOf(err), "read edges %s: %w", f.path, err)
	}
	edges := &ingest.Edges{Type: r.kind, Src: r.src, Dst: r.dst}
	appended := 0
	if r.loops == LoopsAppend {
		appended = f.names.genes.Len()
	}
	for row := range uint32(appended) {
		edges.Src, edges.Dst, r.weights = append(edges.Src, row), append(edges.Dst, row), append(r.weights, math.NaN())
	}
	if r.weight >= 0 {
		edges.Columns = []ingest.Column{ingest.NumberColumn(r.carried, r.weights)}
	}
	for k, builder := range r.kept {
		values := builder.NewArray()
		parts := []arrow.Array{values}
		if rows != nil {
			parts = parts[:0]
			for _, row := range rows {
				parts = append(parts, array.NewSlice(values, int64(row), int64(row)+1))
			}
		}
		parts = append(parts, array.MakeArrayOfNull(memory.DefaultAllocator, values.DataType(), appended))
		all, err := array.Concatenate(parts, memory.DefaultAllocator)
		if err != nil {
			return nil, SourceReport{}, err
		}
		edges.Columns = append(edges.Columns, ingest.Column{Name: f.kept[k].name, Values: all})
	}

	report := SourceReport{Made: r.kind.String(), File: f.path, Rows: g.rows + f.refusal.rows(), Kept: edges.Len() - appended}
	report.drop(f.refusal.refused...)
	g.missing.account(&report)
	report.drop(
		Count{r.refusal, r.refused},
		Count{"self loops", r.loopsDropped},
		Count{"the other direction of an earlier row", r.reversed},
		Count{"repeating an earlier row", r.repeated},
	)
	report.note(
		Count{"kept although an earlier row has the same genes", r.duplicates},
		Count{"with another weight than the first row of the pair", r.differing},
		Count{"self loops appended", appended},
	)
	done.account(&report, f.ablation)
	for k, n := range g.byKind {
		report.note(Count{"genes found by " + f.names.kinds[k], n})
	}
	return edges, report, nil
}
