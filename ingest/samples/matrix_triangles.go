package samples

import (
	"fmt"
	"math"
	"slices"

	"tcbuild/fault"
)

// triangles compares the two cells of each pair of genes in a matrix: (a, b) and (b, a). A gene's
// position is its column's, so that rows may have another order than columns.
//
// np.triu and fillna(0) fill one triangle with a constant, which would give each pair a false
// measurement. Rows and columns may have been sorted afterwards, so triangles looks for a value
// that at least one cell of every pair has.
type triangles struct {
	named map[string]int   // positions, by the names in the header
	genes map[uint32][]int // positions of a gene
	// by the positions of the row's and the column's gene; nil until it is read
	rows [][]float64
	read Triangle // "" or BothTriangles: both

	position  int    // of the row being read
	hasColumn bool   // the row has a position
	lone      bool   // there is a row without a column
	fills     []fill // what one cell of each pair has; at most two values
	pairs     int    // with two values
	equal     int    // pairs with two equal values
	differ    string // the first two values that are not equal
}

// fill is a value that one cell of each pair has, and how many cells of unequal pairs do.
type fill struct {
	value        float64
	upper, lower int
}

// newTriangles sets the columns' positions.
func newTriangles(columns []matrixColumn, read Triangle) *triangles {
	t := &triangles{named: make(map[string]int), genes: make(map[uint32][]int), read: read}
	for k := range columns {
		column := &columns[k]
		position, again := t.named[column.name]
		if !again {
			position = len(t.named)
			t.named[column.name] = position
			if gene := column.mention.Answer.Gene; column.mention.isGene() {
				t.genes[gene] = append(t.genes[gene], position)
			}
		}
		column.position = position
	}
	t.rows = make([][]float64, len(t.named))
	return t
}

// startRow finds the position of the column with a row's name or, if there is none, of the only one
// with its gene.
func (t *triangles) startRow(name string, m *Mention) {
	t.position, t.hasColumn = t.named[name]
	if same := t.genes[m.Answer.Gene]; !t.hasColumn && m.isGene() && len(same) == 1 {
		t.position, t.hasColumn = same[0], true
	}
	if !t.hasColumn {
		t.lone = true
	} else if t.rows[t.position] == nil {
		t.rows[t.position] = slices.Repeat([]float64{math.NaN()}, len(t.rows))
	}
}

// add compares a value of the row with the value of the same pair in the other triangle, if that
// has been read, and reports whether they are equal.
func (t *triangles) add(name string, column *matrixColumn, value float64) (equal bool) {
	if !t.hasColumn {
		return false
	}
	t.rows[t.position][column.position] = value
	if t.rows[column.position] == nil || column.position == t.position {
		return false
	}
	other := t.rows[column.position][t.position]
	if math.IsNaN(value) || math.IsNaN(other) {
		return false
	}
	upper, lower := value, other
	if column.position < t.position {
		upper, lower = other, value
	}
	t.compare(upper, lower)
	if value != other && t.differ == "" {
		t.differ = fmt.Sprintf("%v for %s and %v for %s", other,
			fault.Quote(column.name+": "+name), value, fault.Quote(name+": "+column.name))
	}
	return value == other
}

// compare counts the two values of a pair.
func (t *triangles) compare(upper, lower float64) {
	if t.pairs++; t.pairs == 1 {
		t.fills = slices.Compact([]fill{{value: upper}, {value: lower}})
	}
	if upper == lower {
		t.equal++
		t.fills = slices.DeleteFunc(t.fills, func(f fill) bool { return f.value != upper })
		return
	}
	kept := t.fills[:0]
	for _, f := range t.fills {
		switch f.value {
		case upper:
			f.upper++
			kept = append(kept, f)
		case lower:
			f.lower++
			kept = append(kept, f)
		}
	}
	t.fills = kept
}

// leavesOut reports whether the row's cell in a column is in the triangle that is not read.
func (t *triangles) leavesOut(column *matrixColumn) bool {
	switch {
	case !t.hasColumn:
		return false
	case t.read == UpperTriangle:
		return column.position < t.position
	}
	return t.read == LowerTriangle && column.position > t.position
}

// asymmetric returns an error if some pairs have two equal values and others do not, unless one
// triangle may still turn out to be filled.
func (t *triangles) asymmetric() error {
	mayBeFilled := t.read == "" && len(t.fills) > 0
	if t.differ == "" || t.equal == 0 || mayBeFilled {
		return nil
	}
	const hint = "correct the matrix; if pairs were measured both ways, " +
		"choose with --duplicates what to do with their two values"
	return fault.New(fault.Input, hint,
		"found %s, expected one value, as other cells of the two halves are equal", t.differ)
}

// filled returns an error if one cell of each pair has the same value, but not all cells have it,
// and the settings do not say which cells are measured.
func (t *triangles) filled() error {
	if t.differ == "" || len(t.fills) == 0 || !t.hasEvidence() {
		return nil
	}
	if t.read == "" {
		return t.ambiguous(t.fills[0])
	}
	eachHasOne := len(t.fills) > 1
	f := t.fills[0]
	inUpper := t.read == UpperTriangle && f.upper > 0
	inLower := t.read == LowerTriangle && f.lower > 0
	if eachHasOne || !inUpper && !inLower {
		return nil
	}
	const hint = "leave the fields empty that were filled and not measured, " +
		"or name the other triangle"
	return fault.New(fault.Input, hint,
		"found %v in cells of the %s triangle, in the order of columns, "+
			"whose pairs have other values in the other triangle, such as %s; "+
			"expected measured values",
		f.value, t.read, t.differ)
}

// hasEvidence reports whether there are enough pairs: one pair of a matrix that is not square says
// nothing.
func (t *triangles) hasEvidence() bool {
	isUnread := func(row []float64) bool { return row == nil }
	isSquare := !t.lone && !slices.ContainsFunc(t.rows, isUnread)
	return t.pairs > 1 || isSquare
}

// ambiguous returns the error for a value that may have been filled in or measured.
func (t *triangles) ambiguous(f fill) error {
	const both = "if both were measured, set triangle=both"
	switch {
	case f.upper > 0 && f.lower > 0:
		const hint = "leave the fields empty that were filled and not measured; " +
			"if all were measured, set triangle=both"
		return fault.New(fault.Input, hint, "found %v in one of the two cells of every pair, "+
			"such as %s, but not in one triangle", f.value, t.differ)
	case len(t.fills) > 1:
		const hint = "if one was filled and not measured, set triangle=upper or triangle=lower " +
			"to read the other; " + both
		return fault.New(fault.Input, hint,
			"found a single value in each triangle of a matrix of genes: %s", t.differ)
	}
	constant, other := UpperTriangle, LowerTriangle
	if f.upper == 0 {
		constant, other = LowerTriangle, UpperTriangle
	}
	hint := fmt.Sprintf("if it was filled and not measured, set triangle=%s "+
		"to read only the other half; %s", other, both)
	return fault.New(fault.Input, hint, "found %v in all cells of the %s triangle "+
		"of a matrix of genes and other values in the %s one, such as %s",
		f.value, constant, other, t.differ)
}
