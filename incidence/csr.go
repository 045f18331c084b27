package incidence

import "tcbuild/ingest"

// CSR is a list of ascending positions for each row, in compressed sparse rows:
// row r's list is Positions[Offsets[r]:Offsets[r+1]].
type CSR struct {
	Offsets   []uint32 // rows+1, ascending, the first 0
	Positions []uint32
}

// Row returns row r's positions, a view.
func (c *CSR) Row(r uint32) []uint32 { return c.Positions[c.Offsets[r]:c.Offsets[r+1]] }

// byEndpoint lists, for each of rows nodes, the positions of the edges that touch it at either end,
// a self loop once. It takes two passes over the edges, and 4 bytes per row and per edge end.
func byEndpoint(edges *ingest.Edges, rows int) CSR {
	src, dst := edges.Src, edges.Dst[:len(edges.Src)]
	counts := make([]uint32, rows+1)
	for position, s := range src {
		counts[s]++
		if d := dst[position]; d != s {
			counts[d]++
		}
	}
	csr, next := layOut(counts)
	for position, s := range src {
		csr.Positions[next[s]] = uint32(position)
		next[s]++
		if d := dst[position]; d != s {
			csr.Positions[next[d]] = uint32(position)
			next[d]++
		}
	}
	return csr
}

// bySource lists, for each of rows nodes, the positions of the edges that start there.
func bySource(edges *ingest.Edges, rows int) CSR {
	counts := make([]uint32, rows+1)
	for _, s := range edges.Src {
		counts[s]++
	}
	csr, next := layOut(counts)
	for position, s := range edges.Src {
		csr.Positions[next[s]] = uint32(position)
		next[s]++
	}
	return csr
}

// layOut makes a CSR for rows of the given counts (followed by one 0). next, which reuses the
// memory of counts, is where each row's next position goes.
func layOut(counts []uint32) (csr CSR, next []uint32) {
	csr.Offsets = make([]uint32, len(counts))
	total := uint32(0)
	for row, count := range counts {
		csr.Offsets[row], counts[row] = total, total
		total += count
	}
	csr.Positions = make([]uint32, total)
	return csr, counts
}
