package build

import (
	"testing"

	"tcbuild/fault"
	"tcbuild/ingest/graph/models"
	"tcbuild/ingest/graph/networks"
	"tcbuild/ingest/table"
	"tcbuild/internal/testing/check"
	"tcbuild/internal/testing/inputs"
)

// A path that does not exist is a failure of the run, not bad data.
func TestMissingFiles(t *testing.T) {
	genes := genesNamed(t, "A", "B")
	list := table.TextSpec{File: "absent.txt"}
	for name, spec := range map[string]Spec{
		"features": {Genes: sgdGenes(t, "absent.txt")},
		"genes":    {Genes: GenesSpec{TextSpec: list, Column: "id"}},
		"aliases":  {Genes: genes, Aliases: sgdAliases(t, "absent.txt")},
		"STRING": {
			Genes: genes,
			Edges: []networks.Spec{stringLinks(t, "absent.txt", 0, "score")},
		},
		"edges": {
			Genes: genes,
			Edges: []networks.Spec{
				{
					TextSpec:   list,
					Relation:   "r",
					From:       []string{"a"},
					To:         []string{"b"},
					Undirected: new(false),
				},
			},
		},
		"ids": {
			Genes: genes,
			Edges: []networks.Spec{
				{TextSpec: table.TextSpec{File: inputs.Write(t, "e.tsv", "a\tb\n1\t1\n")},
					Relation: "r", From: []string{"a"}, To: []string{
						"b",
					}, Undirected: new(false), IDs: "absent.txt"},
			},
		},
		"matrix": {
			Genes: genes,
			Edges: []networks.Spec{{TextSpec: list, Matrix: networks.TargetRows, Relation: "r"}},
		},
		"model": {Genes: genes, GEM: models.Spec{File: "absent.txt"}},
	} {
		t.Run(name, func(t *testing.T) {
			_, _, err := Graph(inputs.Opened(t), spec)
			check.Fault(t, err, fault.Failed, "absent.txt: there is no such file")
		})
	}
}
