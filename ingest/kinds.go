package ingest

import (
	"bytes"
	"maps"
	"slices"
	"strings"
)

// KindsAttribute is the attribute that says of what kind a sample's perturbations are, and the
// column of a table that does. Its text has the kind of each deleted gene, in the order of the
// perturbation indices, then GENE=KIND for each gene that is perturbed and not deleted, ascending,
// joined by |. Stores of torchcell have an attribute of another name.
const KindsAttribute = "kinds"

// AppendWithoutCase appends the text of a sample's kinds in lower case, as kinds that differ only
// by case are the same. Names of genes keep their case.
func AppendWithoutCase(to, text []byte) []byte {
	for part := range bytes.SplitSeq(text, []byte{'|'}) {
		kind := bytes.LastIndexByte(part, '=') + 1
		to = append(append(append(to, part[:kind]...), bytes.ToLower(part[kind:])...), '|')
	}
	return to
}

// KindCounter counts perturbations by their kind.
type KindCounter struct {
	attribute int
	hasKinds  bool // samples have the attribute
	deleted   map[string]*int
	staying   map[string]*int
}

// NewKindCounter makes a counter of samples with these columns.
func NewKindCounter(columns Columns) *KindCounter {
	attribute := slices.Index(columns.AttributeNames(), columns.Kinds)
	return &KindCounter{attribute: attribute, hasKinds: attribute >= 0,
		deleted: make(map[string]*int), staying: make(map[string]*int)}
}

// Add counts the perturbations of samples.
func (c *KindCounter) Add(samples *Samples) {
	if !c.hasKinds {
		return
	}
	for i := range samples.Len() {
		text := samples.Attribute(i, c.attribute).Text
		for range samples.Genes(i) {
			var kind []byte
			kind, text, _ = bytes.Cut(text, []byte{'|'})
			count(c.deleted, kind)
		}
		for more := len(text) > 0; more; {
			var staying []byte
			staying, text, more = bytes.Cut(text, []byte{'|'})
			count(c.staying, staying[bytes.LastIndexByte(staying, '=')+1:])
		}
	}
}

func count(counts map[string]*int, kind []byte) {
	if n := counts[string(kind)]; n != nil {
		*n++
	} else {
		counts[string(kind)] = new(1)
	}
}

// Counts returns the number of perturbations of each kind, nil if samples have no kinds. Kinds that
// differ only by case are counted together, under the most frequent spelling. Perturbations without
// a kind are left out.
func (c *KindCounter) Counts() map[string]int {
	if !c.hasKinds {
		return nil
	}
	all := foldKinds(c.deleted, c.staying)
	delete(all, "")
	return all
}

// Deleted returns the number of perturbations of each kind that delete their gene, as in Counts,
// and under "" of those without a kind.
func (c *KindCounter) Deleted() map[string]int { return foldKinds(c.deleted) }

// foldKinds adds up the counts of kinds that differ only by case.
func foldKinds(all ...map[string]*int) map[string]int {
	counts := make(map[string]int)
	for _, some := range all {
		for kind, n := range some {
			counts[kind] += *n
		}
	}
	spelling, sums := make(map[string]string), make(map[string]int)
	for _, kind := range slices.Sorted(maps.Keys(counts)) {
		fold := strings.ToLower(kind)
		sums[fold] += counts[kind]
		if most, known := spelling[fold]; !known || counts[kind] > counts[most] {
			spelling[fold] = kind
		}
	}
	folded := make(map[string]int, len(sums))
	for fold, sum := range sums {
		folded[spelling[fold]] = sum
	}
	return folded
}
