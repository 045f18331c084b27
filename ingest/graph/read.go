// Package graph reads and writes cell graphs: folders of node tables and edge tables.
package graph

import (
	"fmt"
	"math"
	"slices"

	"tcbuild/fault"
	"tcbuild/ingest"
	"tcbuild/ingest/inputfile"
	"tcbuild/ingest/table"
	"tcbuild/internal/inorder"
)

// maxPositions is the largest number of mask positions, nodes and edges together, that signed
// 32-bit positions allow.
const maxPositions = math.MaxInt32

// Read reads the cell graph in dir/nodes and dir/edges, or in dir/graph. It also returns its
// files, ascending by name.
func Read(dir string) (*ingest.Graph, []ingest.Input, error) {
	var files inputfile.Files
	defer files.Close()
	opened, err := Open(&files, dir)
	if err != nil {
		return nil, nil, err
	}
	g, err := opened.Read()
	if err == nil {
		err = files.Unchanged()
	}
	if err != nil {
		return nil, nil, inputfile.Explain(err, &files)
	}
	inputs, err := opened.Inputs()
	return g, inputs, err
}

// Read reads the graph. It keeps every edge in the order of its file. Bad data is a fault.Input
// that names file and line; if several files are bad, it names the first. Edge tables are read in
// parallel; memory is the graph's, plus a buffer per table.
func (files *Tables) Read() (*ingest.Graph, error) {
	g := &ingest.Graph{}
	for _, file := range files.nodes {
		nodes, err := readNodes(file.opened, file.stem)
		if err != nil {
			return nil, err
		}
		switch file.stem {
		case ingest.Gene:
			g.Genes = nodes
		case ingest.Reaction:
			g.Reactions = nodes
		case ingest.Metabolite:
			g.Metabolites = nodes
		default:
			g.Others = append(g.Others, nodes)
		}
	}
	if g.Genes == nil {
		return nil, fault.New(fault.Input, "add nodes/gene.tsv with a column id",
			"read graph %s: found no node table gene", files.dir)
	}

	if err := files.readNames(g); err != nil {
		return nil, err
	}
	g.Edges = make([]*ingest.Edges, len(files.edges))
	err := inorder.All(len(files.edges), func(i int) error {
		file := files.edges[i]
		source, target := file.edge.Ends()
		sources, err := files.nodesOf(g, file, source)
		if err != nil {
			return err
		}
		targets, err := files.nodesOf(g, file, target)
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

// nodesOf returns the node table that an edge table refers to.
func (files *Tables) nodesOf(
	g *ingest.Graph, file *graphFile, nodeType string,
) (*ingest.Nodes, error) {
	nodes := g.NodesOf(nodeType)
	if nodes == nil {
		hint := fmt.Sprintf("add nodes/%s.tsv with a column id, or remove the edge table", nodeType)
		return nil, fault.New(fault.Input, hint,
			"read graph %s: %s needs the node table %s, which is missing", files.dir, file.name,
			nodeType)
	}
	return nodes, nil
}

func checkPositions(where string, positions int) error {
	if positions > maxPositions {
		return fault.New(fault.Input, "split the graph, or omit edge types",
			"read graph %s: found %s nodes and edges, expected at most %s, "+
				"as positions are stored in 32 bits",
			where, ingest.Grouped(positions), ingest.Grouped(maxPositions))
	}
	return nil
}

// nodeColumns returns the reserved names of a node table's columns. Those that are typed have
// values of one kind.
func nodeColumns(nodeType string) (reserved []string, typed map[string]columnKind) {
	switch nodeType {
	case ingest.Gene:
		return []string{"id", ingest.NameColumn, ingest.AliasesColumn}, nil
	case ingest.Reaction:
		return []string{"id", "gpr", "subsystem"},
			map[string]columnKind{"gpr": texts, "subsystem": texts}
	}
	return []string{"id"}, nil
}

// ReadGenes reads only the genes of a dataset's graph, and what their names mean.
func ReadGenes(dir string) (*ingest.Graph, error) {
	files, err := findGraph(dir)
	if err != nil {
		return nil, err
	}
	open := inputfile.Files{Shared: true}
	defer open.Close()
	files.nodes = slices.DeleteFunc(files.nodes,
		func(f *graphFile) bool { return f.stem != ingest.Gene })
	files.edges = nil
	if err := files.openIn(&open); err != nil {
		return nil, err
	}
	return files.Read()
}

// readNodes reads a node table: its ids and its extra columns.
func readNodes(file *inputfile.File, nodeType string) (*ingest.Nodes, error) {
	reserved, typed := nodeColumns(nodeType)
	t, err := openGraphTable(file, "nodes", reserved...)
	if err != nil {
		return nil, err
	}
	defer t.Close()
	at, err := t.require("id", texts)
	if err != nil {
		return nil, err
	}
	if err := t.gather(typed); err != nil {
		return nil, err
	}
	var ids []string
	columns, err := t.read(func(b *table.Batch) (err error) {
		ids, err = appendIDs(ids, nodeType, t, b, at)
		return err
	})
	if err != nil {
		return nil, err
	}
	nodes, repeated := ingest.NewNodes(nodeType, ids, columns)
	if repeated != nil {
		return nil, fault.New(fault.Input, "remove one of the two rows",
			"read nodes %s: id %q is also in %s, expected unique ids",
			t.Where(repeated.Again), repeated.ID, t.Where(repeated.First))
	}
	nodes.LeftOut = t.leftOut
	if nodeType == ingest.Gene {
		splitAliases(nodes)
	}
	return nodes, nil
}

func appendIDs(
	ids []string, nodeType string, t *graphTable, b *table.Batch, column int,
) ([]string, error) {
	for i := range b.Len {
		id := string(b.Text(column, i))
		if err := CheckID(nodeType, id); err != nil {
			return nil, fault.New(fault.Input, fault.HintOf(err), "read nodes %s: %w",
				t.where(b, i), err)
		}
		ids = append(ids, id)
	}
	return ids, nil
}
