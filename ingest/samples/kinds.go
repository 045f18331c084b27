package samples

import (
	"bytes"
	"slices"

	"tcbuild/fault"
	"tcbuild/ingest"
)

// NoKinds, as Spec.KindsColumn, ignores a column of the default name.
const NoKinds = "-"

const kindsHint = "give each gene its kind, in the order of the genes, or one kind for all"

// splitByKind moves the genes that a record perturbs and does not delete from to.Genes to to.Stays,
// and checks the kinds of a table.
func (g *Genotyper) splitByKind(r *Record, to *Genotype) error {
	if g.hasKinds {
		if err := g.checkKinds(r, to); err != nil {
			return err
		}
	}
	deleted := to.Genes[:0]
	for _, gene := range to.Genes {
		if g.deletes(r, gene) {
			deleted = append(deleted, gene)
		} else {
			to.Stays = append(to.Stays, gene)
		}
	}
	to.Genes = deleted
	return nil
}

// deletes reports whether a record deletes a gene that it perturbs: the choice of kinds is asked
// before the table, which may have been written with another one.
func (g *Genotyper) deletes(r *Record, gene uint32) bool {
	for i := range r.Mentions {
		m := &r.Mentions[i]
		if !m.isGene() || m.Answer.Gene != gene {
			continue
		}
		kind := m.Kind
		if g.kind != nil {
			kind = g.kind
		}
		if removes(g.removing, kind) && (g.removing != nil || !m.Stays) {
			return true
		}
	}
	return false
}

// checkKinds returns an error for wrong kinds of a table, and for a gene that it says to be both
// deleted and not.
func (g *Genotyper) checkKinds(r *Record, to *Genotype) error {
	if r.Kinds != 1 && r.Kinds != r.Listed {
		return fault.New(fault.Input, kindsHint,
			"found %d kinds for %d names, expected one for each, or one for all", r.Kinds, r.Listed)
	}
	for _, gene := range to.Genes {
		var first *Mention
		for i := range r.Mentions {
			m := &r.Mentions[i]
			id := ""
			if m.isGene() && m.Answer.Gene == gene {
				id = g.names.ID(m.Answer)
			}
			switch {
			case id == "":
			case len(m.Kind) == 0:
				return fault.New(fault.Input, kindsHint,
					"found no kind of gene %s, expected one such as deletion", fault.Quote(id))
			case !isKind(m.Kind):
				return CheckKind(string(m.Kind))
			case first != nil && first.Stays != m.Stays:
				return fault.New(fault.Input, "list the gene once",
					"found gene %s both among the deleted genes and among those that stay, "+
						"expected one of the two", fault.Quote(id))
			default:
				first = m
			}
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

// CheckKind returns an error for a text that cannot be a kind.
func CheckKind(kind string) error {
	if isKind([]byte(kind)) {
		return nil
	}
	return fault.New(fault.Input, "rename the kind",
		"found kind %s, expected a text without = and |, or several joined by +", fault.Quote(kind))
}

// allExperiments, as an experiment, stands for all of a record.
const allExperiments = -1

// appendKinds appends the text of a sample's kinds (ingest.KindsAttribute): for each
// deleted gene, the kinds that an experiment mentions, joined by + as torchcell does; then
// GENE=KIND for each gene that stays.
func (g *Genotyper) appendKinds(text []byte, r *Record, genotype *Genotype, experiment int) []byte {
	for k, gene := range genotype.Genes {
		if k > 0 {
			text = append(text, '|')
		}
		text = appendKindsOf(text, r, gene, experiment)
	}
	for k, gene := range genotype.Stays {
		if k > 0 || len(genotype.Genes) > 0 {
			text = append(text, '|')
		}
		text = append(append(text, g.names.Nodes().IDs[gene]...), '=')
		text = appendKindsOf(text, r, gene, allExperiments)
	}
	return text
}

// appendKindsOf appends the different kinds of a gene's mentions.
func appendKindsOf(text []byte, r *Record, gene uint32, experiment int) []byte {
	start := len(text)
	concerns := func(m Mention) bool {
		ofExperiment := experiment == allExperiments || m.Experiment == experiment
		ofGene := m.isGene() && m.Answer.Gene == gene
		return ofExperiment && ofGene && m.Kind != nil
	}
	for i, m := range r.Mentions {
		repeats := func(earlier Mention) bool {
			return concerns(earlier) && bytes.Equal(earlier.Kind, m.Kind)
		}
		if !concerns(m) || slices.ContainsFunc(r.Mentions[:i], repeats) {
			continue
		}
		if len(text) > start {
			text = append(text, '+')
		}
		text = append(text, m.Kind...)
	}
	return text
}

// kindsText is the text of a sample's kinds, missing if the sample perturbs no gene.
func (g *Genotyper) kindsText(buffer []byte, r *Record, of *Genotype, experiment int) ingest.Value {
	if len(of.Genes)+len(of.Stays) == 0 {
		return ingest.Value{}
	}
	text := g.appendKinds(buffer, r, of, experiment)
	if text == nil {
		text = []byte{}
	}
	return ingest.Value{Text: text}
}
