package ingest

import (
	"cmp"
	"fmt"
	"io"
	"maps"
	"path/filepath"
	"slices"
	"strings"
	"text/tabwriter"

	"github.com/dustin/go-humanize"
	"github.com/dustin/go-humanize/english"

	"tcbuild/fault"
	"tcbuild/internal/disk"
)

// DefaultMaxDropped is the largest share of a source's rows that may be lost: see Reason.Lost.
const DefaultMaxDropped = 0.5

// An Account says what became of the rows of a source. Each made something, or was dropped for one
// reason:
//
//	gene__yeastract__gene: 11,350 of 11,486 entries of edges.tsv; dropped: 136 of unknown genes;
//	unknown names: FLO8, MAL63
//
// Accounts of parts of a source, merged in the order of the parts, are the account of the source.
type Account struct {
	Made    string  `json:"made,omitempty"` // what the rows became: samples, genes, an edge type, …
	File    string  `json:"file,omitempty"`
	Rows    int     `json:"rows"`              // rows, cells or entries that were read
	Kept    int     `json:"kept"`              // of them, those that made something
	Dropped []Count `json:"dropped,omitempty"` // the others, by the order of reasons
	Noted   []Count `json:"noted,omitempty"`   // what is noted of rows that were not dropped for it
	// Names are those that mean nothing, or several things, with how often rows that were read have
	// them.
	Names map[string]int `json:"unknown_names,omitempty"`
	// Repeats are of samples whose genotypes were compared.
	Repeats Repeats `json:"repeats,omitzero"`
}

// A Count is how many rows have a reason.
type Count struct {
	Reason   Reason    `json:"reason"`
	Detail   string    `json:"detail,omitempty"`
	Rows     int       `json:"rows"`
	Examples []Example `json:"examples,omitempty"` // the first of them, up to maxExamples
}

// An Example is a row that was dropped, and the name, if any, that it was dropped for.
type Example struct {
	Row  int64  `json:"row"` // from 0, without the header
	Name string `json:"name,omitempty"`
}

const maxExamples = 5

// Repeats are the samples that delete the same genes.
type Repeats struct {
	Genotypes         int `json:"genotypes"`          // distinct ones
	RepeatedGenotypes int `json:"repeated_genotypes"` // genotypes that several samples have
	RepeatedSamples   int `json:"repeated_samples"`   // samples of these
	// distinct values of what samples are grouped by
	Conditions int `json:"conditions,omitempty"`
}

// Drop counts a row that makes nothing.
func (a *Account) Drop(why Reason, detail string, row int64, name []byte) {
	c := a.count(why, detail)
	if c.Rows++; len(c.Examples) < maxExamples {
		c.Examples = append(c.Examples, Example{row, string(name)})
	}
}

// Add counts rows without an example, or other things that are noted. Zero is left out.
func (a *Account) Add(why Reason, detail string, rows int) {
	if rows != 0 {
		a.count(why, detail).Rows += rows
	}
}

// AddName counts a name that means nothing, or several things, in a row.
func (a *Account) AddName(name string, times int) {
	if a.Names == nil {
		a.Names = make(map[string]int)
	}
	a.Names[name] += times
}

// Remove forgets what was counted under a reason.
func (a *Account) Remove(why Reason) {
	counts := a.countsWith(why)
	*counts = slices.DeleteFunc(*counts, func(c Count) bool { return c.Reason == why })
}

func (a *Account) countsWith(why Reason) *[]Count {
	if why.Drops() {
		return &a.Dropped
	}
	return &a.Noted
}

// count returns the count of a reason, which is made if it is new.
func (a *Account) count(why Reason, detail string) *Count {
	counts := a.countsWith(why)
	at := len(*counts)
	for k := range *counts {
		c := &(*counts)[k]
		if c.Reason == why && c.Detail == detail {
			return c
		}
		if c.Reason > why {
			at = k
			break
		}
	}
	*counts = slices.Insert(*counts, at, Count{Reason: why, Detail: detail})
	return &(*counts)[at]
}

