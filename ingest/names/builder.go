package names

import (
	"slices"
	"strings"

	"tcbuild/ingest"
)

// Builder collects the names of genes. A name keeps the meaning that the first level gave it: ids
// of the graph take precedence over all others, and each level over later ones. Within a level, a
// name of several genes means none of them.
type Builder struct {
	r         *Resolver
	added     []geneName // in order
	nameLevel int        // of the column name; 0, the level of ids, without such a column
}

// geneName is a name of a gene, by the gene's number.
type geneName struct {
	gene uint32
	name string
}

// NewBuilder makes a builder that knows the ids of nodes, with room for a number of names.
func NewBuilder(nodes *ingest.Nodes, room int) *Builder {
	r := &Resolver{nodes: nodes, ids: slices.Clone(nodes.IDs), exact: newEntries(room)}
	r.labels = []string{"id"}
	for row, id := range nodes.IDs {
		r.exact.set(id, Answer{Gene: uint32(row), Meaning: Gene})
	}
	return &Builder{r: r}
}

// AddLevels makes a level for each label, and returns the first.
func (b *Builder) AddLevels(labels ...string) int {
	b.r.labels = append(b.r.labels, labels...)
	return len(b.r.labels) - len(labels)
}

// Levels is the number of levels so far.
func (b *Builder) Levels() int { return len(b.r.labels) }

// NamesAt says at which level genes have the names by which they are called; other levels have
// further names.
func (b *Builder) NamesAt(level int) { b.nameLevel = level }

// Exact says what a name means so far.
func (b *Builder) Exact(name []byte) Answer { return b.r.Exact(name) }

// Genes returns the numbers of the genes that have a name so far; nil: none has.
func (b *Builder) Genes(name []byte) []uint32 { return b.r.exact.genes(name) }

// AddGene adds a gene outside the graph, by an id that means nothing yet.
func (b *Builder) AddGene(level int, id string) (gene uint32) {
	gene = uint32(len(b.r.ids))
	b.r.ids = append(b.r.ids, id)
	b.r.exact.add(int16(level), id, gene, false)
	return gene
}

// Add adds a name of a gene, unless an earlier level has it. No name contains a |, which joins
// names in text.
func (b *Builder) Add(level int, name string, gene uint32) {
	if name == "" || strings.Contains(name, "|") {
		return
	}
	if b.r.exact.add(int16(level), name, gene, b.r.isNode(gene)) {
		b.added = append(b.added, geneName{gene, name})
	}
}

func (r *Resolver) isNode(gene uint32) bool { return int(gene) < r.nodes.Len() }

// Shared are the names of several genes from a level on, ascending.
func (b *Builder) Shared(level int) (names []string) {
	for name := range b.r.exact.several {
		if int(b.r.Exact([]byte(name)).Level) >= level {
			names = append(names, name)
		}
	}
	slices.Sort(names)
	return names
}

// Resolver returns what has been added. With ignoreCase, names that are not found as they are
// written are found in another case: ids before the names by which genes are called, and these
// before further names.
func (b *Builder) Resolver(ignoreCase bool) *Resolver {
	if !ignoreCase {
		return b.r
	}
	names := b.names()
	b.r.folded = newEntries(len(b.r.ids) + len(b.added))
	fold := func(level int16, n geneName) {
		b.r.folded.add(level, strings.ToLower(n.name), n.gene, b.r.isNode(n.gene))
	}
	for gene, id := range b.r.ids {
		fold(0, geneName{uint32(gene), id})
	}
	for gene, name := range names {
		if name != "" {
			fold(1, geneName{uint32(gene), name})
		}
	}
	for _, n := range b.added {
		if names[n.gene] != n.name {
			fold(2, n)
		}
	}
	b.r.folded.setLevel(b.AddLevels("name in another case"))
	return b.r
}

// names returns the name by which each gene is called, "" if it has only further ones: the first at
// the level of names, unless it is a further name of another gene.
func (b *Builder) names() []string {
	names := make([]string, len(b.r.ids))
	for _, n := range b.added {
		if names[n.gene] == "" && int(b.Exact([]byte(n.name)).Level) == b.nameLevel {
			names[n.gene] = n.name
		}
	}
	ambiguous := func(name string) bool {
		isOther := func(gene uint32) bool { return names[gene] != name }
		return slices.ContainsFunc(b.Genes([]byte(name)), isOther)
	}
	shared := make([]bool, len(names))
	for gene, name := range names {
		shared[gene] = ambiguous(name)
	}
	for gene := range names {
		if shared[gene] {
			names[gene] = ""
		}
	}
	return names
}

// Columns returns what was added as the columns name and aliases of the nodes, and as a table of
// the genes outside the graph with these columns. A resolver Of them gives the same answers. All is
// nil if there are no names.
func (b *Builder) Columns() (ofNodes []ingest.Column, outside *ingest.Nodes) {
	if len(b.added) == 0 && len(b.r.ids) == b.r.nodes.Len() {
		return nil, nil
	}
	names, aliases := b.names(), make([][]string, len(b.r.ids))
	for _, n := range b.added {
		if names[n.gene] != n.name {
			aliases[n.gene] = append(aliases[n.gene], n.name)
		}
	}
	columns := func(from, to int) []ingest.Column {
		return []ingest.Column{ingest.TextColumn(ingest.NameColumn, names[from:to]),
			ingest.TextsColumn(ingest.AliasesColumn, aliases[from:to])}
	}
	n, all := b.r.nodes.Len(), len(b.r.ids)
	if n < all {
		outside, _ = ingest.NewNodes(ingest.Gene, slices.Clone(b.r.ids[n:]), columns(n, all))
	}
	return columns(0, n), outside
}

// Of makes a resolver of the names that a graph has.
func Of(cell *ingest.Graph) *Resolver { return BuilderOf(cell).Resolver(cell.IgnoreCase) }

// BuilderOf makes a builder that knows the names that a graph has; they take precedence over those
// that are added to it.
func BuilderOf(cell *ingest.Graph) *Builder {
	b := NewBuilder(cell.Genes, 3*cell.Genes.Len())
	if cell.OtherGenes != nil {
		ids := b.AddLevels("id in names/gene")
		for _, id := range cell.OtherGenes.IDs {
			b.AddGene(ids, id)
		}
	}
	b.addColumns(cell.Genes, cell.OtherGenes)
	return b
}

// Extend makes a builder for the genes of a graph and further ones, which have only ids.
func Extend(cell *ingest.Graph, ids []string) *Builder {
	all, _ := ingest.NewNodes(ingest.Gene, slices.Concat(cell.Genes.IDs, ids), nil)
	b := NewBuilder(all, 3*all.Len())
	b.addColumns(cell.Genes)
	return b
}

// addColumns adds the columns name and aliases of tables, whose genes are numbered in turn.
func (b *Builder) addColumns(tables ...*ingest.Nodes) {
	for _, column := range []string{ingest.NameColumn, ingest.AliasesColumn} {
		level, first := 0, 0 // no level until a table has the column
		for _, nodes := range tables {
			texts := nodes.Texts(column)
			if texts != nil && level == 0 {
				level = b.AddLevels(column)
			}
			for row := range texts {
				for _, text := range texts[row] {
					b.Add(level, text, uint32(first+row))
				}
			}
			first += nodes.Len()
		}
		if column == ingest.NameColumn {
			b.NamesAt(level)
		}
	}
}
