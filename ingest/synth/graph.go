// Package synth makes a synthetic yeast from a seed: a cell graph and a perturbation set with the
// size and skew of the real ones. The same scale and seed give the same values on every machine and
// in every release; tests compare golden digests.
package synth

import (
	"fmt"

	"tcbuild/fault"
	"tcbuild/ingest"
)

// Graph returns the cell graph of a scale and seed. Yeast takes about 0.3 s and 20 MB.
func Graph(scale Scale, seed uint64) *ingest.Graph {
	graph := &ingest.Graph{Genes: newNodes(ingest.Gene, geneNames(scale, seed), nil)}
	ranked := rankedGenes(scale, seed)
	for _, n := range scale.networks {
		graph.Edges = append(graph.Edges, n.generate(seed, ranked))
	}
	addMetabolism(graph, scale, seed)
	graph.Sort()
	return graph
}

// rankedGenes returns the genes from the most to the least connected one in the cell. Networks and
// essential genes follow this order loosely.
func rankedGenes(scale Scale, seed uint64) []uint32 {
	return newRandom(seed, "ranks").shuffled(scale.genes)
}

// geneNames returns systematic names in ascending order: Y, chromosome A to P, arm L or R, number
// on the arm from 001, strand C or W. Every arm has the same share of the genes.
func geneNames(scale Scale, seed uint64) []string {
	const arms = 16 * 2
	r := newRandom(seed, "strands")
	names := make([]string, 0, scale.genes)
	for arm := range arms {
		first, end := arm*scale.genes/arms, (arm+1)*scale.genes/arms
		for number := range end - first {
			names = append(names,
				fmt.Sprintf("Y%c%c%03d%c", 'A'+arm/2, "LR"[arm%2], number+1, "CW"[r.below(2)]))
		}
	}
	return names
}

func newNodes(nodeType string, ids []string, columns []ingest.Column) *ingest.Nodes {
	nodes, repeated := ingest.NewNodes(nodeType, ids, columns)
	if repeated != nil {
		panic(fmt.Sprintf("synth: %s %s occurs twice", nodeType, repeated.ID))
	}
	return nodes
}

// Scale is the size of a synthetic yeast.
type Scale struct {
	Name    string
	Samples int // samples in the perturbation set that goes with the graph

	genes       int
	essential   int // genes that no sample deletes
	metabolic   int // genes that take part in reactions
	reactions   int
	metabolites int
	networks    []network
}

// Tiny takes milliseconds to make and has every feature of a cell graph.
var Tiny = Scale{
	Name: "tiny", Samples: 200,
	genes: 60, essential: 10, metabolic: 20, reactions: 30, metabolites: 25,
	networks: []network{
		{relation: "physical", edges: 210, flatness: 5},
		{relation: "regulatory", edges: 150, flatness: 10, regulators: 8},
		{relation: "string12_0_coexpression", edges: 300, flatness: 5},
	},
}

// Yeast has the shape of torchcell's cell graph and of its largest experiment: 6,607 genes, nine
// gene-gene edge types with 2,400,000 edges, 332,313 samples. A sample removes 1,850 positions on
// average over all masks.
var Yeast = Scale{
	Name: "yeast", Samples: 332_313,
	genes: 6_607, essential: 1_100, metabolic: 1_150, reactions: 7_000, metabolites: 2_800,
	networks: []network{
		{relation: "physical", edges: 144_211, flatness: 20},
		{relation: "regulatory", edges: 44_310, flatness: 300, regulators: 220},
		{relation: "tflink", edges: 200_000, flatness: 300, regulators: 220},
		{relation: "string12_0_neighborhood", edges: 150_000, flatness: 100},
		{relation: "string12_0_fusion", edges: 14_000, flatness: 20},
		{relation: "string12_0_cooccurence", edges: 13_479, flatness: 20},
		{relation: "string12_0_coexpression", edges: 960_000, flatness: 150},
		{relation: "string12_0_experimental", edges: 800_000, flatness: 150},
		{relation: "string12_0_database", edges: 74_000, flatness: 50},
	},
}

// ParseScale returns the scale with a name, tiny or yeast. Any other name is a fault.Usage.
func ParseScale(name string) (Scale, error) {
	for _, scale := range []Scale{Tiny, Yeast} {
		if scale.Name == name {
			return scale, nil
		}
	}
	return Scale{}, fault.New(fault.Usage, "choose tiny or yeast",
		"read scale: found %q, expected tiny or yeast", name)
}
