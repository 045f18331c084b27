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
	for row, id := range nodes.IDs {
		r.exact.set(id, Answer{Gene: uint32(row), Meaning: Gene})
	}
	return &Builder{r: r}
}

// AddLevel makes a further level of names, and returns it.
func (b *Builder) AddLevel() int {
	b.r.levels++
	return b.r.levels
}

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
	b.r.folded.setLevel(b.AddLevel())
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

// Of makes a resolver of the names that a graph has.
func Of(cell *ingest.Graph) *Resolver { return BuilderOf(cell).Resolver(cell.IgnoreCase) }

// BuilderOf makes a builder that knows the names that a graph has; they take precedence over those
// that are added to it.
func BuilderOf(cell *ingest.Graph) *Builder {
	b := NewBuilder(cell.Genes, 3*cell.Genes.Len())
	if cell.OtherGenes != nil {
		ids := b.AddLevel()
		for _, id := range cell.OtherGenes.IDs {
			b.AddGene(ids, id)
		}
	}
	b.addColumns(cell.Genes, cell.OtherGenes)
	return b
}

// addColumns adds the columns name and aliases of tables, whose genes are numbered in turn.
func (b *Builder) addColumns(tables ...*ingest.Nodes) {
	for _, column := range []string{ingest.NameColumn, ingest.AliasesColumn} {
		level, first := 0, 0 // no level until a table has the column
		for _, nodes := range tables {
			texts := nodes.Texts(column)
			if texts != nil && level == 0 {
				level = b.AddLevel()
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
