package names

import (
	"bytes"
	"regexp"
	"strings"
	"unicode/utf8"

	"github.com/dustin/go-humanize/english"
	"golang.org/x/text/unicode/norm"

	"tcbuild/fault"
)

// near asks whether a gene is meant whose name is the same but for upper and lower case, its
// version, or the way in which Unicode composes its letters, or is nearly the same. It returns ""
// if there is none.
func (r *Resolver) near(name string) string {
	composed, plain := norm.NFC.String(name), unversioned(name)
	var genes []string
	for _, known := range r.exact.names() {
		if r.Exact([]byte(known)).Meaning != Gene {
			continue
		}
		quoted := fault.Quote(known)
		switch other := norm.NFC.String(known); {
		case other == composed:
			return "did you mean " + quoted + "? It looks the same, but its letters are composed " +
				"in another way; write both in Unicode's form NFC"
		case unversioned(known) == plain:
			return "did you mean " + quoted + "? They differ in the version after the dot; " +
				"give both without it"
		case strings.EqualFold(other, composed):
			return "did you mean " + quoted + "? Upper and lower case differ"
		}
		genes = append(genes, known)
	}
	near := fault.Closest(name, genes, 1+min(1, utf8.RuneCountInString(name)/7))
	if near == nil {
		return ""
	}
	return "did you mean " + english.WordSeries(near[:min(3, len(near))], "or") +
		"? Otherwise add the gene or this name of it to the graph"
}

// gene returns the gene of an allele or strain of yeast, such as cdc28-4, cdc28Δ and YAL040C_tsa12;
// "" if it is none. YBL008W-A is a gene.
func (r *Resolver) gene(allele string) string {
	end := strings.LastIndexAny(allele, "-_Δ∆")
	if end <= 0 || regexp.MustCompile(`-[A-Z]$`).MatchString(allele) {
		return ""
	}
	if name := strings.ToUpper(allele[:end]); r.Find([]byte(name)).Known() {
		return name
	}
	return r.gene(allele[:end])
}

// versioned matches ids of Ensembl and RefSeq with their version, as ENSG00000141510.18.
var versioned = regexp.MustCompile(versionedID)

// versionedInAnyCase is for graphs that ignore case: ensg00000141510.18.
var versionedInAnyCase = regexp.MustCompile(`(?i)` + versionedID)

const versionedID = `^(ENS[A-Z]*[GTP][0-9]{11}|[NX][MRP]_[0-9]+)\.[0-9]+$`

// unversioned returns an id without its version, if it has one.
func unversioned(id string) string {
	if plain := withoutVersion([]byte(id), versioned); plain != nil {
		return string(plain)
	}
	return id
}

// withoutVersion returns an id without its version, or a number without the .0 of an Entrez id in a
// column of floating-point numbers; nil if it has neither. versioned matches ids with a version.
func withoutVersion(name []byte, versioned *regexp.Regexp) []byte {
	dot := bytes.LastIndexByte(name, '.')
	if dot <= 0 {
		return nil
	}
	isDigit := func(c byte) bool { return c >= '0' && c <= '9' }
	entrez := string(name[dot:]) == ".0" && isDigit(name[0]) && name[0] != '0'
	for _, c := range name[:dot] {
		entrez = entrez && isDigit(c)
	}
	if entrez || name[0] >= 'E' && versioned.Match(name) {
		return name[:dot]
	}
	return nil
}

// LooksLikeControl reports whether published screens give their controls such a name, also with
// numbers. It is false for a name that has a gene beside a control.
func LooksLikeControl(name string) bool { return usualControl.MatchString(name) }

// usualControl has short words only without digits right after them: WT1 and NT5 are genes.
var usualControl = regexp.MustCompile(`(?i)^(?:(?:` +
	`(?:(?:non|neg(?:ative)?|safe)[-_ .]?)?(?:ctrl|control|targeting)s?|` +
	`ntc|scrambled?|unperturbed|intergenic|wild[-_ ]?type)[-_ .]*[0-9]*[-_ .]*)+$|` +
	`^(?:nt|neg|wt)(?:[-_ .][0-9]*)?$`)
