package ingest

import (
	"bytes"
	"cmp"
	"fmt"
	"regexp"
	"slices"
	"strings"

	"golang.org/x/text/unicode/norm"

	"tcbuild/fault"
)

// UnknownGenes says what to do with a sample that deletes a gene that is not in the graph.
type UnknownGenes string

const (
	// RefuseUnknownGenes fails with an error that names the gene. It is the default.
	RefuseUnknownGenes UnknownGenes = "error"
	// DropSample drops the sample and counts it.
	DropSample UnknownGenes = "drop-sample"
	// DropGene drops the gene from its sample and counts it, as torchcell does. A sample left
	// without genes would be training on the whole graph, so it is dropped and counted.
	DropGene UnknownGenes = "drop-gene"
)

// UnknownGenesChoices are the values of the setting and flag, the default first.
var UnknownGenesChoices = []UnknownGenes{RefuseUnknownGenes, DropSample, DropGene}

// Check returns a fault.Usage for any other value. "" means RefuseUnknownGenes.
func (u UnknownGenes) Check() error {
	return fault.OneOf("unknown_genes", cmp.Or(u, RefuseUnknownGenes), UnknownGenesChoices...)
}

// Synonyms says what to do with a sample that names one gene by two names.
type Synonyms string

const (
	RefuseSynonyms Synonyms = "error"       // fails with an error that has both names; the default
	DropSynonyms   Synonyms = "drop-sample" // drops the sample and counts it
)

// Check returns a fault.Usage for any other value. "" means RefuseSynonyms.
func (s Synonyms) Check() error {
	return fault.OneOf("synonyms", cmp.Or(s, RefuseSynonyms), RefuseSynonyms, DropSynonyms)
}

// TwoNames is the error of a sample that names one gene by two names.
func TwoNames(a, b, gene string) error {
	return fault.New(fault.Input, "correct the names, or the aliases; to drop such samples, add synonyms=drop-sample",
		"found %s and %s, which are both names of gene %s, expected each gene once",
		fault.Quote(a), fault.Quote(b), fault.Quote(gene))
}

// QuotesHint is the hint for an id in quotes that a text table kept: not all of its column had
// them.
const QuotesHint = "remove the quotes, or put every field of the column in quotes, or save the file as .csv"

// Alike ends an error about a name that no node has: it names the node whose id is the same but for
// upper and lower case, or for the way in which Unicode composes its letters. It returns "" if
// there is none.
func (n *Nodes) Alike(name string) string {
	composed, plain := norm.NFC.String(name), withoutVersion(name)
	for _, id := range n.IDs {
		switch other := norm.NFC.String(id); {
		case other == composed:
			return fmt.Sprintf("did you mean %s? It looks the same, but its letters are composed in another way; write both in Unicode's form NFC", fault.Quote(id))
		case plain != "" && (id == plain || withoutVersion(id) == plain), withoutVersion(id) == name && name != "":
			return fmt.Sprintf("did you mean %s? They differ in the version after the dot; give both without it", fault.Quote(id))
		case strings.EqualFold(other, composed):
			return fmt.Sprintf("did you mean %s? Upper and lower case differ", fault.Quote(id))
		}
	}
	return ""
}

var systematicName = regexp.MustCompile(`^Y[A-P][LR][0-9]{3}[WC]`)

// versioned matches ids of Ensembl and RefSeq with their version, as ENSG00000141510.18.
var versioned = regexp.MustCompile(`^(ENS[A-Z]*[GTP][0-9]{11}|[NX][MRP]_[0-9]+)\.[0-9]+$`)

// withoutVersion returns an id without its version, "" if it has none.
func withoutVersion(id string) string {
	if match := versioned.FindStringSubmatch(id); match != nil {
		return match[1]
	}
	return ""
}

// AliasSetting says for hints where other names of the genes are given: SGD's list has
// yeast's only.
func (n *Nodes) AliasSetting() string {
	if slices.ContainsFunc(n.IDs, systematicName.MatchString) {
		return "--aliases SGD_features.tab"
	}
	return "alias_tables: in its settings file"
}

// CheckGeneName returns a fault.Input unless name is the name of one gene: it must not be empty,
// have spaces around it, begin with a quote, or contain a |. It is for names that are not in the
// graph. A bad name is a mistake in the table, not a gene missing from the graph, so it is never
// dropped.
func CheckGeneName(name []byte) error {
	switch {
	case len(name) == 0:
		return fault.New(fault.Input, "remove the extra delimiter or empty list element", "found an empty gene name")
	case len(bytes.TrimSpace(name)) != len(name):
		return fault.New(fault.Input, "remove the spaces",
			"found gene %s, expected a name without spaces around it", fault.Quote(name))
	case name[0] == '"':
		return fault.New(fault.Input, QuotesHint, "found gene %s, expected a name without quotes around it", fault.Quote(name))
	case bytes.Contains(name, []byte{'|'}):
		return fault.New(fault.Input, "put each gene in a column or list element of its own, or all in one text column, with | between them",
			"found gene %s, expected the name of one gene", fault.Quote(name))
	}
	return nil
}
