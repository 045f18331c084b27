package ingest

import (
	"slices"
	"strings"

	"tcbuild/fault"
)

// UnknownGenes says what happens to a sample that deletes a gene which the graph does not have.
type UnknownGenes string

const (
	// RefuseUnknownGenes stops with an error that names the gene; the default.
	RefuseUnknownGenes UnknownGenes = "error"
	// DropSample drops the whole sample and counts it.
	DropSample UnknownGenes = "drop-sample"
	// DropGene drops the gene from its sample and counts it, as torchcell does. A sample that is
	// left without a gene is dropped and counted: it would be training on the whole graph.
	DropGene UnknownGenes = "drop-gene"
)

// UnknownGenesChoices are the words of a setting or flag, the default first.
var UnknownGenesChoices = []string{string(RefuseUnknownGenes), string(DropSample), string(DropGene)}

// Check refuses any other word with a fault.Usage. An empty one stands for RefuseUnknownGenes.
func (u UnknownGenes) Check() error {
	if u == "" || slices.Contains(UnknownGenesChoices, string(u)) {
		return nil
	}
	choices := strings.Join(UnknownGenesChoices, ", ")
	return fault.New(fault.Usage, "use one of "+choices, "unknown_genes: found %q, expected %s", u, choices)
}
