package networks

import (
	"cmp"

	"tcbuild/fault"
	"tcbuild/ingest"
	"tcbuild/ingest/graph"
	"tcbuild/ingest/inputfile"
	"tcbuild/ingest/names"
	"tcbuild/ingest/table"
	"tcbuild/ingest/where"
	"tcbuild/internal/pairs"
)

// reader makes the edges of a row of a file. It adds them to the file's collectors.
type reader interface {
	read(batch *table.Batch, i int) error
}

// file is a source of edges while it is read.
type file struct {
	*Spec
	types      *Types
	rows       *where.Table
	relations  []relation // of each collector, before it is made
	kept       []Kept
	collectors []*collector // in the order of their first rows
}

// Read reads a source of edges: the tables of its edge types, and the account of each. It takes
// some 25 bytes per pair of nodes and 16 more per edge type, and the columns that are kept.
func (s *Spec) Read(
	files *inputfile.Files, types *Types,
) (tables []*ingest.Edges, accounts ingest.Accounts, err error) {
	f := &file{Spec: s, types: types}
	var rows reader
	if s.Form() == "matrix" {
		rows, err = f.openMatrix(files)
	} else {
		rows, err = f.openTable(files)
	}
	if err != nil {
		return nil, nil, err
	}
	var all ingest.Account // of the rows that filters drop
	f.rows.EndOfBatch = func() {
		for _, c := range f.collectors {
			c.flush()
		}
	}
	if err := f.rows.Each("edges", &all, rows.read); err != nil {
		return nil, nil, err
	}
	if len(f.collectors) == 0 {
		return nil, nil, fault.New(fault.Input,
			"check that it is the right file, and check the setting where",
			"read edges %s: kept 0 of %s, expected at least one",
			s.File, ingest.Plural(all.Rows, "row", ""))
	}
	filtered := ingest.Account{Rows: all.Sum(ingest.FilteredOut), Dropped: all.Dropped}
	for _, c := range f.collectors {
		for _, r := range c.relations {
			edges, err := r.finish(f.Ablation, f.isUndirected(), f.kept, f.genes().Nodes().Len())
			if err != nil {
				return nil, nil, fault.New(fault.KindOf(err), fault.HintOf(err),
					"read edges %s: %w", s.File, err)
			}
			tables = append(tables, edges)
			accounts = append(accounts, f.account(c, r, &filtered))
		}
	}
	return tables, accounts, nil
}

func (f *file) genes() *nodes { return f.types.nodesOf(ingest.Gene) }

func (f *file) isUndirected() bool { return f.Undirected != nil && *f.Undirected }

// newCollector makes a collector for edge types that have a text in their names.
func (f *file) newCollector(text string) *collector {
	c := &collector{ofTypes: f.FromType != f.ToType, met: pairs.New(f.isUndirected())}
	c.levels = make([]int, len(f.genes().Labels()))
	for _, r := range f.relations {
		if before, column, after := GroupedBy(r.kind.Relation); column != "" {
			r.kind.Relation = before + text + after
		}
		for _, column := range f.kept {
			r.kept = append(r.kept, column.Builder())
		}
		r.account = &ingest.Account{Made: r.kind.String(), File: f.File}
		c.relations = append(c.relations, &r)
	}
	f.collectors = append(f.collectors, c)
	return c
}

// note counts where the name of an edge's node is from. A name that means no node makes one if its
// type grows; otherwise it is an error, unless its edges are dropped.
func (f *file) note(c *collector, in *nodes, n *node) error {
	switch {
	case n.answer.Meaning == names.Gene:
		c.levels[n.answer.Level]++
		return nil
	case in.grows:
		n.answer = in.grow(string(n.name))
		return graph.CheckID(in.Nodes().Type, string(n.name))
	}
	c.lost.AddName(string(n.name), 1)
	return graph.MissingNode(in.Resolver, n.name, f.types.drop)
}

// account completes the account of a relation.
func (f *file) account(c *collector, r *relation, filtered *ingest.Account) *ingest.Account {
	a := r.account
	if r.condition.isRange && a.Sum(ingest.WeightOutside) == 0 {
		a.Add(ingest.WeightsInside, "", a.Rows)
	}
	a.Merge(filtered)
	a.Merge(&c.lost)
	for level, label := range f.genes().Labels() {
		if level > 0 { // ids are read as they are
			a.Add(ingest.ReadAs, label, c.levels[level])
		}
	}
	return a
}

// in is the error of a column.
func (f *file) in(column int, err error) error {
	return fault.New(fault.Input, fault.HintOf(err),
		"column %s: %w", fault.Quote(f.rows.Columns()[column]), err)
}

// relation makes an edge type whose weight has a name in the graph, or that has no weight.
func (s *Spec) relation(name, weightName string) relation {
	return relation{
		kind:       s.EdgeType(name),
		weightName: weightName,
		condition:  s.condition(),
		loops:      cmp.Or(s.SelfLoops, LoopsKeep),
	}
}
