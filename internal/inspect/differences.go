package inspect

import (
	"fmt"

	"github.com/dustin/go-humanize/english"

	"tcbuild/internal/page"
)

// Differences is what differs between two things, called A and B.
type Differences struct {
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

// newDifferences makes a report that keeps that many examples of each kind of difference, 0 for
// all.
func newDifferences(limit int) *Differences {
	return &Differences{limit: limit, index: make(map[string]int)}
}

// add notes a difference; example is called if the report still takes examples of its kind.
func (r *Differences) add(what string, example func() string) {
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

func (r *Differences) merge(other *Differences) {
	r.Cut = r.Cut || other.Cut
	for _, finding := range other.Findings {
		for _, example := range finding.Examples {
			r.add(finding.What, func() string { return example })
		}
		if more := finding.Count - len(finding.Examples); more > 0 {
			r.Findings[r.index[finding.What]].Count += more
		}
	}
}

// unless notes that digests of the whole content differ, if no other difference was found: finding
// finding none does not prove that there is none.
func (r *Differences) unless(what, a, b string) {
	if r.Same() && a != b {
		r.add(what, func() string { return a + " in A, " + b + " in B" })
	}
}

// Same reports whether nothing differs.
func (r *Differences) Same() bool { return len(r.Findings) == 0 }

// Page presents the report on the folders a and b; compared tells what was compared.
func (r *Differences) Page(a, b, compared string) *page.Page {
	p := &page.Page{Title: "What differs between A and B",
		Lead: []string{"A is " + a + ".", "B is " + b + "."}}
	if r.Same() {
		p.Title = "A and B are the same"
		p.Lead = append(p.Lead, "Compared: "+compared+
			". How a dataset is stored (variant, codec, shards) does not count as a difference.")
		return p
	}
	p.Lead = append(p.Lead,
		fmt.Sprintf(
			"Found %s. How a dataset is stored (variant, codec, shards) does not count as one.",
			english.Plural(len(r.Findings), "kind of difference", "kinds of differences")))
	kinds := page.Section{Title: "Kinds of differences", Header: []string{"what", "found"}}
	var examples []page.Section
	for _, finding := range r.Findings {
		kinds.Add(finding.What, finding.Count)
		section := page.Section{Title: finding.What}
		for _, example := range finding.Examples {
			section.Add(example)
		}
		if more := finding.Count - len(finding.Examples); more > 0 {
			section.Note = fmt.Sprintf("And %s more; --limit 0 lists all.", count(more))
		}
		examples = append(examples, section)
	}
	p.Sections = append([]page.Section{kinds}, examples...)
	return p
}
