package ingest

import (
	"bytes"
	"cmp"
	"encoding/csv"
	"fmt"
	"maps"
	"path/filepath"
	"slices"
	"strconv"
	"strings"

	"github.com/dustin/go-humanize"
	"github.com/dustin/go-humanize/english"

	"tcbuild/fault"
)

// DefaultMaxDropped is the largest share of a set's rows that may be lost to names: see
// Reason.Lost.
const DefaultMaxDropped = 0.5

// An Account says what became of the rows of a perturbation set. Each made a sample, or was dropped
// for one reason:
//
//	samples: 11,350 of 11,486 rows of screen.tsv; dropped: 136 of unknown genes;
//	unknown names: FLO8, MAL63
//
// Accounts of parts of a set, merged in the order of the parts, are the account of the set.
type Account struct {
	Rows    int     `json:"rows"`              // that were read
	Kept    int     `json:"kept"`              // of them, those that made a sample
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
}

// Drop counts a row that makes nothing.
func (a *Account) Drop(why Reason, row int64, name []byte) {
	c := a.count(why)
	if c.Rows++; len(c.Examples) < maxExamples {
		c.Examples = append(c.Examples, Example{row, string(name)})
	}
}

// Add counts rows without an example, or other things that are noted. Zero is left out.
func (a *Account) Add(why Reason, rows int) {
	if rows != 0 {
		a.count(why).Rows += rows
	}
}

// AddName counts a name that means nothing, or several things, in a row.
func (a *Account) AddName(name string, times int) {
	if a.Names == nil {
		a.Names = make(map[string]int)
	}
	a.Names[name] += times
}

func (a *Account) countsWith(why Reason) *[]Count {
	if why.Drops() {
		return &a.Dropped
	}
	return &a.Noted
}

// count returns the count of a reason, which is made if it is new.
func (a *Account) count(why Reason) *Count {
	counts := a.countsWith(why)
	at := len(*counts)
	for k := range *counts {
		c := &(*counts)[k]
		if c.Reason == why {
			return c
		}
		if c.Reason > why {
			at = k
			break
		}
	}
	*counts = slices.Insert(*counts, at, Count{Reason: why})
	return &(*counts)[at]
}

// Merge adds the account of later rows of the same set. Later repeats replace earlier ones,
// because they cover all rows.
func (a *Account) Merge(later *Account) {
	a.Rows += later.Rows
	a.Kept += later.Kept
	a.Repeats = cmp.Or(later.Repeats, a.Repeats)
	for _, c := range slices.Concat(later.Dropped, later.Noted) {
		sum := a.count(c.Reason)
		sum.Rows += c.Rows
		free := min(maxExamples-len(sum.Examples), len(c.Examples))
		sum.Examples = append(sum.Examples, c.Examples[:free]...)
	}
	for name, times := range later.Names {
		a.AddName(name, times)
	}
}

// Sum returns how many rows have a reason.
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
func (a *Account) First(why Reason) int64 { return a.count(why).Examples[0].Row }

// Check returns an error for a set that keeps no row, or loses a greater share of its rows to names
// than maxDropped: it is the wrong file, or is read the wrong way. path is the set's; ofNames is
// the hint if that is because of names, hint is for other reasons.
func (a *Account) Check(path string, maxDropped float64, hint, ofNames string) error {
	rows, lost := a.Rows, sum(a.Dropped, Reason.Lost)
	switch {
	case rows == 0:
		return fault.New(fault.Input, "check that it is the right file",
			"read perturbations %s: found no rows, expected at least one", path)
	case a.Kept == 0:
		if 2*lost > rows {
			hint = ofNames
		}
		return fault.New(fault.Input, hint,
			"read perturbations %s: kept 0 of %s; dropped: %s, expected at least one",
			path, Plural(rows, "row", ""), texts(a.Dropped)+a.suchAs(3))
	case float64(lost) > maxDropped*float64(rows):
		return fault.New(fault.Input, ofNames+"; max_dropped sets the share that may be dropped",
			"read perturbations %s: %s of %s have unknown or ambiguous names%s, "+
				"expected at most %.4g %%",
			path, Grouped(lost), Plural(rows, "row", ""), a.suchAs(3), 100*maxDropped)
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

// Line returns the account of a set as a line.
func (a *Account) Line(path string) string {
	parts := []string{fmt.Sprintf("samples: %s of %s of %s", Grouped(a.Kept),
		Plural(a.Rows, "row", ""), filepath.Base(path))}
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

// texts lists counts with the texts of their reasons.
func texts(counts []Count) string {
	var parts []string
	for _, c := range counts {
		parts = append(parts, Grouped(c.Rows)+" "+c.Reason.Text())
	}
	return strings.Join(parts, ", ")
}

func (a *Account) sortedNames() []string { return slices.Sorted(maps.Keys(a.Names)) }

// ForManifest returns what a dataset's manifest has of its samples' account: names are as many as
// the set likes.
func (a *Account) ForManifest() Account {
	return Account{Rows: a.Rows, Kept: a.Kept, Dropped: a.Dropped, Noted: a.Noted,
		Repeats: a.Repeats}
}

// DroppedNamesHeader is the first line of a table of dropped names.
const DroppedNamesHeader = "dropped_name\twhy\tcount\n"

// DroppedNames lists the names as a .tsv table, the most frequent ones first. explain says what a
// name means.
func (a *Account) DroppedNames(explain func(name string) string) []byte {
	names := slices.SortedFunc(maps.Keys(a.Names), func(x, y string) int {
		return cmp.Or(a.Names[y]-a.Names[x], strings.Compare(x, y))
	})
	table := bytes.NewBufferString(DroppedNamesHeader)
	w := csv.NewWriter(table)
	w.Comma = '\t'
	for _, name := range names {
		_ = w.Write([]string{name, explain(name), strconv.Itoa(a.Names[name])})
	}
	w.Flush()
	return table.Bytes()
}

// Plural returns a number of things, such as 1 row or 2,000 rows. several is the plural of noun, ""
// if it is regular.
func Plural(n int, noun, several string) string {
	return Grouped(n) + " " + english.PluralWord(n, noun, several)
}

// Grouped formats n with commas between thousands.
func Grouped(n int) string { return humanize.Comma(int64(n)) }
