// Package where decides by an expression which samples of a perturbation set are kept. The language
// is a part of github.com/expr-lang/expr, whose parser and type checker it uses; docs/DESIGN.md,
// Filters, describes it.
package where

import "tcbuild/ingest"

// Filter is a compiled expression. It is safe for concurrent use.
type Filter struct{ keeps truthOf }

// term is what an expression asks of a sample: one of number, text and truth. Its name has a space,
// so it cannot be written in an expression.
type term struct {
	name   string
	misses bool // the value can be missing
	number numberOf
	text   textOf
	truth  truthOf
}

type valueKind int

const (
	aTruth valueKind = iota
	aNumber
	aText
)

func (t term) kind() valueKind {
	switch {
	case t.number != nil:
		return aNumber
	case t.text != nil:
		return aText
	}
	return aTruth
}

// Sample is what an expression can ask about. A missing phenotype is NaN.
type Sample struct {
	ID         []byte
	Genes      []uint32 // strictly ascending
	Phenotypes []float64
	Attributes []ingest.Value
}

// missingText is in the bytes of a missing text. Texts are UTF-8, which never has this byte, and
// whatever is made of a missing text still has it.
const missingText = 0xff

var noText = []byte{missingText}

// Keeps reports whether the expression is true for a sample.
func (f *Filter) Keeps(sample *Sample) bool { return f.keeps(sample) }
