package networks

import (
	"math"
	"slices"

	"tcbuild/ingest"
	"tcbuild/ingest/names"
)

// Types finds the nodes of each type by their names.
type Types struct {
	graph *ingest.Graph
	drop  bool // drop edges of unknown names; otherwise they are errors
	types map[string]*nodes
}

// NewTypes finds the nodes that a graph has so far, and its genes by all names. If drop is set,
// edges of unknown names are dropped; otherwise they are errors.
func NewTypes(cell *ingest.Graph, genes *names.Resolver, drop bool) *Types {
	return &Types{cell, drop, map[string]*nodes{ingest.Gene: {Resolver: genes}}}
}

// nodes finds nodes of one type. If the graph has none, the type grows: every name in its edges is
// the id of a node.
type nodes struct {
	*names.Resolver
	grows bool
	rows  map[string]uint32 // of the ids so far
	ids   []string
}

// nodesOf returns the nodes of a type that the graph has, or makes a type that grows.
func (t *Types) nodesOf(nodeType string) *nodes {
	found := t.types[nodeType]
	if found == nil {
		table := t.graph.NodesOf(nodeType)
		if table == nil {
			table, _ = ingest.NewNodes(nodeType, nil, nil)
		}
		found = &nodes{Resolver: names.OfIDs(table), grows: table.Len() == 0}
		t.types[nodeType] = found
	}
	return found
}

// find returns what a name means.
func (n *nodes) find(name []byte) names.Answer {
	if row, known := n.rows[string(name)]; known {
		return nodeAt(row)
	}
	return n.Find(name)
}

// grow makes a node of an id that is new.
func (n *nodes) grow(id string) names.Answer {
	if n.rows == nil {
		n.rows = make(map[string]uint32)
	}
	row := uint32(len(n.ids))
	n.rows[id], n.ids = row, append(n.ids, id)
	return nodeAt(row)
}

func nodeAt(row uint32) names.Answer {
	return names.Answer{Gene: row, Meaning: names.Gene}
}

// AddNodes adds to the graph the nodes that edges have found, without those whose edges were all
// dropped.
func (t *Types) AddNodes() {
	for _, n := range t.types {
		if n.grows {
			t.graph.Others = append(t.graph.Others, n.used(t.graph))
		}
	}
}

// used returns the nodes with an edge, and renumbers them in the edges.
func (n *nodes) used(cell *ingest.Graph) *ingest.Nodes {
	const unused = math.MaxUint32
	rows := slices.Repeat([]uint32{unused}, len(n.ids))
	var ends [][]uint32
	for _, edges := range cell.Edges {
		source, target := edges.Type.Ends()
		if source == n.Nodes().Type {
			ends = append(ends, edges.Src)
		}
		if target == n.Nodes().Type {
			ends = append(ends, edges.Dst)
		}
	}
	for _, end := range ends {
		for _, row := range end {
			rows[row] = 0
		}
	}
	var ids []string
	for row, id := range n.ids {
		if rows[row] != unused {
			rows[row] = uint32(len(ids))
			ids = append(ids, id)
		}
	}
	for _, end := range ends {
		for i, row := range end {
			end[i] = rows[row]
		}
	}
	table, _ := ingest.NewNodes(n.Nodes().Type, ids, nil)
	return table
}