// Merge adds the account of later rows of the same source. Later repeats replace earlier ones,
// because they cover all rows.
func (a *Account) Merge(later *Account) {
	a.Rows += later.Rows
	a.Kept += later.Kept
	a.Repeats = cmp.Or(later.Repeats, a.Repeats)
	for _, c := range slices.Concat(later.Dropped, later.Noted) {
		sum := a.count(c.Reason, c.Detail)
		sum.Rows += c.Rows
		free := min(maxExamples-len(sum.Examples), len(c.Examples))
		sum.Examples = append(sum.Examples, c.Examples[:free]...)
	}
	for name, times := range later.Names {
		a.AddName(name, times)
	}
}

// Sum returns how many rows have a reason, whatever the detail.
func (a *Account) Sum(why Reason) int {
	return sum(*a.countsWith(why), func(r Reason) bool { return r == why })
}

func sum(counts []Count, counted func(Reason) bool) (rows int) {
	for _, c := range counts {
		if counted(c.Reason) {
			rows += c.Rows
		}
	}
	return rows
}

// IsComplete reports whether every row that was read is kept, or dropped for one reason.
func (a *Account) IsComplete() bool { return a.Rows == a.Kept+sum(a.Dropped, Reason.Drops) }

// First returns the first row with a reason, by its number. There must be one.
func (a *Account) First(why Reason) int64 { return a.count(why, "").Examples[0].Row }

// LostToNames returns how many rows are lost because of a name.
func (a *Account) LostToNames() int { return sum(a.Dropped, Reason.losesName) }

// Check returns an error for a source that keeps no row, or loses a greater share of its rows than
// maxDropped: it is the wrong file, or is read the wrong way. ofNames is the hint if that is
// because of names, hint is for other reasons.
func (a *Account) Check(maxDropped float64, hint, ofNames string) error {
	rows, unnamed := a.Rows, a.LostToNames()
	entries := Plural(rows, "entry", "entries")
	allowed := maxDropped * float64(rows)
	switch {
	case rows == 0:
		return fault.New(fault.Input, "check that it is the right file",
			"read %s for %s: found no entries, expected at least one", a.File, a.Made)
	case a.Kept == 0:
		if 2*unnamed > rows {
			hint = ofNames
		}
		return fault.New(fault.Input, hint,
			"read %s for %s: kept 0 of %s; dropped: %s, expected at least one",
			a.File, a.Made, entries, texts(a.Dropped)+a.suchAs(3))
	case float64(unnamed) > allowed:
		return fault.New(fault.Input, ofNames+"; max_dropped sets the share that may be dropped",
			"read %s for %s: %s of %s have unknown or ambiguous names%s, "+
				"expected at most %.4g %%",
			a.File, a.Made, Grouped(unnamed), entries, a.suchAs(3), 100*maxDropped)
	case float64(sum(a.Dropped, Reason.Lost)) > allowed:
		return fault.New(fault.Input,
			hint+"; max_dropped sets the share that may be dropped",
			"read %s for %s: kept %s of %s; dropped: %s, expected to lose at most %.4g %%",
			a.File, a.Made, Grouped(a.Kept), entries, texts(a.Dropped), 100*maxDropped)
	}
	return nil
}

// suchAs lists the first names.
func (a *Account) suchAs(n int) string {
	names := a.sortedNames()
	if len(names) == 0 {
		return ""
	}
	return ", such as " + fault.List(names[:min(n, len(names))])
}

// String returns the account as a line.
func (a *Account) String() string {
	line := fmt.Sprintf("%s: %s of %s of %s", a.Made, Grouped(a.Kept),
		Plural(a.Rows, "entry", "entries"), filepath.Base(a.File))
	if why := a.why(); why != "" {
		line += "; " + why
	}
	return line
}

