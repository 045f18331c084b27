package source

import (
	"fmt"
	"path/filepath"
	"strings"

	"github.com/dustin/go-humanize"

	"tcbuild/fault"
)

// Report accounts for the rows or entries of all sources of a graph: genes, aliases, edges and
// metabolic part, in the order of the GraphSpec.
type Report []SourceReport

// SourceReport accounts for the rows of one source: Rows is Kept plus the sum of Dropped.
type SourceReport struct {
	Made    string // what the rows became: genes, an edge type, …
	File    string
	Rows    int      // rows, or entries, read
	Kept    int      // of them, those that made a node or an edge
	Dropped []Count  // the rest, by reason
	Noted   []Count  // notes on rows that were not dropped for them
	Unknown []string // unknown or ambiguous gene names, unique and ascending
}

// Count is how often something happened. Reports omit zero counts.
type Count struct {
	What string
	N    int
}

// appendCount adds a count unless it is zero.
func appendCount(counts []Count, what string, n int) []Count {
	if n == 0 {
		return counts
	}
	return append(counts, Count{what, n})
}

// checkKept returns an error for a source without any kept rows: it is the wrong file, or is read
// the wrong way.
func (r SourceReport) checkKept(hint string) error {
	switch {
	case r.Kept > 0:
		return nil
	case r.Rows == 0:
		return fault.New(fault.Input, "check that it is the right file",
			"read %s for %s: found no entries, expected at least one", r.File, r.Made)
	}
	var reasons strings.Builder
	writeCounts(&reasons, "dropped", r.Dropped)
	return fault.New(fault.Input, hint, "read %s for %s: kept 0 of %s entries%s, expected at least one", r.File,
		r.Made, grouped(r.Rows), reasons.String())
}

// checkKept is SourceReport.checkKept for all sources.
func (r Report) checkKept(hint string) error {
	for _, source := range r {
		if err := source.checkKept(hint); err != nil {
			return err
		}
	}
	return nil
}

// Lines returns the report as text, a line per source:
//
//	gene__yeastract__gene: 11,350 of 11,486 entries of edges.tsv; dropped: 136 of unknown genes; unknown names: FLO8, MAL63
func (r Report) Lines() []string {
	lines := make([]string, len(r))
	for i, source := range r {
		lines[i] = source.String()
	}
	return lines
}

// String returns the report's line.
func (r SourceReport) String() string {
	var line strings.Builder
	fmt.Fprintf(&line, "%s: %s of %s entries of %s", r.Made, grouped(r.Kept), grouped(r.Rows), filepath.Base(r.File))
	writeCounts(&line, "dropped", r.Dropped)
	writeCounts(&line, "noted", r.Noted)
	if len(r.Unknown) > 0 {
		const shown = 5
		names := r.Unknown
		if len(names) > shown {
			names = append(names[:shown:shown], fmt.Sprintf("and %s more", grouped(len(r.Unknown)-shown)))
		}
		fmt.Fprintf(&line, "; unknown names: %s", strings.Join(names, ", "))
	}
	return line.String()
}

func writeCounts(line *strings.Builder, title string, counts []Count) {
	separator := "; " + title + ": "
	for _, c := range counts {
		fmt.Fprintf(line, "%s%s %s", separator, grouped(c.N), c.What)
		separator = ", "
	}
}

// grouped formats n with commas between thousands.
func grouped(n int) string { return humanize.Comma(int64(n)) }
