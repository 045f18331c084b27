package samples

import (
	"cmp"
	"fmt"
	"regexp"
	"slices"
	"strings"

	"tcbuild/fault"
	"tcbuild/ingest"
	"tcbuild/ingest/names"
)

// checkUnknown notes a name that means no gene of the graph, or several. It returns an error if the
// name is a mistake in the table, such as a list of genes, or if such names are refused.
func (g *Genotyper) checkUnknown(m *Mention, to *Genotype) error {
	err := names.Unexpected(m.Text)
	if err == nil {
		err = g.checkNoList(m, to)
	}
	if err == nil && g.spec.UnknownGenes == ingest.RefuseUnknownGenes {
		err = g.refuse(m)
	}
	if err != nil && m.Stays {
		return fault.New(fault.KindOf(err), fault.HintOf(err), "kind %s: %w",
			fault.Quote(string(m.Text)+"="+string(m.Kind)), err)
	}
	if !m.Repeated {
		to.Unknown = append(to.Unknown, m.Text)
	}
	return err
}

const dropHint = "; to drop such samples, pass --unknown-genes=drop-sample"

// refuse returns the error of a name that means no gene.
func (g *Genotyper) refuse(m *Mention) error {
	err := g.names.Explain(m.Text)
	hint := fault.HintOf(err)
	if names.LooksLikeControl(string(m.Text)) {
		hint = "if it is a control, which deletes nothing, pass --controls=" + string(m.Text)
		if len(g.spec.Controls) > 0 {
			hint = fmt.Sprintf("if it is a control too, add %s to --controls", m.Text)
		}
	}
	return fault.New(fault.Input, hint+dropHint, "%w", err)
}

// checkNoList returns a fault.Input if a name that no gene has is a list of genes, with another
// delimiter than the table's: taken for an unknown gene, it would drop every sample of several
// genes. A part that is no gene makes it one name: ARG5,6 is one. A read-through gene, such as
// KLRC4-KLRK1, is unknown where such samples are dropped.
func (g *Genotyper) checkNoList(m *Mention, to *Genotype) error {
	if m.Answer.Known() || to.checked[string(m.Text)] {
		return nil
	}
	if to.checked == nil {
		to.checked = make(map[string]bool)
	}
	to.checked[string(m.Text)] = true
	genes := g.namesIn(string(m.Text))
	if len(genes) < 2 {
		return nil
	}
	between, _, _ := strings.Cut(string(m.Text[len(genes[0]):]), genes[1])
	delimiter := cmp.Or(strings.TrimSpace(between), " ")
	hint := "put each gene in a column of its own"
	if len(g.spec.GenesColumns) < 2 {
		hint = fmt.Sprintf("add gene_delimiter=%q", delimiter)
	}
	isControl := func(name string) bool {
		return g.names.Find([]byte(name)).Meaning == names.Control
	}
	if delimiter == "-" && !slices.ContainsFunc(genes, isControl) { // a read-through gene
		if g.spec.UnknownGenes == ingest.DropSample {
			return nil
		}
		hint += dropHint
	}
	return fault.New(fault.Input, hint, "found gene %s, expected one gene, not a list of %d",
		fault.Quote(m.Text), len(genes))
}

// separators are the characters between the genes of a text that names several.
const separators = "_-:;,|+/& "

// longestList limits the text that is searched for genes, in bytes.
const longestList = 1 << 12

// namesIn returns the genes of a text that consists of names and separators, each the longest
// possible; nil if it has anything else.
func (g *Genotyper) namesIn(text string) []string {
	if len(text) > longestList {
		return nil
	}
	for end := len(text); end > 0; end = strings.LastIndexAny(text[:end], separators) {
		if !g.isName(text[:end]) {
			continue
		}
		rest := strings.TrimLeft(text[end:], separators)
		if rest == "" {
			return []string{text[:end]}
		}
		if others := g.namesIn(rest); others != nil {
			return append([]string{text[:end]}, others...)
		}
	}
	return nil
}

// systematicName matches systematic names of yeast's genes: open reading frames of the nucleus
// (YAL016C-B), of mitochondria (Q0010) and of the 2-micron plasmid (R0010W), tRNAs (tK(CUU)K), and
// other RNAs (YNCA0001W).
var systematicName = regexp.MustCompile(`(?i)^(Y[A-P][LR][0-9]{3}[WC](-[A-Z])?|Q[0-9]{4}|` +
	`R[0-9]{4}[WC]|T[A-Z]([A-Z]{2})?\([ACGTUN]{3}\)[A-Q][0-9]*|YNC[A-Q][0-9]{4}[WC])$`)

// isName reports whether a text is the name of a gene, in the graph or not, or of a control. Δ
// marks a deletion.
func (g *Genotyper) isName(text string) bool {
	text = strings.TrimSuffix(text, "Δ")
	answer := g.names.Find([]byte(text))
	return answer.Known() || answer.Meaning == names.Control || systematicName.MatchString(text)
}