// why says why rows were dropped, and what is noted of them.
func (a *Account) why() string {
	var parts []string
	if dropped := texts(a.Dropped); dropped != "" {
		parts = append(parts, "dropped: "+dropped)
	}
	if noted := texts(a.Noted); noted != "" {
		parts = append(parts, "noted: "+noted)
	}
	if names := a.sortedNames(); len(names) > 0 {
		const shown = 5
		if more := len(names) - shown; more > 0 {
			names = append(names[:shown:shown], fmt.Sprintf("and %s more", Grouped(more)))
		}
		parts = append(parts, "unknown names: "+strings.Join(names, ", "))
	}
	return strings.Join(parts, "; ")
}

// What says what the rows are, such as "of unknown genes".
func (c Count) What() string {
	return strings.Replace(reasons[c.Reason].text, "%s", c.Detail, 1)
}

// texts lists counts with the texts of their reasons.
func texts(counts []Count) string {
	var parts []string
	for _, c := range counts {
		parts = append(parts, Grouped(c.Rows)+" "+c.What())
	}
	return strings.Join(parts, ", ")
}

func (a *Account) sortedNames() []string { return slices.Sorted(maps.Keys(a.Names)) }

// Attributes returns the counts as attributes of a log line.
func (a *Account) Attributes() (attributes []any) {
	for _, c := range slices.Concat(a.Dropped, a.Noted) {
		key := c.Reason.String()
		if c.Detail != "" {
			key += " (" + c.Detail + ")"
		}
		attributes = append(attributes, key, c.Rows)
	}
	return attributes
}

// ForManifest returns what a dataset's manifest has of its samples' account. Names are as many as
// the set likes, and the manifest names the files elsewhere.
func (a *Account) ForManifest() Account {
	return Account{Rows: a.Rows, Kept: a.Kept, Dropped: a.Dropped, Noted: a.Noted,
		Repeats: a.Repeats}
}

// DroppedNamesHeader is the first line of a table of dropped names.
const DroppedNamesHeader = "dropped_name\twhy\tcount\n"

// DroppedNames lists the names as a table, the most frequent ones first. explain says what a name
// means.
func (a *Account) DroppedNames(explain func(name string) string) []byte {
	names := slices.SortedFunc(maps.Keys(a.Names), func(x, y string) int {
		return cmp.Or(a.Names[y]-a.Names[x], strings.Compare(x, y))
	})
	table := []byte(DroppedNamesHeader)
	for _, name := range names {
		table = fmt.Appendf(table, "%s\t%s\t%d\n", name, explain(name), a.Names[name])
	}
	return table
}

// Accounts holds an account per source of a graph, in the order of its settings.
type Accounts []*Account

// WriteTable writes the accounts as a table, a line per source.
func (all Accounts) WriteTable(out io.Writer) error {
	w := tabwriter.NewWriter(out, 0, 0, 2, ' ', tabwriter.AlignRight)
	fmt.Fprintln(w, "made\tfile\trows\tkept\tdropped\t  why")
	for _, a := range all {
		why := a.why()
		if why != "" {
			why = "  " + why
		}
		fmt.Fprintf(w, "%s\t%s\t%s\t%s\t%s\t%s\n", a.Made, filepath.Base(a.File),
			Grouped(a.Rows), Grouped(a.Kept), Grouped(a.Rows-a.Kept), why)
	}
	return w.Flush()
}

// Write writes the accounts into the folder of a graph, as sources.json.
func (all Accounts) Write(dir string) error {
	err := disk.WriteJSON(filepath.Join(dir, "sources.json"), map[string]Accounts{"sources": all})
	if err != nil {
		return fmt.Errorf("write the account of sources: %w", err)
	}
	return nil
}

// Plural returns a number of things, such as 1 row or 2,000 rows. several is the plural of noun, ""
// if it is regular.
func Plural(n int, noun, several string) string {
	return Grouped(n) + " " + english.PluralWord(n, noun, several)
}

// Grouped formats n with commas between thousands.
func Grouped(n int) string { return humanize.Comma(int64(n)) }
