package ingest

import (
	"bytes"
	"iter"
	"slices"
)

// KindsAttribute is the attribute that says of what kind a sample's perturbations are, and the
// column of a table that does. Its text has the kind of each deleted gene, in the order of the
// perturbation indices, then GENE=KIND for each gene that is perturbed and not deleted, ascending,
// joined by |. Stores of torchcell have an attribute of another name.
const KindsAttribute = "kinds"

// AppendKind appends the kind of a deleted gene to the text of a sample's kinds.
func AppendKind(text, kind []byte) []byte {
	if len(text) > 0 {
		text = append(text, '|')
	}
	return append(text, kind...)
}

// AppendKept appends a gene that is perturbed and not deleted.
func AppendKept(text []byte, gene string, kind []byte) []byte {
	return AppendKind(text, slices.Concat([]byte(gene), []byte{'='}, kind))
}

// KeptGenes yields the genes that a sample perturbs and does not delete, from its text of kinds and
// the number of genes that it deletes.
func KeptGenes(text []byte, deleted int) iter.Seq[[]byte] {
	return func(yield func([]byte) bool) {
		part := 0
		for kind := range bytes.SplitSeq(text, []byte{'|'}) {
			at := bytes.LastIndexByte(kind, '=')
			if part++; part > deleted && at >= 0 && !yield(kind[:at]) {
				return
			}
		}
	}
}

// KindCounter counts perturbations by their kind.
type KindCounter struct {
	attribute int            // -1: samples have no kinds
	texts     map[string]int // samples by their text
}

// NewKindCounter makes a counter of samples with these columns.
func NewKindCounter(columns Columns) *KindCounter {
	return &KindCounter{attribute: slices.Index(columns.AttributeNames(), columns.Kinds), texts: make(map[string]int)}
}

// Add counts the perturbations of samples.
func (c *KindCounter) Add(samples *Samples) {
	if c.attribute < 0 {
		return
	}
	for i := range samples.Len() {
		if text := samples.Attribute(i, c.attribute).Text; text != nil {
			c.texts[string(text)]++
		}
	}
}

// Counts are the numbers of perturbations by kind, nil if samples have no kinds.
func (c *KindCounter) Counts() map[string]int {
	if c.attribute < 0 {
		return nil
	}
	counts := make(map[string]int)
	for text, samples := range c.texts {
		for kind := range bytes.SplitSeq([]byte(text), []byte("|")) {
			if at := bytes.LastIndexByte(kind, '='); at >= 0 {
				kind = kind[at+1:]
			}
			if len(kind) > 0 {
				counts[string(kind)] += samples
			}
		}
	}
	return counts
}
