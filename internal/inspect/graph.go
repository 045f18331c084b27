package inspect

import (
	"fmt"
	"slices"
	"strings"

	"tcbuild/ingest"
	"tcbuild/ingest/gpr"
	"tcbuild/ingest/graph"
	"tcbuild/internal/page"
)

// GraphSummary is what a cell graph holds.
type GraphSummary struct {
	Nodes []NodeSummary `json:"nodes"`
	Edges []EdgeSummary `json:"edges"`
	Rules *RuleSummary  `json:"rules,omitempty"` // of the reactions; none without gpr rules
}

// NodeSummary is a node type.
type NodeSummary struct {
	Type    string   `json:"type"`
	Nodes   int      `json:"nodes"`
	Columns []string `json:"columns"` // apart from the id
}

// EdgeSummary is an edge type.
type EdgeSummary struct {
	Type  string `json:"type"`
	Edges int    `json:"edges"`
	// edges with the same source and target as an earlier edge
	Duplicates int             `json:"duplicates"`
	SelfLoops  int             `json:"self_loops"`
	Columns    []string        `json:"columns"` // apart from source and target
	Degrees    []DegreeSummary `json:"degrees"` // of its one or two node types
}

// DegreeSummary is the edges of a type at each node of a type; a self loop counts once.
type DegreeSummary struct {
	Node string `json:"node"`
	Distribution
}

// RuleSummary is the gpr rules of the reactions.
type RuleSummary struct {
	Rules        int         `json:"rules"`
	Isozymes     int         `json:"isozymes"`      // rules with an or
	Without      int         `json:"without"`       // reactions without a rule
	Unreadable   []string    `json:"unreadable"`    // reactions whose rule cannot be read
	UnknownGenes []NameCount `json:"unknown_genes"` // in rules but not in the gene table, by name
}

// NameCount is a name and how often it occurs.
type NameCount struct {
	Name  string `json:"name"`
	Count int    `json:"count"`
}

// Graph describes a graph.
func Graph(g *ingest.Graph) *GraphSummary {
	s := &GraphSummary{}
	for _, nodes := range g.NodeTables() {
		s.Nodes = append(s.Nodes, NodeSummary{nodes.Type, nodes.Len(), columnNames(nodes.Columns)})
	}
	odd := graph.OddEdges(g)
	for i, edges := range g.Edges {
		s.Edges = append(s.Edges,
			EdgeSummary{edges.Type.String(), edges.Len(), odd[i].Duplicates, odd[i].SelfLoops,
				columnNames(edges.Columns), degrees(g, edges)})
	}
	if g.Reactions != nil && g.Reactions.Column("gpr") != nil {
		s.Rules = rulesOf(g)
	}
	return s
}

func columnNames(columns []ingest.Column) []string {
	names := []string{}
	for _, column := range columns {
		names = append(names, column.Name)
	}
	return names
}

func degrees(graph *ingest.Graph, edges *ingest.Edges) []DegreeSummary {
	source, target := edges.Type.Ends()
	at := map[string][]int{source: make([]int, graph.NodesOf(source).Len()),
		target: make([]int, graph.NodesOf(target).Len())}
	// of an edge type within a node type
	sources, targets := at[source], at[target]
	within := source == target
	for i, source := range edges.Src {
		sources[source]++
		if target := edges.Dst[i]; !within || target != source {
			targets[target]++
		}
	}
	types := slices.Compact([]string{source, target})
	var summaries []DegreeSummary
	for _, nodeType := range types {
		ids := graph.NodesOf(nodeType).IDs
		summaries = append(summaries,
			DegreeSummary{nodeType, distribute(at[nodeType], func(i int) string { return ids[i] })})
	}
	return summaries
}

func rulesOf(graph *ingest.Graph) *RuleSummary {
	s := &RuleSummary{Unreadable: []string{}}
	unknown := make(map[string]int)
	for reaction, text := range graph.Reactions.Column("gpr") {
		rule, err := gpr.Parse(text)
		switch {
		case err != nil:
			s.Unreadable = append(s.Unreadable, graph.Reactions.IDs[reaction])
		case rule == nil:
			s.Without++
		default:
			s.Rules++
			if rule.HasIsozymes() {
				s.Isozymes++
			}
			for _, gene := range rule.Genes() {
				if _, known := graph.Genes.Index(gene); !known {
					unknown[gene]++
				}
			}
		}
	}
	s.UnknownGenes = byName(unknown)
	return s
}

// Page returns the summary as a page.
func (s *GraphSummary) Page(title string) *page.Page {
	nodes := page.Section{Title: "Nodes", Header: []string{"type", "nodes", "further columns"}}
	for _, n := range s.Nodes {
		nodes.Add(n.Type, n.Nodes, listed(n.Columns))
	}
	edges := page.Section{Title: "Edges",
		Header: []string{"type", "edges", "duplicates", "self loops", "further columns"}}
	degrees := page.Section{Title: "Edges at a node (a self loop counts once)",
		Header: append([]string{"nodes"}, distributionHeader...)}
	for _, e := range s.Edges {
		edges.Add(e.Type, e.Edges, e.Duplicates, e.SelfLoops, listed(e.Columns))
		for _, d := range e.Degrees {
			name := d.Node + " in " + e.Type
			degrees.Rows = append(degrees.Rows, append([]string{name}, d.row()...))
			degrees.Plots = append(degrees.Plots, d.plots(name, "edges at a node", "nodes")...)
		}
	}
	p := &page.Page{Title: title, Sections: []page.Section{nodes, edges, degrees}}
	if s.Rules != nil {
		p.Sections = append(p.Sections, s.Rules.table())
	}
	return p
}

func (s *RuleSummary) table() page.Section {
	table := page.Section{Title: "Reactions", Header: []string{"what", "number", "which"}}
	table.Add("with a gpr rule", s.Rules, "")
	table.Add("with isozymes (an or in the rule), which only --reaction-rule gpr respects",
		s.Isozymes, "")
	table.Add("without a gpr rule", s.Without, "")
	table.Add("with an unreadable gpr rule", len(s.Unreadable), listed(s.Unreadable))
	table.Add("genes of rules that are not in the graph", len(s.UnknownGenes),
		counted(s.UnknownGenes))
	return table.WithoutEmptyColumns()
}

const someNames = 10

// listed writes some names.
func listed(names []string) string {
	if len(names) > someNames {
		return strings.Join(names[:someNames], ", ") + ", …"
	}
	return strings.Join(names, ", ")
}

// counted writes the most frequent names with their counts.
func counted(names []NameCount) string {
	sorted := slices.SortedStableFunc(slices.Values(names),
		func(a, b NameCount) int { return b.Count - a.Count })
	var texts []string
	for _, name := range sorted {
		texts = append(texts, fmt.Sprintf("%s (%s)", name.Name, count(name.Count)))
	}
	return listed(texts)
}

func byName(counts map[string]int) []NameCount {
	names := []NameCount{}
	for name, n := range counts {
		names = append(names, NameCount{name, n})
	}
	slices.SortFunc(names, func(a, b NameCount) int { return strings.Compare(a.Name, b.Name) })
	return names
}
