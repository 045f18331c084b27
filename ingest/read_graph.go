package ingest

import (
	"fmt"
	"math"

	"github.com/dustin/go-humanize"

	"tcbuild/fault"
	"tcbuild/ingest/inputfile"
	"tcbuild/internal/inorder"
)

// maxPositions is the largest number of mask positions, nodes and edges together, that signed
// 32-bit positions allow.
const maxPositions = math.MaxInt32

// EdgeReport counts the unusual edges of one edge type. They are kept.
type EdgeReport struct {
	Type       EdgeType
	Edges      int // all edges
	Duplicates int // edges with the same source and target as an earlier edge
	SelfLoops  int // edges from a node to itself
}

// ReadGraph reads the cell graph in dir/nodes and dir/edges, or in dir/graph. It also returns its
// files, ascending by name.
func ReadGraph(dir string) (*Graph, []Input, error) {
	var files inputfile.Files
	defer files.Close()
	opened, err := OpenGraph(&files, dir)
	if err != nil {
		return nil, nil, err
	}
	g, err := opened.Read()
	if err == nil {
		err = files.Unchanged()
	}
	return g, opened.Inputs, inputfile.Explain(err, &files)
}

// Read reads the graph. It keeps every edge in the order of its file. Bad data is a fault.Input
// that names file and line; if several files are bad, it names the first. Edge tables are read in
// parallel; memory is the graph's, plus a buffer per table.
func (files *GraphTables) Read() (*Graph, error) {
	g := &Graph{}
	for _, file := range files.nodes {
		nodes, err := readNodes(file.opened, file.stem)
		if err != nil {
			return nil, err
		}
		switch file.stem {
		case Gene:
			g.Genes = nodes
		case Reaction:
			g.Reactions = nodes
		case Metabolite:
			g.Metabolites = nodes
		default:
			g.Others = append(g.Others, nodes)
		}
	}
	if g.Genes == nil {
		return nil, fault.New(fault.Input, "add nodes/gene.tsv with a column id",
			"read graph %s: found no node table gene", files.dir)
	}

	g.Edges = make([]*Edges, len(files.edges))
	err := inorder.All(len(files.edges), func(i int) error {
		file := files.edges[i]
		source, target := file.edge.Ends()
		sources, err := g.table(files, file, source)
		if err != nil {
			return err
		}
		targets, err := g.table(files, file, target)
		if err != nil {
			return err
		}
		g.Edges[i], err = readEdges(file.opened, file.edge, sources, targets)
		return err
	})
	if err == nil {
		nodes, edges := g.Size()
		err = checkPositions(files.dir, nodes+edges)
	}
	if err != nil {
		return nil, err
	}
	return g, nil
}

// table returns the node table that an edge table refers to.
func (g *Graph) table(files *GraphTables, file graphFile, nodeType string) (*Nodes, error) {
	nodes := g.NodesOf(nodeType)
	if nodes == nil {
		return nil, fault.New(fault.Input, fmt.Sprintf("add nodes/%s.tsv with a column id, or remove the edge table", nodeType),
			"read graph %s: %s needs the node table %s, which is missing", files.dir, file.name, nodeType)
	}
	return nodes, nil
}

func checkPositions(where string, positions int) error {
	if positions > maxPositions {
		return fault.New(fault.Input, "split the graph, or omit edge types",
			"read graph %s: found %s nodes and edges, expected at most %s, as positions are stored in 32 bits",
			where, humanize.Comma(int64(positions)), humanize.Comma(int64(maxPositions)))
	}
	return nil
}
