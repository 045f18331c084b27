// Package diff finds what differs between two cell graphs or two datasets, and reports it by the
// names of nodes, edges, samples and masks, not in bytes. How content is stored (variant, codec,
// shards) does not count as a difference.
package diff

// Report is what differs between two things, called A and B.
type Report struct {
	// in the order of comparison: graph, options, samples; empty when nothing differs
	Findings []Finding
	Cut      bool // the limit has left out examples, or parts of them

	limit int // of examples; 0 for all
	index map[string]int
}

// Finding is one kind of difference.
type Finding struct {
	What     string   // such as "gene__physical__gene: edges only in A"
	Count    int      // how often it was found, at least 1
	Examples []string // the first ones, up to the limit
}

// newReport makes a report that keeps that many examples of each kind of difference, 0 for all.
func newReport(limit int) *Report { return &Report{limit: limit, index: make(map[string]int)} }

// add notes a difference; example is called if the report still takes examples of its kind.
func (r *Report) add(what string, example func() string) {
	i, known := r.index[what]
	if !known {
		i = len(r.Findings)
		r.index[what] = i
		r.Findings = append(r.Findings, Finding{What: what})
	}
	finding := &r.Findings[i]
	finding.Count++
	if r.limit == 0 || len(finding.Examples) < r.limit {
		finding.Examples = append(finding.Examples, example())
	} else {
		r.Cut = true
	}
}

// unless notes that digests of the whole content differ, if no other difference was found: finding
// none does not prove that there is none.
func (r *Report) unless(what, a, b string) {
	if r.Same() && a != b {
		r.add(what, func() string { return a + " in A, " + b + " in B" })
	}
}

// Same reports whether nothing differs.
func (r *Report) Same() bool { return len(r.Findings) == 0 }

// side names the two things compared.
type side string

const (
	inA side = "A"
	inB side = "B"
)
