package ingest

import (
	"cmp"

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
