package source

import (
	"fmt"
	"io"
	"path/filepath"
	"regexp"
	"strings"
	"text/tabwriter"

	"github.com/dustin/go-humanize"
	"github.com/dustin/go-humanize/english"

	"tcbuild/fault"
	"tcbuild/ingest/names"
	"tcbuild/internal/disk"
)

// Report accounts for the rows or entries of all sources of a graph: genes, aliases, edges and
// metabolic part, in the order of the GraphSpec.
type Report []SourceReport

// SourceReport accounts for the rows of one source: Rows is Kept plus the sum of Dropped.
type SourceReport struct {
	Made    string   `json:"made"` // what the rows became: genes, an edge type, …
	File    string   `json:"file"`
	Rows    int      `json:"rows"`                    // rows, or entries, read
	Kept    int      `json:"kept"`                    // of them, those that made a node or an edge
	Dropped []Count  `json:"dropped,omitempty"`       // the rest, by reason
	Noted   []Count  `json:"noted,omitempty"`         // notes on rows that were not dropped for them
	Unnamed int      `json:"unnamed"`                 // of the dropped rows, those that name no gene, or several
	Alleles int      `json:"-"`                       // dropped rows whose alleles do not count as deletions
	Unknown []string `json:"unknown_names,omitempty"` // unknown or ambiguous names, unique and ascending
	AllKept bool     `json:"-"`                       // min and max are set, and dropped no row
}

// Count is how often something happened. Reports omit zero counts.
type Count struct {
	What string `json:"what"`
	N    int    `json:"rows"`
}

// drop adds reasons for which rows were dropped, but for counts of zero.
func (r *SourceReport) drop(counts ...Count) { r.Dropped = appendCounts(r.Dropped, counts) }

// note adds notes, but for counts of zero.
func (r *SourceReport) note(counts ...Count) { r.Noted = appendCounts(r.Noted, counts) }

// noteAgain adds to the last note if that says the same.
func (r *SourceReport) noteAgain(what string, n int) {
	if last := len(r.Noted) - 1; last >= 0 && r.Noted[last].What == what {
		r.Noted[last].N += n
		return
	}
	r.note(Count{what, n})
}

func appendCounts(to, counts []Count) []Count {
	for _, c := range counts {
		if c.N != 0 {
			to = append(to, c)
		}
	}
	return to
}

// check returns an error for a source that keeps no rows, or drops a greater share than maxDropped
// for their gene names or alleles: it is the wrong file, or is read the wrong way. hint is for rows
// that were dropped for other reasons.
func (r SourceReport) check(hint string, known *names.Resolver, maxDropped float64) error {
	otherNames := "give the genes' other names with aliases"
	if r.outside(known) {
		otherNames = "add the genes to the graph: the tables of names have them"
	}
	switch {
	case r.Rows == 0:
		return fault.New(fault.Input, "check that it is the right file",
			"read %s for %s: found no entries, expected at least one", r.File, r.Made)
	case r.Kept == 0:
		if 2*r.Unnamed > r.Rows && hint != severalHint {
			hint = otherNames + r.looksLike()
		}
		return fault.New(fault.Input, hint, "read %s for %s: kept 0 of %s; dropped: %s, expected at least one", r.File,
			r.Made, plural(r.Rows, "entry", "entries"), counts(r.Dropped))
	case float64(r.Unnamed) > maxDropped*float64(r.Rows):
		return fault.New(fault.Input, otherNames+"; max_dropped sets the share that may be dropped"+r.looksLike(),
			"read %s for %s: %s of %s have unknown or ambiguous names, such as %s, expected at most %.4g %%",
			r.File, r.Made, grouped(r.Unnamed), plural(r.Rows, "entry", "entries"), fault.List(r.Unknown[:min(3, len(r.Unknown))]), 100*maxDropped)
	case float64(r.Unnamed+r.Alleles) > maxDropped*float64(r.Rows):
		const hint = "check the columns of strains and alleles; " +
			"max_dropped sets the share that may be dropped"
		return fault.New(fault.Input, hint, "read %s for %s: kept %s of %s; dropped: %s, "+
			"expected to drop at most %.4g %% for their names and alleles",
			r.File, r.Made, grouped(r.Kept), plural(r.Rows, "entry", "entries"),
			counts(r.Dropped), 100*maxDropped)
	}
	return nil
}

// outside reports whether tables know most of the unknown names.
func (r SourceReport) outside(known *names.Resolver) bool {
	n := 0
	for _, name := range r.Unknown {
		if known.Exact([]byte(name)).Known() {
			n++
		}
	}
	return 2*n > len(r.Unknown)
}

