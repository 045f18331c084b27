package samples

import (
	"slices"
	"strings"
	"unicode"

	"tcbuild/fault"
	"tcbuild/ingest"
	"tcbuild/ingest/names"
)

const duplicateNameHint = "rename or remove one, or set allow_duplicate_ids=true: " +
	"samples are named by row and column"

const columnsAreHint = "set columns_are=genes if the values are of double mutants, " +
	"or columns_are=conditions if they are of the row's gene only"

// checkColumns returns an error for a matrix whose columns may not be conditions for whole
// deletions, unless the settings say what they are.
func (m *matrix) checkColumns(known *names.Resolver) error {
	var genes, partial []string
	at := make(map[string]int)
	for k, name := range m.Names {
		if first, again := at[name]; again && !m.AllowDuplicateIDs {
			return fault.New(fault.Input, duplicateNameHint,
				"read matrix %s: value columns %d and %d are both named %s, expected unique names",
				m.File, first+1, k+1, fault.Quote(name))
		}
		at[name] = k
		if strings.TrimSpace(name) != name {
			return fault.New(fault.Input, "remove the spaces from the header",
				"read matrix %s: found column %s, expected a name without spaces around it", m.File,
				fault.Quote(name))
		}
		if namesGene(name, known) {
			genes = append(genes, name)
		}
		if m.partialLossOf(name) {
			partial = append(partial, name)
		}
	}
	switch {
	case m.ColumnsAre == "" && 2*len(genes) > len(m.Names):
		return fault.New(fault.Input, columnsAreHint,
			"read matrix %s: %s of its %s are named like genes, such as %s, expected conditions",
			m.File, ingest.Grouped(len(genes)), ingest.Plural(len(m.Names), "column", ""),
			fault.Quote(genes[0]))
	case m.PartialLoss == "" && len(partial) > 0:
		return fault.New(fault.Input, "set partial_loss=drop to omit these columns",
			"read matrix %s: found %s of %s whose names say that the strains keep part of the "+
				"gene's function, such as %s, expected deletions",
			m.File, ingest.Grouped(len(partial)), ingest.Plural(len(m.Names), "column", ""),
			fault.Quote(partial[0]))
	}
	return nil
}

// partialLossOf reports whether the strains of a column keep part of the gene's function. Where
// columns are genes, their names and alleles say so.
func (m *matrix) partialLossOf(name string) bool {
	return saysPartialLoss(m.First) || m.ColumnsAre != SecondGenes && saysPartialLoss(name)
}

// namesGene reports whether a column is named after a gene, an allele or a strain.
func namesGene(column string, known *names.Resolver) bool {
	reader := alleles{genes: known, yeast: true}
	m := reader.ofName(column)
	return m.Genes != nil || reader.isWhole(string(m.Text))
}

// partialLossWords are the words in screens' names that say that a strain keeps part of the gene's
// function.
var partialLossWords = []string{"het", "hets", "hetero", "heterozygous", "heterozygote",
	"heterozygotes", "heterozygosity", "hip", "haploinsufficiency", "haploinsufficient", "damp",
	"hypomorph", "hypomorphs", "hypomorphic"}

// saysPartialLoss reports whether a name has one of these words, such as "het | growth (pooled
// culture) | glycerol".
func saysPartialLoss(name string) bool {
	words := strings.FieldsFunc(strings.ToLower(name),
		func(r rune) bool { return !unicode.IsLetter(r) })
	return slices.ContainsFunc(words,
		func(word string) bool { return slices.Contains(partialLossWords, word) })
}
