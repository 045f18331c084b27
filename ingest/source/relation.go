package source

import (
	"maps"
	"math"
	"slices"

	"github.com/apache/arrow/go/v17/arrow"
	"github.com/apache/arrow/go/v17/arrow/array"
	"github.com/apache/arrow/go/v17/arrow/memory"

	"tcbuild/conf"
	"tcbuild/fault"
	"tcbuild/ingest"
	"tcbuild/ingest/table"
	"tcbuild/internal/pairs"
)

// relation is an edge type under construction.
type relation struct {
	kind    ingest.EdgeType
	weight  int                       // column of the weight, or -1
	carried string                    // name for the weight's column in the graph
	keep    func(weight float64) bool // a missing weight is NaN
	limited bool                      // keep is a min or max
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
func (r *relation) add(src, dst uint32, weight float64, cells []cell, state *pairState, m pairs.Meeting) {
	if m == pairs.First {
		state.weight = weight
	} else if weight != state.weight && !(math.IsNaN(weight) && math.IsNaN(state.weight)) {
		r.differing++
	}
	switch {
	case !r.keep(weight):
		r.refused++
	case src == dst && r.loops != LoopsKeep:
		r.loopsDropped++
	case m == pairs.Repeated && state.stored:
		r.repeated++
	case m == pairs.Reversed && state.stored:
		r.reversed++
	default:
		if m != pairs.First && state.stored {
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
func (f *edgeFile) finish(g *edgeGroup, r *relation) (*ingest.Edges, *ingest.Account, error) {
	rows, done, err := r.ablate(f.ablation, f.undirected)
	if err != nil {
		return nil, nil, fault.New(fault.Input, fault.HintOf(err), "read edges %s: %w", f.path, err)
	}
	edges := &ingest.Edges{Type: r.kind, Src: r.src, Dst: r.dst}
	appended := 0
	if r.loops == LoopsAppend {
		appended = f.names.Nodes().Len()
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
			return nil, nil, err
		}
		edges.Columns = append(edges.Columns, ingest.Column{Name: f.kept[k].name, Values: all})
	}

	report := &ingest.Account{Made: r.kind.String(), File: f.path, Kept: edges.Len() - appended}
	report.Rows = g.rows
	report.Merge(&f.rows.refused)
	g.missing.account(report)
	report.Add(ingest.WeightOutside, r.refusal, r.refused)
	report.Add(ingest.SelfLoop, "", r.loopsDropped)
	report.Add(ingest.OtherDirection, "", r.reversed)
	report.Add(ingest.RepeatedRow, "", r.repeated)
	report.Add(ingest.RowAgain, "", r.duplicates)
	report.Add(ingest.OtherWeight, "", r.differing)
	report.Add(ingest.LoopAppended, "", appended)
	if r.limited && r.refused == 0 {
		report.Add(ingest.WeightsInside, "", g.rows)
	}
	done.account(report, f.ablation)
	for k, n := range g.byKind {
		report.Add(ingest.ReadAs, f.names.Labels()[k], n)
	}
	return edges, report, nil
}

// KeptType is the type of a column that edges keep.
type KeptType string

const (
	KeptNumber  KeptType = "number"  // float64
	KeptInteger KeptType = "integer" // int64
	KeptText    KeptType = "text"    // utf8
)

func (t KeptType) arrow() arrow.DataType {
	switch t {
	case KeptNumber:
		return arrow.PrimitiveTypes.Float64
	case KeptInteger:
		return arrow.PrimitiveTypes.Int64
	default:
		return arrow.BinaryTypes.String
	}
}

// keptColumn is a column of a table whose values edges keep. A missing value is a null.
type keptColumn struct {
	column int
	name   string
	kind   KeptType
}

// keptColumns finds the columns to keep, in the order of the file. numbers has the column number of
// each name in keep, in the order of the sorted names. No column may have a name in taken.
func keptColumns(reader *table.Reader, numbers []int, keep map[string]KeptType, place conf.Place, taken ...string) (kept []keptColumn, err error) {
	for k, key := range slices.Sorted(maps.Keys(keep)) {
		name := reader.Columns()[numbers[k]]
		if slices.Contains(taken, name) {
			return nil, usage("keep other columns, or rename it by naming the file's columns", "%s.keep: there is a column %q already", place, name)
		}
		taken = append(taken[:len(taken):len(taken)], name)
		kept = append(kept, keptColumn{numbers[k], name, keep[key]})
	}
	slices.SortFunc(kept, func(a, b keptColumn) int { return a.column - b.column })
	return kept, nil
}

// cell is a value of a kept column.
type cell struct {
	missing bool
	number  float64
	integer int64
	text    []byte // valid as long as its batch
}

func (k keptColumn) read(batch *table.Batch, i int) (c cell, err error) {
	switch k.kind {
	case KeptNumber:
		c.number, c.missing, err = batch.Number(k.column, i)
	case KeptInteger:
		c.integer, c.missing, err = batch.Integer(k.column, i)
	default:
		c.text, c.missing = batch.Text(k.column, i), batch.Missing(k.column, i)
		err = table.CheckUTF8(c.text)
	}
	return c, err
}

func (k keptColumn) builder() array.Builder {
	return array.NewBuilder(memory.DefaultAllocator, k.kind.arrow())
}

func (c cell) appendTo(builder array.Builder) {
	if c.missing {
		builder.AppendNull()
		return
	}
	switch b := builder.(type) {
	case *array.Float64Builder:
		b.Append(c.number)
	case *array.Int64Builder:
		b.Append(c.integer)
	case *array.StringBuilder:
		b.BinaryBuilder.Append(c.text)
	}
}

// push appends to a slice that may become long, whose memory doubles: append would copy it more
// often.
func push[T any](to []T, value T) []T {
	if len(to) == cap(to) {
		to = slices.Grow(to, len(to)+1)
	}
	return append(to, value)
}