// identifiers are the forms of ids that public files have in place of systematic names.
var identifiers = []struct {
	name    string
	pattern *regexp.Regexp
}{
	{"Entrez gene ids", regexp.MustCompile(`^[0-9]+$`)},
	{"SGD ids", regexp.MustCompile(`^(SGD:)?S[0-9]{9}$`)},
	{"UniProt accessions", regexp.MustCompile(`^([OPQ][0-9][A-Z0-9]{3}[0-9]|[A-NR-Z][0-9]([A-Z][A-Z0-9]{2}[0-9]){1,2})$`)},
	{"names with the prefix of an organism", regexp.MustCompile(`^[0-9]+\.`)},
	{"Ensembl ids with a version", regexp.MustCompile(`^ENS[A-Z]*[GTP][0-9]{11}\.[0-9]+$`)},
	{"Ensembl ids", regexp.MustCompile(`^ENS[A-Z]*[GTP][0-9]{11}$`)},
	{"names that R numbered, as they repeat (AARS.1)", regexp.MustCompile(`^[A-Za-z][A-Za-z0-9-]*\.[0-9]{1,2}$`)},
	{"systematic names in lower case", regexp.MustCompile(`^y[a-p][lr][0-9]{3}[wc]`)},
}

// looksLike ends a hint by what most of the unknown names look like, if that is known.
func (r SourceReport) looksLike() string {
	for _, id := range identifiers {
		n := 0
		for _, name := range r.Unknown {
			if id.pattern.MatchString(name) {
				n++
			}
		}
		if 2*n > len(r.Unknown) {
			return "; they look like " + id.name
		}
	}
	return ""
}

// check is SourceReport.check for all sources.
func (r Report) check(hint string, known *names.Resolver, maxDropped float64) error {
	for _, source := range r {
		if err := source.check(hint, known, maxDropped); err != nil {
			return err
		}
	}
	return nil
}

// checkMaxDropped returns a fault.Usage for an invalid share.
func checkMaxDropped(share float64) error {
	if share >= 0 && share <= 1 {
		return nil
	}
	return badSetting("", "max_dropped: found %v, expected a share from 0 to 1", share)
}

// DefaultMaxDropped is the share of a source's rows that may be dropped for their gene names or
// alleles.
const DefaultMaxDropped = 0.5

// WriteTable writes the report as a table, a line per source.
func (r Report) WriteTable(out io.Writer) error {
	w := tabwriter.NewWriter(out, 0, 0, 2, ' ', tabwriter.AlignRight)
	fmt.Fprintln(w, "made\tfile\trows\tkept\tdropped\t  why")
	for _, s := range r {
		why := s.why()
		if why != "" {
			why = "  " + why
		}
		fmt.Fprintf(w, "%s\t%s\t%s\t%s\t%s\t%s\n", s.Made, filepath.Base(s.File), grouped(s.Rows), grouped(s.Kept), grouped(s.Rows-s.Kept), why)
	}
	return w.Flush()
}

// Write writes the report into the folder of a graph, as sources.json.
func (r Report) Write(dir string) error {
	err := disk.WriteJSON(filepath.Join(dir, "sources.json"), map[string]Report{"sources": r})
	if err != nil {
		return fmt.Errorf("write the account of sources: %w", err)
	}
	return nil
}

// String returns the report's line:
//
//	gene__yeastract__gene: 11,350 of 11,486 entries of edges.tsv; dropped: 136 of unknown genes; unknown names: FLO8, MAL63
func (r SourceReport) String() string {
	line := fmt.Sprintf("%s: %s of %s of %s", r.Made, grouped(r.Kept), plural(r.Rows, "entry", "entries"), filepath.Base(r.File))
	if why := r.why(); why != "" {
		line += "; " + why
	}
	return line
}

// why says why rows were dropped, and what is noted of them.
func (r SourceReport) why() string {
	var parts []string
	if len(r.Dropped) > 0 {
		parts = append(parts, "dropped: "+counts(r.Dropped))
	}
	if len(r.Noted) > 0 {
		parts = append(parts, "noted: "+counts(r.Noted))
	}
	if len(r.Unknown) > 0 {
		const shown = 5
		shownNames := r.Unknown
		if len(shownNames) > shown {
			shownNames = append(shownNames[:shown:shown], fmt.Sprintf("and %s more", grouped(len(r.Unknown)-shown)))
		}
		parts = append(parts, "unknown names: "+strings.Join(shownNames, ", "))
	}
	return strings.Join(parts, "; ")
}

func counts(all []Count) string {
	var parts []string
	for _, c := range all {
		parts = append(parts, grouped(c.N)+" "+c.What)
	}
	return strings.Join(parts, ", ")
}

// plural is a number of things, such as 1 row or 2,000 rows.
func plural(n int, noun, several string) string {
	return grouped(n) + " " + english.PluralWord(n, noun, several)
}

// grouped formats n with commas between thousands.
func grouped(n int) string { return humanize.Comma(int64(n)) }
