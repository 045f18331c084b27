package incidence

// CSR is a list of ascending positions for each row, in compressed sparse rows:
// row r's list is Positions[Offsets[r]:Offsets[r+1]].
type CSR struct {
	Offsets   []uint32 // rows+1, ascending, the first 0
	Positions []uint32
}

// Row returns row r's positions, a view.
func (c *CSR) Row(r uint32) []uint32 { return c.Positions[c.Offsets[r]:c.Offsets[r+1]] }

// newCSR makes so many rows of the entries that fill adds. It is called twice: first they are
// counted, then placed. Entries of a row come ascending.
func newCSR(rows int, fill func(f *filler)) CSR {
	csr := CSR{Offsets: make([]uint32, rows+1)}
	f := &filler{next: make([]uint32, rows)}
	fill(f)
	total := uint32(0)
	for row, count := range f.next {
		f.next[row], total = total, total+count
		csr.Offsets[row+1] = total
	}
	csr.Positions = make([]uint32, total)
	f.positions = csr.Positions
	fill(f)
	return csr
}

// filler counts the entries of each row or, when it has positions, places them.
type filler struct {
	next      []uint32 // by row: entries counted, or where the next one goes
	positions []uint32
}

func (f *filler) add(row, position uint32) {
	if f.positions != nil {
		f.positions[f.next[row]] = position
	}
	f.next[row]++
}
