package networks

import (
	"math"
	"slices"

	"github.com/apache/arrow/go/v17/arrow"
	"github.com/apache/arrow/go/v17/arrow/array"
	"github.com/apache/arrow/go/v17/arrow/memory"

	"tcbuild/fault"
	"tcbuild/ingest"
	"tcbuild/ingest/names"
	"tcbuild/internal/pairs"
)

// edge is what a row says.
type edge struct {
	from, to node
	weights  []float64 // one for each relation, NaN if it is missing
	kept     []Value   // of the columns that are kept
	row      int64
}

// node is an end of an edge.
type node struct {
	name   []byte // as it is written
	answer names.Answer
}

// collector makes edge types of the edges of a file: of all, or of those with one value in a
// column. They have the same pairs of nodes; each has a weight of its own:
//
//	YAL001C YBR123C 902 0    →  experiments: the edge, with the weight 902
//	                            textmining: none, as its weight is 0
type collector struct {
	relations []*relation
	ofTypes   bool           // of two node types
	lost      ingest.Account // of the edges without a node
	met       *pairs.Set
	states    []pairState // of the pairs, by relation
	levels    []int       // names by their level, without ids of genes

	// The edges of the batch at hand wait until the nodes of all are known, as looking up one pair
	// after the other, with nothing in between, takes a fraction of the time.
	waiting []waitingEdge
	weights []float64 // of each edge, by relation
	kept    []Value   // of each edge, by kept column
}

type waitingEdge struct {
	src, dst uint32
	pair     int // its number
	meeting  pairs.Meeting
	row      int64
}

// pairState is what a relation knows about a pair of nodes.
type pairState struct {
	weight float64 // at its first occurrence
	stored bool
}

// add counts an edge, and keeps it for flush unless it lacks a node.
func (c *collector) add(e *edge) {
	lost := &e.from
	if isTargetsFault(e.from.answer.Meaning, e.to.answer.Meaning) {
		lost = &e.to
	}
	if lost.answer.Meaning == names.Gene {
		c.waiting = append(c.waiting,
			waitingEdge{src: e.from.answer.Gene, dst: e.to.answer.Gene, row: e.row})
		c.weights, c.kept = append(c.weights, e.weights...), append(c.kept, e.kept...)
		return
	}
	why, detail := lost.answer.Reason(), ""
	if c.ofTypes && why == ingest.UnknownGene {
		why, detail = ingest.UnknownNode, "nodes"
	}
	c.lost.Drop(why, detail, e.row, lost.name)
	c.lost.Rows++
}

// isTargetsFault reports whether an edge is dropped for its target's name: it is ambiguous, or the
// source's name is fine.
func isTargetsFault(from, to names.Meaning) bool {
	return to == names.Ambiguous || from == names.Gene
}

// flush adds the waiting edges to the relations.
func (c *collector) flush() {
	for i := range c.waiting {
		e := &c.waiting[i]
		e.pair, e.meeting = c.met.Meet(e.src, e.dst)
	}
	n := len(c.relations)
	width := 0
	if len(c.waiting) > 0 {
		width = len(c.kept) / len(c.waiting)
	}
	for i, e := range c.waiting {
		if e.meeting == pairs.First {
			for range n {
				c.states = push(c.states, pairState{})
			}
		}
		kept := c.kept[i*width : (i+1)*width]
		for k, r := range c.relations {
			r.add(e, c.weights[i*n+k], kept, &c.states[e.pair*n+k])
		}
	}
	c.waiting, c.weights, c.kept = c.waiting[:0], c.weights[:0], c.kept[:0]
}

// relation is an edge type under construction.
type relation struct {
	kind       ingest.EdgeType
	weightName string // of the weight in the graph; "": it has none
	condition  condition
	loops      SelfLoops
	account    *ingest.Account

	src, dst []uint32
	weights  []float64       // as long as src if there is a weight
	kept     []array.Builder // of the columns that are kept
}

// add counts an edge, and stores it unless it is to be dropped. state belongs to its pair.
func (r *relation) add(e waitingEdge, weight float64, kept []Value, state *pairState) {
	if e.meeting == pairs.First {
		state.weight = weight
	} else if !isSame(weight, state.weight) {
		r.account.Add(ingest.OtherWeight, "", 1)
	}
	if !r.condition.isMet(weight) {
		r.refuse(e.row)
		return
	}
	r.account.Rows++
	switch {
	case e.src == e.dst && r.loops != LoopsKeep:
		r.account.Drop(ingest.SelfLoop, "", e.row, nil)
	case e.meeting == pairs.Repeated && state.stored:
		r.account.Drop(ingest.RepeatedRow, "", e.row, nil)
	case e.meeting == pairs.Reversed && state.stored:
		r.account.Drop(ingest.OtherDirection, "", e.row, nil)
	default:
		if state.stored {
			r.account.Add(ingest.RowAgain, "", 1)
		}
		state.stored = true
		r.src, r.dst = push(r.src, e.src), push(r.dst, e.dst)
		if r.weightName != "" {
			r.weights = push(r.weights, weight)
		}
		for k, builder := range r.kept {
			kept[k].AppendTo(builder)
		}
	}
}

// refuse counts an edge whose weight does not meet the condition.
func (r *relation) refuse(row int64) {
	r.account.Rows++
	r.account.Drop(ingest.WeightOutside, r.condition.refused, row, nil)
}

func isSame(a, b float64) bool { return a == b || math.IsNaN(a) && math.IsNaN(b) }

// finish makes the table of a relation, in the order of rows: it ablates the edges, and appends a
// self loop without weight of every gene if the relation asks for them. kept are the columns that
// are kept.
func (r *relation) finish(
	a Ablation, undirected bool, kept []Kept, genes int,
) (*ingest.Edges, error) {
	rows, err := r.ablate(a, undirected)
	if err != nil {
		return nil, err
	}
	r.account.Kept = len(r.src)
	appended := 0
	if r.loops == LoopsAppend {
		appended = genes
	}
	for row := range uint32(appended) {
		r.src, r.dst = append(r.src, row), append(r.dst, row)
		r.weights = append(r.weights, math.NaN())
	}
	r.account.Add(ingest.LoopAppended, "", appended)
	edges := &ingest.Edges{Type: r.kind, Src: r.src, Dst: r.dst}
	if r.weightName != "" {
		edges.Columns = []ingest.Column{ingest.NumberColumn(r.weightName, r.weights)}
	}
	for k, builder := range r.kept {
		values, err := keptValues(builder.NewArray(), rows, appended)
		if err != nil {
			return nil, fault.New(fault.Input, "keep fewer columns",
				"column %s: %w", fault.Quote(kept[k].Name), err)
		}
		edges.Columns = append(edges.Columns, ingest.Column{Name: kept[k].Name, Values: values})
	}
	return edges, nil
}

// keptValues returns the values of some rows, nil for all, and nulls after them.
func keptValues(values arrow.Array, rows []int, nulls int) (arrow.Array, error) {
	parts := []arrow.Array{values}
	if rows != nil {
		parts = nil
	}
	for _, row := range rows {
		parts = append(parts, array.NewSlice(values, int64(row), int64(row)+1))
	}
	parts = append(parts,
		array.MakeArrayOfNull(memory.DefaultAllocator, values.DataType(), nulls))
	return array.Concatenate(parts, memory.DefaultAllocator)
}

// push appends to a slice that may become long, whose memory doubles: append would copy it more
// often.
func push[T any](to []T, value T) []T {
	if len(to) == cap(to) {
		to = slices.Grow(to, len(to)+1)
	}
	return append(to, value)
}
