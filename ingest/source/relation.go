package source

import (
	"maps"
	"math"
	"slices"
	"unicode/utf8"

	"github.com/apache/arrow/go/v17/arrow"
	"github.com/apache/arrow/go/v17/arrow/array"
	"github.com/apache/arrow/go/v17/arrow/memory"

	"tcbuild/conf"
	"tcbuild/fault"
	"tcbuild/ingest"
	"tcbuild/ingest/table"
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
		appended = f.names.nodes.Len()
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

	report := SourceReport{Made: r.kind.String(), File: f.path, Rows: g.rows + f.rows.refusal.rows(), Kept: edges.Len() - appended, AllKept: r.limited && r.refused == 0}
	report.drop(f.rows.refused...)
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
		report.noteAgain("names read as "+f.names.kinds[k], n)
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
		err = checkUTF8(c.text)
	}
	return c, err
}

// checkUTF8 returns an error for a text that no graph could carry.
func checkUTF8(text []byte) error {
	if utf8.Valid(text) {
		return nil
	}
	return fault.New(fault.Input, "save the file as UTF-8 text", "found %s, which is not valid UTF-8", fault.Quote(text))
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

// pairs remembers the pairs of genes in an edge source, in a table with linear probing: it takes 19
// to 30 bytes per pair, and less time than a map. In an undirected source, both directions of a
// pair are the same.
type pairs struct {
	undirected bool
	known      []uint64 // in order of first occurrence
	// their number is a power of two; at most three quarters of them are filled
	slots []pairSlot
}

// firstBackward is set in an undirected pair that was first seen with the greater gene first. The
// numbers of genes are below it.
const firstBackward = 1 << 63

// pairSlot is the number of a known pair, from 1, and its hash, which tells most others apart; 0 is
// an empty slot.
type pairSlot struct{ hash, number uint32 }

// meeting compares a row's pair of genes with earlier rows.
type meeting uint8

const (
	first    meeting = iota
	same             // directed: the edge occurred before
	repeated         // undirected: the pair occurred before, and first in this direction
	reversed         // undirected: the pair occurred before, and first in the other direction
)

func newPairs(undirected bool) *pairs {
	return &pairs{undirected: undirected, slots: make([]pairSlot, 1<<10)}
}

// meet returns the number of the pair, from 0 in order of first occurrence.
func (p *pairs) meet(src, dst uint32) (pair int, m meeting) {
	backward := p.undirected && src > dst
	if backward {
		src, dst = dst, src
	}
	both := uint64(src)<<32 | uint64(dst)
	hash := uint32(both * 0x9e3779b97f4a7c15 >> 32)
	slot := p.find(hash, both)
	pair = int(slot.number) - 1
	switch {
	case pair < 0:
		*slot = pairSlot{hash, uint32(len(p.known)) + 1}
		if backward {
			both |= firstBackward
		}
		p.known = push(p.known, both)
		if 4*len(p.known) > 3*len(p.slots) {
			p.grow()
		}
		return len(p.known) - 1, first
	case !p.undirected:
		return pair, same
	case (p.known[pair]&firstBackward != 0) == backward:
		return pair, repeated
	default:
		return pair, reversed
	}
}

// find returns the slot of a pair, or the empty one where it belongs.
func (p *pairs) find(hash uint32, pair uint64) *pairSlot {
	last := uint32(len(p.slots) - 1)
	for i := hash & last; ; i = (i + 1) & last {
		slot := &p.slots[i]
		if slot.number == 0 || slot.hash == hash && p.known[slot.number-1]&^firstBackward == pair {
			return slot
		}
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

func (p *pairs) grow() {
	old := p.slots
	p.slots = make([]pairSlot, 2*len(old))
	last := uint32(len(p.slots) - 1)
	for _, slot := range old {
		i := slot.hash & last
		for p.slots[i].number != 0 {
			i = (i + 1) & last
		}
		if slot.number != 0 {
			p.slots[i] = slot
		}
	}
}
