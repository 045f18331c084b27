package source

import (
	"bytes"
	"fmt"
	"regexp"
	"slices"
	"strings"

	"tcbuild/fault"
)

// AlleleKind is what a strain has in place of a gene: one of the constants below.
type AlleleKind = string

const (
	DeletionAllele AlleleKind = "deletion"
	DAmPAllele     AlleleKind = "damp" // decreased abundance by mRNA perturbation
	// temperature-sensitive, or another named allele of the gene
	TSAllele AlleleKind = "ts"
	// suppressor strains, alleles that name another gene, and what cannot be told
	OtherAllele AlleleKind = "other"
)

var alleleKinds = []AlleleKind{DeletionAllele, DAmPAllele, TSAllele, OtherAllele}

var deletionsAlone = []AlleleKind{DeletionAllele}

// checkAlleles refuses kinds that do not exist; none stands for deletions alone.
func checkAlleles(kinds []AlleleKind) ([]AlleleKind, error) {
	if len(kinds) == 0 {
		return deletionsAlone, nil
	}
	for _, kind := range kinds {
		if !slices.Contains(alleleKinds, kind) {
			return nil, badSetting("", "alleles: found %q, expected some of deletion, damp, ts and other", kind)
		}
	}
	return kinds, nil
}

// deltas are the signs and words behind a gene's name that say it is deleted:
// Greek capital delta, the increment sign that some tables have in its place, and plain words.
var deltas = []string{"Δ", "∆", "-delta", "-del", "delta"}

// suppressor is the end of an allele's name or strain id that a spontaneous suppressor mutation
// got.
var suppressor = regexp.MustCompile(`(?i)[-_]supp?[0-9]*$`)

// cutDelta returns an allele's name without the sign that its gene is deleted.
func cutDelta(allele string) (name string, deleted bool) {
	for _, delta := range deltas {
		if name, found := strings.CutSuffix(allele, delta); found && name != "" {
			return name, true
		}
	}
	return allele, false
}

// kindOfAllele tells the kind of an allele from its name, given that the rest
// behind the gene's name is known: "" for a name that is the gene's own.
func kindOfAllele(rest string) AlleleKind {
	switch {
	case rest == "":
		return DeletionAllele
	case suppressor.MatchString(rest):
		return OtherAllele
	case strings.EqualFold(strings.Trim(rest, "-_()"), "damp"):
		return DAmPAllele
	default:
		return TSAllele
	}
}

// kindOfStrain tells the kind of a strain's allele from the part of its id
// behind the gene: sn and dma are deletion strains of queries and arrays, tsq and
// tsa temperature-sensitive ones, damp is DAmP (Costanzo et al. 2010, 2016).
// ok is false where that part says nothing, as in tm, of strains with several mutations.
func kindOfStrain(suffix string) (kind AlleleKind, ok bool) {
	letters := suffix[:len(suffix)-len(strings.TrimLeft(suffix, "abcdefghijklmnopqrstuvwxyz"))]
	switch {
	case suppressor.MatchString("_" + suffix):
		return OtherAllele, true
	case letters == "sn", letters == "dma":
		return DeletionAllele, true
	case letters == "tsq", letters == "tsa", letters == "ts":
		return TSAllele, true
	case letters == "damp":
		return DAmPAllele, true
	}
	return "", false
}

// locus is a mutated place in a strain.
type locus struct {
	namedGene
	kind    AlleleKind
	control bool // a marker that every strain of the screen carries, not a mutation
}

// alleleReader finds the loci of strains.
type alleleReader struct {
	names    *Names
	controls map[string]bool // gene ids and other names, in upper case
}

// find is that of names; alleles are written in lower case, genes in upper case.
func (r *alleleReader) find(name string) (row uint32, result found) {
	if row, result = r.names.find([]byte(name)); result != unknown {
		return row, result
	}
	return r.names.find(bytes.ToUpper([]byte(name)))
}

// locus makes the locus of a gene that is named by itself.
func (r *alleleReader) locus(name string, kind AlleleKind) locus {
	row, result := r.find(name)
	l := locus{namedGene: namedGene{name, row, result}, kind: kind}
	l.control = r.controls[strings.ToUpper(name)] || l.result == gene && r.controls[r.names.genes.IDs[l.gene]]
	return l
}

// ofAllele makes the locus of an allele's name alone: ost3Δ, act1-129, YBR004C-PH. The
// gene is the longest beginning of it, up to a hyphen, that names one.
func (r *alleleReader) ofAllele(allele string) locus {
	name, deleted := cutDelta(allele)
	if deleted {
		return r.locus(name, DeletionAllele)
	}
	for end := len(name); end > 0; end = strings.LastIndexByte(name[:end], '-') {
		l := r.locus(name[:end], kindOfAllele(name[end:]))
		if l.result != unknown || l.control {
			return l
		}
	}
	return locus{namedGene: namedGene{name: allele, result: unknown}, kind: OtherAllele}
}

// ofStrain makes the loci of a strain id: YAL001C_tsq508, or YBR150C+YDR034C_tm1234 of a strain
// with several mutations. allele names them, joined by "+" in the same order; "" when the table
// has no such column. Only what the strain id leaves open is taken from it.
func (r *alleleReader) ofStrain(id, allele string) ([]locus, error) {
	orfs, suffix, _ := strings.Cut(id, "_")
	names := strings.Split(orfs, "+")
	alleles := make([]string, len(names))
	if allele != "" {
		if alleles = strings.Split(allele, "+"); len(alleles) != len(names) {
			return nil, fmt.Errorf("strain %s has %d genes and its allele name %s has %d, expected as many",
				fault.Quote(id), len(names), fault.Quote(allele), len(alleles))
		}
	}
	loci := make([]locus, len(names))
	for i, name := range names {
		if name == "" {
			return nil, fmt.Errorf("strain %s: found an empty gene name, expected one such as YAL001C", fault.Quote(id))
		}
		loci[i] = r.locus(name, r.strainKind(name, alleles[i], suffix, len(names) > 1))
	}
	return loci, nil
}

// strainKind tells the kind of one allele of a strain.
func (r *alleleReader) strainKind(orf, allele, suffix string, several bool) AlleleKind {
	if suppressor.MatchString(allele) {
		return OtherAllele
	}
	if kind, ok := kindOfStrain(suffix); ok && !several {
		return kind
	}
	switch {
	case allele != "" && strings.EqualFold(allele, orf):
		return DeletionAllele
	case allele != "":
		return r.ofAllele(allele).kind
	case suffix == "":
		return DeletionAllele
	default:
		return OtherAllele
	}
}

// ofMutation makes the locus of a gene and what another column says of it: DELETION, DAMP,
// an allele's name, or "delta NAME" for the deletion of the open reading frame NAME.
func (r *alleleReader) ofMutation(name, mutation string) locus {
	first, deleted, _ := strings.Cut(strings.ToLower(mutation), " ")
	switch {
	case mutation == "", first == "deletion", first == "del", first == "delta" && deleted == "", mutation == "Δ":
		return r.locus(name, DeletionAllele)
	case strings.EqualFold(mutation, "damp"):
		return r.locus(name, DAmPAllele)
	case first == "delta" && !strings.EqualFold(deleted, name):
		return r.locus(name, OtherAllele) // a neighbour's frame, which overlaps the gene
	case first == "delta":
		return r.locus(name, DeletionAllele)
	}
	allele := r.ofAllele(mutation)
	if l := r.locus(name, allele.kind); allele.result != gene || allele.gene == l.gene {
		return l
	}
	return r.locus(name, OtherAllele)
}
