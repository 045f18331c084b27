package source

import (
	"testing"

	"tcbuild/fault"
)

// A path that does not exist is a failure of the run, not bad data.
func TestMissingFiles(t *testing.T) {
	genes := genesNamed(t, "A", "B")
	table := TextSpec{File: "absent.txt"}
	for name, spec := range map[string]GraphSpec{
		"features": {Genes: GenesSpec{SGDFeatures: "absent.txt"}},
		"genes":    {Genes: GenesSpec{Table: &GeneTable{TextSpec: table, Column: "id"}}},
		"aliases":  {Genes: genes, Aliases: AliasesSpec{SGDFeatures: "absent.txt"}},
		"STRING":   {Genes: genes, Edges: []EdgesSpec{{STRING: &LinksSpec{File: "absent.txt", Relation: "r", Columns: []string{"score"}, Cutoff: Cutoff{Min: new(float64)}}}}},
		"edges":    {Genes: genes, Edges: []EdgesSpec{{Table: &EdgeTableSpec{TextSpec: table, Relation: "r", Source: "a", Target: "b", Undirected: new(false)}}}},
		"ids": {Genes: genes, Edges: []EdgesSpec{{Table: &EdgeTableSpec{TextSpec: TextSpec{File: writeFile(t, "e.tsv", "a\tb\n1\t1\n")},
			Relation: "r", Source: "a", Target: "b", Undirected: new(false), IDs: "absent.txt"}}}},
		"BioGRID": {Genes: genes, Edges: []EdgesSpec{{BioGRID: &BioGRIDSpec{File: "absent.txt", Relation: "r", Type: "physical"}}}},
		"matrix":  {Genes: genes, Edges: []EdgesSpec{{TFMatrix: &TFMatrixSpec{TextSpec: table, Relation: "r"}}}},
		"model":   {Genes: genes, GEM: GEMSpec{File: "absent.txt"}},
	} {
		t.Run(name, func(t *testing.T) {
			_, _, err := BuildGraph(opened(t), spec)
			checkFault(t, err, fault.Failed, "absent.txt: there is no such file")
		})
	}
}
