package ingest

import (
	"fmt"
	"math"
	"runtime"

	"github.com/dustin/go-humanize"
	"golang.org/x/sync/errgroup"

	"tcbuild/fault"
	"tcbuild/ingest/inputfile"
)

// maxPositions is the largest number of mask positions, nodes and edges together, that signed
// 32-bit positions allow.
const maxPositions = math.MaxInt32

// GraphReport is what reading a graph found.
type GraphReport struct {
	Inputs []Input      // the files, ascending by name
	Edges  []EdgeReport // in the order of Graph.Edges
}

// EdgeReport counts the unusual edges of one edge type. They are kept.
type EdgeReport struct {
	Type       EdgeType
	Edges      int // all edges
	Duplicates int // edges with the same source and target as an earlier edge
	SelfLoops  int // edges from a node to itself
}

// ReadGraph is ReadGraphFiles for callers that need only the graph.
func ReadGraph(dir string) (*Graph, GraphReport, error) {
	var files inputfile.Files
	defer files.Close()
	return ReadGraphFiles(&files, dir)
}

// ReadGraphFiles reads the cell graph in dir/nodes and dir/edges, or in dir/graph. It keeps every
// edge in the order of its file. Bad data is a fault.Input that names file and line; if several
// files are bad, it names the first. Edge tables are read in parallel; memory is the graph's, plus
// a buffer per table. All files are opened before any is read, and stay open in open, so that they
// can be checked again before results are published.
func ReadGraphFiles(open *inputfile.Files, dir string) (*Graph, GraphReport, error) {
	files, err := findGraph(dir)
	if err != nil {
		return nil, GraphReport{}, err
	}
	report := GraphReport{Edges: make([]EdgeReport, len(files.edges))}
	if report.Inputs, err = files.open(open); err != nil {
		return nil, GraphReport{}, err
	}
	g := &Graph{}
	for _, file := range files.nodes {
		nodes, err := readNodes(file.opened, file.stem)
		if err != nil {
			return nil, GraphReport{}, err
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
		return nil, GraphReport{}, fault.New(fault.Input, "add nodes/gene.tsv with a column id",
			"read graph %s: found no node table gene", files.dir)
	}

	g.Edges = make([]*Edges, len(files.edges))
	err = inParallel(len(files.edges), func(i int) error {
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
		if g.Edges[i], err = readEdges(file.opened, file.edge, sources, targets); err != nil {
			return err
		}
		report.Edges[i] = countOddEdges(g.Edges[i], sources, targets)
		return nil
	})
	if err == nil {
		err = checkPositions(dir, g.positions())
	}
	if err != nil {
		return nil, GraphReport{}, err
	}
	return g, report, nil
}

// table returns the node table that an edge table refers to.
func (g *Graph) table(files graphFiles, file graphFile, nodeType string) (*Nodes, error) {
	nodes := g.NodesOf(nodeType)
	if nodes == nil {
		return nil, fault.New(fault.Input, fmt.Sprintf("add nodes/%s.tsv with a column id, or remove the edge table", nodeType),
			"read graph %s: %s needs the node table %s, which is missing", files.dir, file.name, nodeType)
	}
	return nodes, nil
}

// positions is the number of mask positions: nodes and edges.
func (g *Graph) positions() int {
	total := 0
	for _, nodes := range g.NodeTables() {
		total += nodes.Len()
	}
	for _, edges := range g.Edges {
		total += edges.Len()
	}
	return total
}

func checkPositions(where string, positions int) error {
	if positions > maxPositions {
		return fault.New(fault.Input, "split the graph, or omit edge types",
			"read graph %s: found %s nodes and edges, expected at most %s, as positions are stored in 32 bits",
			where, humanize.Comma(int64(positions)), humanize.Comma(int64(maxPositions)))
	}
	return nil
}

// inParallel calls do for 0 to n-1 on all cores and returns the error of the lowest number.
func inParallel(n int, do func(i int) error) error {
	errs := make([]error, n)
	var group errgroup.Group
	group.SetLimit(runtime.GOMAXPROCS(0))
	for i := range n {
		group.Go(func() error { errs[i] = do(i); return nil })
	}
	group.Wait()
	for _, err := range errs {
		if err != nil {
			return err
		}
	}
	return nil
}
