package ingest

import (
	"slices"
	"strings"

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
var UnknownGenesChoices = []string{string(RefuseUnknownGenes), string(DropSample), string(DropGene)}

// Check returns a fault.Usage for any other value. "" means RefuseUnknownGenes.
func (u UnknownGenes) Check() error {
	if u == "" || slices.Contains(UnknownGenesChoices, string(u)) {
		return nil
	}
	choices := strings.Join(UnknownGenesChoices, ", ")
	return fault.New(fault.Usage, "use one of "+choices, "unknown_genes: found %q, expected %s", u, choices)
}
