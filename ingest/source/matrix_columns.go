package source

import (
	"regexp"
	"slices"
	"strings"
	"unicode"

	"tcbuild/fault"
)

const duplicateNameHint = "rename or remove one, or pass --allow-duplicate-ids: samples are named by row and column"

const columnsAreHint = "pass --columns-are genes if the values are of double mutants, or --columns-are conditions if they are of the row's gene alone"

// checkColumns returns an error for a matrix whose columns may not be conditions for whole
// deletions, unless the settings say what they are.
func (s MatrixSpec) checkColumns(layout *matrixLayout, names *Names) error {
	var genes, partial []string
	at := make(map[string]int)
	for k, name := range layout.names {
		if first, again := at[name]; again && !s.AllowDuplicateIDs {
			return fault.New(fault.Input, duplicateNameHint,
				"read matrix %s: value columns %d and %d are both named %s, expected unique names",
				s.File, first+1, k+1, fault.Quote(name))
		}
		at[name] = k
		if strings.TrimSpace(name) != name {
			return fault.New(fault.Input, "remove the blanks from the header",
				"read matrix %s: found column %s, expected a name without blanks around it", s.File, fault.Quote(name))
		}
		if namesGene(name, names) {
			genes = append(genes, name)
		}
		if s.partialLoss(layout, name) {
			partial = append(partial, name)
		}
	}
	switch {
	case s.ColumnsAre == "" && 2*len(genes) > len(layout.names):
		return fault.New(fault.Input, columnsAreHint,
			"read matrix %s: %s of its %s are named like genes, such as %s, expected conditions",
			s.File, grouped(len(genes)), plural(len(layout.names), "column", ""), fault.Quote(genes[0]))
	case s.PartialLoss == "" && len(partial) > 0:
		return fault.New(fault.Input, "pass --partial-loss drop to omit these columns",
			"read matrix %s: found %s of %s whose names say that the strains keep part of the gene's function, such as %s, expected deletions",
			s.File, grouped(len(partial)), plural(len(layout.names), "column", ""), fault.Quote(partial[0]))
	}
	return nil
}

// partialLoss reports whether the strains of a column keep part of the gene's function. Where
// columns are genes, their names and --alleles say so.
func (s MatrixSpec) partialLoss(layout *matrixLayout, name string) bool {
	return saysPartialLoss(layout.first) || s.ColumnsAre != SecondGenes && saysPartialLoss(name)
}

// systematicName matches the start of systematic names of nuclear open reading frames, such as
// YAL016C-B.
var systematicName = regexp.MustCompile(`^Y[A-P][LR][0-9]{3}[WC]`)

// namesGene reports whether a column is named after a gene, an allele or a strain.
func namesGene(column string, names *Names) bool {
	name, _, _ := strings.Cut(column, "_")
	reader := alleleReader{names: names}
	return systematicName.MatchString(column) || reader.ofAllele(column).result != unknown || reader.ofAllele(name).result != unknown
}

// partialLossWords are the words in screens' names that say that a strain keeps part of the gene's
// function.
var partialLossWords = []string{"het", "hets", "hetero", "heterozygous", "heterozygote", "heterozygotes", "heterozygosity",
	"hip", "haploinsufficiency", "haploinsufficient", "damp", "hypomorph", "hypomorphs", "hypomorphic"}

// saysPartialLoss reports whether a name has one of these words, such as "het | growth (pooled
// culture) | glycerol".
func saysPartialLoss(name string) bool {
	words := strings.FieldsFunc(strings.ToLower(name), func(r rune) bool { return !unicode.IsLetter(r) })
	return slices.ContainsFunc(words, func(word string) bool { return slices.Contains(partialLossWords, word) })
}
