package source

import (
	"testing"

	"tcbuild/fault"
	"tcbuild/ingest/table"
)

// A path that does not exist is a failure of the run, not bad data.
func TestMissingFiles(t *testing.T) {
	genes := genesNamed(t, "A", "B")
	list := table.TextSpec{File: "absent.txt"}
	for name, spec := range map[string]GraphSpec{
		"features": {Genes: sgdGenes(t, "absent.txt")},
		"genes":    {Genes: GenesSpec{TextSpec: list, Column: "id"}},
		"aliases":  {Genes: genes, Aliases: sgdAliases(t, "absent.txt")},
		"STRING":   {Genes: genes, Edges: []EdgesSpec{stringLinks(t, "absent.txt", 0, "score")}},
		"edges":    {Genes: genes, Edges: []EdgesSpec{{TextSpec: list, Relation: "r", From: []string{"a"}, To: []string{"b"}, Undirected: new(false)}}},
		"ids": {Genes: genes, Edges: []EdgesSpec{{TextSpec: table.TextSpec{File: writeFile(t, "e.tsv", "a\tb\n1\t1\n")},
			Relation: "r", From: []string{"a"}, To: []string{"b"}, Undirected: new(false), IDs: "absent.txt"}}},
		"matrix": {Genes: genes, Edges: []EdgesSpec{{TextSpec: list, Matrix: TargetRows, Relation: "r"}}},
		"model":  {Genes: genes, GEM: GEMSpec{File: "absent.txt"}},
	} {
		t.Run(name, func(t *testing.T) {
			_, _, err := BuildGraph(opened(t), spec)
			checkFault(t, err, fault.Failed, "absent.txt: there is no such file")
		})
	}
}
