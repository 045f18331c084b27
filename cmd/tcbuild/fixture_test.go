package main

import (
	"bytes"
	"fmt"
	"math/rand/v2"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"

	"tcbuild/ingest"
	"tcbuild/ingest/graph"
	"tcbuild/internal/testing/oracle"
)

// fixture is a random graph and perturbation set of a known size, in dir/graph and dir/sets.tsv.
type fixture struct {
	dir       string
	graph     *ingest.Graph
	genotypes [][]uint32
}

const fixtureGenes = 300

// newFixture makes a fixture. Half of the edges are of one gene-gene edge type, half of another;
// there are 40 reactions.
func newFixture(t *testing.T, edges, samples int) fixture {
	t.Helper()
	r := rand.New(rand.NewPCG(uint64(edges), uint64(samples)))
	f := fixture{dir: t.TempDir(), graph: &ingest.Graph{
		Genes:       numbered(ingest.Gene, "Y", fixtureGenes),
		Reactions:   numbered(ingest.Reaction, "r", 40),
		Metabolites: numbered(ingest.Metabolite, "m", 15),
	}}
	f.graph.Edges = []*ingest.Edges{
		randomEdges(r, ingest.EdgeType{Source: ingest.Gene, Relation: "regulatory", Target: ingest.Gene}, edges/2, fixtureGenes, fixtureGenes),
		randomEdges(r, ingest.EdgeType{Source: ingest.Gene, Relation: "physical", Target: ingest.Gene}, edges-edges/2, fixtureGenes, fixtureGenes),
		randomEdges(r, ingest.GPR, 70, fixtureGenes, 40),
		randomEdges(r, ingest.RMR, 120, 40, 15),
	}
	f.graph.Sort()
	if err := graph.Write(filepath.Join(f.dir, "graph"), f.graph); err != nil {
		t.Fatal(err)
	}
	var sets strings.Builder
	sets.WriteString("sample_id\tgenes\tfitness\tgrowth\n")
	for sample := range samples {
		f.genotypes = append(f.genotypes, slices.Sorted(slices.Values(randomGenes(r)))) // distinct
		var names []string
		for _, gene := range f.genotypes[sample] {
			names = append(names, f.graph.Genes.IDs[gene])
		}
		fmt.Fprintf(&sets, "s%d\t%s\t%g\t\n", sample, strings.Join(names, "|"), r.NormFloat64())
	}
	writeFiles(t, f.dir, map[string]string{"sets.tsv": sets.String()})
	return f
}

func numbered(nodeType, prefix string, count int) *ingest.Nodes {
	var ids []string
	for i := range count {
		ids = append(ids, fmt.Sprintf("%s%03d", prefix, i))
	}
	nodes, _ := ingest.NewNodes(nodeType, ids, nil)
	return nodes
}

func randomEdges(r *rand.Rand, edgeType ingest.EdgeType, count, sources, targets int) *ingest.Edges {
	edges := &ingest.Edges{Type: edgeType}
	for range count {
		edges.Src = append(edges.Src, uint32(r.IntN(sources)))
		edges.Dst = append(edges.Dst, uint32(r.IntN(targets)))
	}
	return edges
}

// randomGenes returns one to three distinct genes.
func randomGenes(r *rand.Rand) []uint32 {
	first := r.IntN(fixtureGenes)
	var genes []uint32
	for k := range 1 + r.IntN(3) {
		genes = append(genes, uint32((first+k*97)%fixtureGenes))
	}
	return genes
}

// dataset is a command that builds a dataset of the fixture.
func (f fixture) dataset(mode, codec, out string, more ...string) []string {
	return with(with([]string{"dataset", "--mode", mode, "--codec", codec, "--graph", "graph", "--perturbations", "sets.tsv"}, more...), "--out", out)
}

// writeTSV writes the graph as text, by ids, into a folder.
func (f fixture) writeTSV(t *testing.T, dir string) {
	t.Helper()
	files := make(map[string]string)
	for _, nodes := range f.graph.NodeTables() {
		files["nodes/"+nodes.Type+".tsv"] = "id\n" + strings.Join(nodes.IDs, "\n") + "\n"
	}
	for _, edges := range f.graph.Edges {
		var text strings.Builder
		text.WriteString("src\tdst\n")
		for i := range edges.Src {
			fmt.Fprintf(&text, "%s\t%s\n", f.graph.NodesOf(edges.Type.Source).IDs[edges.Src[i]], f.graph.NodesOf(edges.Type.Target).IDs[edges.Dst[i]])
		}
		files["edges/"+edges.Type.String()+".tsv"] = text.String()
	}
	writeFiles(t, dir, files)
}

// oracleMask is a mask as the design defines it.
type oracleMask struct {
	name string
	keep []byte // 1 keep, 0 removed
}

// oracle makes a sample's masks under the reaction rule "all".
func (f fixture) oracle(sample int) (masks []oracleMask) {
	size := 0
	add := func(name string, count int) {
		masks = append(masks, oracleMask{name, bytes.Repeat([]byte{1}, count)})
		size += count
	}
	for _, nodes := range f.graph.NodeTables() {
		add(nodes.Type, nodes.Len())
	}
	for _, edges := range f.graph.Edges { // by name
		add(edges.Type.String(), edges.Len())
	}
	removed := make([]bool, size)
	for _, position := range oracle.Removed(f.graph, f.genotypes[sample], false) {
		removed[position] = true
	}
	for _, mask := range masks {
		for i := range mask.keep {
			if removed[i] {
				mask.keep[i] = 0
			}
		}
		removed = removed[len(mask.keep):]
	}
	return masks
}

// oracleJSON is the masks part of what `inspect --samples --json` has to print.
func oracleJSON(masks []oracleMask) string {
	var parts []string
	for _, m := range masks {
		removed := []string{}
		for i, keep := range m.keep {
			if keep == 0 {
				removed = append(removed, strconv.Itoa(i))
			}
		}
		parts = append(parts, fmt.Sprintf(`"%s":{"size":%d,"removed":[%s]}`, m.name, len(m.keep), strings.Join(removed, ",")))
	}
	return `"masks":{` + strings.Join(parts, ",") + "}"
}
