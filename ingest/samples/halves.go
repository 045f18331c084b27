package samples

import (
	"fmt"
	"math"
	"slices"

	"tcbuild/fault"
)

// halves compares the two cells of each pair of genes in a matrix: (a, b) and (b, a). A gene's
// place is its column, so that rows may have another order than columns.
//
// np.triu and fillna(0) fill one triangle with a constant, which would give each pair a false
// measurement. Rows and columns may have been sorted afterwards, so halves looks for a value that
// at least one cell of every pair has.
type halves struct {
	places  map[string]int // of genes by their names in the header
	placeOf map[uint32]int // of genes; -1 if several columns have the gene
	// by the places of the row's and the column's gene; nil until it is read
	rows     [][]float64
	triangle Triangle

	place  int    // of the row being read, or -1
	lone   bool   // there is a row without a column
	fills  []fill // what one cell of each pair has; at most two values
	pairs  int    // with two values
	equal  int    // pairs with two equal values
	differ string // the first two values that are not equal
}

// fill is a value that one cell of each pair has, and how many cells of unequal pairs do.
type fill struct {
	value        float64
	upper, lower int
}

func newHalves(columns []matrixColumn, triangle Triangle) *halves {
	h := &halves{places: make(map[string]int), placeOf: make(map[uint32]int), triangle: triangle}
	for _, column := range columns {
		if _, again := h.places[column.name]; again {
			continue
		}
		place := len(h.places)
		h.places[column.name] = place
		if !column.mention.isGene() {
			continue
		}
		if _, again := h.placeOf[column.mention.Answer.Gene]; again {
			place = -1
		}
		h.placeOf[column.mention.Answer.Gene] = place
	}
	h.rows = make([][]float64, len(h.places))
	return h
}

// placeOfRow returns the place of the column with a row's name or, if there is none, with its gene.
// It is -1 if there is neither.
func (h *halves) placeOfRow(name string, m *Mention) int {
	if place, named := h.places[name]; named {
		return place
	}
	if place, known := h.placeOf[m.Answer.Gene]; known && m.isGene() {
		return place
	}
	return -1
}

func (h *halves) startRow(name string, m *Mention) {
	if h.place = h.placeOfRow(name, m); h.place < 0 {
		h.lone = true
		return
	}
	if h.rows[h.place] == nil {
		h.rows[h.place] = slices.Repeat([]float64{math.NaN()}, len(h.rows))
	}
}

// addValue compares a value of the row with the value of the same pair in the other half, if that
// has been read, and reports whether they are equal.
func (h *halves) addValue(name, column string, value float64) (equal bool) {
	if h.place < 0 {
		return false
	}
	place := h.places[column]
	h.rows[h.place][place] = value
	if h.rows[place] == nil || place == h.place {
		return false
	}
	other := h.rows[place][h.place]
	if math.IsNaN(value) || math.IsNaN(other) {
		return false
	}
	upper, lower := value, other
	if place < h.place {
		upper, lower = other, value
	}
	h.compare(upper, lower)
	if value != other && h.differ == "" {
		h.differ = fmt.Sprintf("%v for %s and %v for %s", other,
			fault.Quote(column+": "+name), value, fault.Quote(name+": "+column))
	}
	return value == other
}

// compare counts the two values of a pair.
func (h *halves) compare(upper, lower float64) {
	if h.pairs++; h.pairs == 1 {
		h.fills = slices.Compact([]fill{{value: upper}, {value: lower}})
	}
	if upper == lower {
		h.equal++
		h.fills = slices.DeleteFunc(h.fills, func(f fill) bool { return f.value != upper })
		return
	}
	kept := h.fills[:0]
	for _, f := range h.fills {
		switch f.value {
		case upper:
			f.upper++
			kept = append(kept, f)
		case lower:
			f.lower++
			kept = append(kept, f)
		}
	}
	h.fills = kept
}

// leavesOut reports whether the row's cell in a column is in the triangle that is not read.
func (h *halves) leavesOut(column string) bool {
	place := h.places[column]
	switch {
	case h.place < 0:
		return false
	case h.triangle == UpperTriangle:
		return place < h.place
	}
	return h.triangle == LowerTriangle && place > h.place
}

// asymmetric returns an error if some pairs have two equal values and others do not, unless one
// triangle may still turn out to be filled.
func (h *halves) asymmetric() error {
	mayBeFilled := h.triangle == "" && len(h.fills) > 0
	if h.differ == "" || h.equal == 0 || mayBeFilled {
		return nil
	}
	const hint = "correct the matrix; if pairs were measured both ways, " +
		"choose with --duplicates what to do with their two values"
	return fault.New(fault.Input, hint,
		"found %s, expected one value, as other cells of the two halves are equal", h.differ)
}

// filled returns an error if one cell of each pair has the same value, but not all cells have it,
// and the settings do not say which cells are measured.
func (h *halves) filled() error {
	if h.differ == "" || len(h.fills) == 0 || !h.hasEvidence() {
		return nil
	}
	if h.triangle == "" {
		return h.ambiguous(h.fills[0])
	}
	eachHasOne := len(h.fills) > 1
	f := h.fills[0]
	inUpper := h.triangle == UpperTriangle && f.upper > 0
	inLower := h.triangle == LowerTriangle && f.lower > 0
	if eachHasOne || !inUpper && !inLower {
		return nil
	}
	const hint = "leave the fields empty that were filled and not measured, " +
		"or name the other triangle"
	return fault.New(fault.Input, hint,
		"found %v in cells of the %s triangle, in the order of columns, "+
			"whose pairs have other values in the other triangle, such as %s; "+
			"expected measured values",
		f.value, h.triangle, h.differ)
}

// hasEvidence reports whether there are enough pairs: one pair of a matrix that is not square says
// nothing.
func (h *halves) hasEvidence() bool {
	isUnread := func(row []float64) bool { return row == nil }
	isSquare := !h.lone && !slices.ContainsFunc(h.rows, isUnread)
	return h.pairs > 1 || isSquare
}

// ambiguous returns the error for a value that may have been filled in or measured.
func (h *halves) ambiguous(f fill) error {
	const both = "if both were measured, set triangle=both"
	switch {
	case f.upper > 0 && f.lower > 0:
		const hint = "leave the fields empty that were filled and not measured; " +
			"if all were measured, set triangle=both"
		return fault.New(fault.Input, hint, "found %v in one of the two cells of every pair, "+
			"such as %s, but not in one triangle", f.value, h.differ)
	case len(h.fills) > 1:
		const hint = "if one was filled and not measured, set triangle=upper or triangle=lower " +
			"to read the other; " + both
		return fault.New(fault.Input, hint,
			"found a single value in each triangle of a matrix of genes: %s", h.differ)
	}
	constant, other := UpperTriangle, LowerTriangle
	if f.upper == 0 {
		constant, other = LowerTriangle, UpperTriangle
	}
	hint := fmt.Sprintf("if it was filled and not measured, set triangle=%s "+
		"to read only the other half; %s", other, both)
	return fault.New(fault.Input, hint, "found %v in all cells of the %s triangle "+
		"of a matrix of genes and other values in the %s one, such as %s",
		f.value, constant, other, h.differ)
}
