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
		if namesGene(name, names) {
			genes = append(genes, name)
		}
		if saysPartialLoss(name) || saysPartialLoss(layout.first) {
			partial = append(partial, name)
		}
	}
	switch {
	case s.ColumnsAre == "" && 2*len(genes) > len(layout.names):
		return fault.New(fault.Input, columnsAreHint,
			"read matrix %s: %s of its %s columns are named like genes, such as %s, expected conditions",
			s.File, grouped(len(genes)), grouped(len(layout.names)), fault.Quote(genes[0]))
	case s.PartialLoss == "" && len(partial) > 0:
		return fault.New(fault.Input, "pass --partial-loss drop to omit these columns, or --partial-loss keep to count them as deletions",
			"read matrix %s: found %s of %s columns whose names say that the strains keep part of the gene's function, such as %s, expected deletions",
			s.File, grouped(len(partial)), grouped(len(layout.names)), fault.Quote(partial[0]))
	}
	return nil
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
