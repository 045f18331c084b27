package samples

import (
	"bytes"
	"slices"

	"tcbuild/fault"
	"tcbuild/ingest"
)

// IgnoreKindsColumn, as Spec.KindsColumn, ignores a column of the default name.
const IgnoreKindsColumn = "-"

const kindsHint = "give each gene its kind, in the order of the genes, or one kind for all"

// checkKinds returns an error for wrong kinds in a table, and for a gene that it says to be both
// deleted and staying.
func checkKinds(r *Record) error {
	if r.ListedKinds != 1 && r.ListedKinds != r.ListedGenes {
		return fault.New(fault.Input, kindsHint,
			"found %d kinds for %d names, expected one for each, or one for all",
			r.ListedKinds, r.ListedGenes)
	}
	for i := range r.Mentions {
		m := &r.Mentions[i]
		contradicts := func(earlier Mention) bool {
			return earlier.isOf(m.Answer.Gene) && earlier.Stays != m.Stays
		}
		switch {
		case !m.isGene():
		case len(m.Kind) == 0:
			return fault.New(fault.Input, kindsHint,
				"found no kind of gene %s, expected one such as deletion", fault.Quote(m.Text))
		case !isKind(m.Kind):
			return wrongKind(m.Kind)
		case slices.ContainsFunc(r.Mentions[:i], contradicts):
			return fault.New(fault.Input, "list the gene once",
				"found gene %s both among the deleted genes and among those that stay, "+
					"expected one of the two", fault.Quote(m.Text))
		}
	}
	return nil
}

// isKind reports whether a text is a valid kind: it can stand in a list, and joined to others by +.
func isKind(kind []byte) bool {
	for part := range bytes.SplitSeq(kind, []byte{'+'}) {
		if len(part) == 0 || bytes.ContainsAny(part, "=|") {
			return false
		}
	}
	return true
}

func wrongKind(kind []byte) error {
	return fault.New(fault.Input, "rename the kind",
		"found kind %s, expected a text without = and |, or several joined by +", fault.Quote(kind))
}

// kindsText returns the text of a sample's kinds (ingest.KindsAttribute), missing if the sample
// perturbs no gene: for each deleted gene, the kinds in some mentions of a record, joined by + as
// torchcell does; then GENE=KIND for each gene that stays, by all mentions.
func (g *Genotyper) kindsText(
	buffer []byte, r *Record, deleting []Mention, genotype *Genotype,
) ingest.Value {
	if len(genotype.Genes)+len(genotype.Staying) == 0 {
		return ingest.Value{}
	}
	text := append(buffer, ""...)
	for _, gene := range genotype.Genes {
		text = append(appendKindsOf(text, deleting, gene), '|')
	}
	for _, gene := range genotype.Staying {
		text = append(append(text, g.names.Nodes().IDs[gene]...), '=')
		text = append(appendKindsOf(text, r.Mentions, gene), '|')
	}
	return ingest.Value{Text: text[:len(text)-1]}
}

// appendKindsOf appends the different kinds of a gene's mentions.
func appendKindsOf(text []byte, mentions []Mention, gene uint32) []byte {
	start := len(text)
	for i, m := range mentions {
		repeats := func(earlier Mention) bool {
			return earlier.isOf(gene) && bytes.Equal(earlier.Kind, m.Kind)
		}
		isNew := m.isOf(gene) && m.Kind != nil && !slices.ContainsFunc(mentions[:i], repeats)
		if isNew && len(text) > start {
			text = append(text, '+')
		}
		if isNew {
			text = append(text, m.Kind...)
		}
	}
	return text
}
