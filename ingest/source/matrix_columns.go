package source

import (
	"regexp"
	"slices"
	"strings"
	"unicode"

	"tcbuild/fault"
)

const duplicateNameHint = "rename or remove one, or pass --allow-duplicate-ids: samples are named by row and column"

const columnsAreHint = "pass --columns-are genes if each value is of a double mutant, or --columns-are conditions if it is of the row's gene alone"

// checkColumns refuses a matrix whose columns may not be conditions in which whole deletions grew,
// unless the settings say what they are.
func (s MatrixSpec) checkColumns(layout *matrixLayout, names *Names) error {
	var genes, partial []string
	at := make(map[string]int)
	for k, name := range layout.names {
		if first, again := at[name]; again && !s.AllowDuplicateIDs {
			return fault.New(fault.Input, duplicateNameHint, "read matrix %s: value columns %d and %d are both named %s, expected unique names",
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
		return fault.New(fault.Input, columnsAreHint, "read matrix %s: %s of its %s columns are named as genes, such as %s (expected conditions)",
			s.File, grouped(len(genes)), grouped(len(layout.names)), fault.Quote(genes[0]))
	case s.PartialLoss == "" && len(partial) > 0:
		return fault.New(fault.Input, "pass --partial-loss drop to leave these columns out, or --partial-loss keep to take them as deletions",
			"read matrix %s: by their names, %s of its %s columns are of strains that do not lack the gene whole, such as %s (expected deletions)",
			s.File, grouped(len(partial)), grouped(len(layout.names)), fault.Quote(partial[0]))
	}
	return nil
}

// systematicName is how the names of open reading frames of the nucleus begin, as YAL016C-B.
var systematicName = regexp.MustCompile(`^Y[A-P][LR][0-9]{3}[WC]`)

// namesGene reports whether a column is named as a gene, an allele of it or a strain without it.
func namesGene(column string, names *Names) bool {
	name, _, _ := strings.Cut(column, "_")
	reader := alleleReader{names: names}
	return systematicName.MatchString(column) || reader.ofAllele(column).result != unknown || reader.ofAllele(name).result != unknown
}

// partialLossWords are those by which names of screens say that a strain has a part of the gene's
// function left.
var partialLossWords = []string{"het", "hets", "hetero", "heterozygous", "heterozygote", "heterozygotes", "heterozygosity",
	"hip", "haploinsufficiency", "haploinsufficient", "damp", "hypomorph", "hypomorphs", "hypomorphic"}

// saysPartialLoss reports whether a name has one of these words, as "het | growth (pooled culture)
// | glycerol" has.
func saysPartialLoss(name string) bool {
	words := strings.FieldsFunc(strings.ToLower(name), func(r rune) bool { return !unicode.IsLetter(r) })
	return slices.ContainsFunc(words, func(word string) bool { return slices.Contains(partialLossWords, word) })
}
