package names

import (
	"slices"
	"strings"

	"tcbuild/ingest"
)

// Builder collects the names of genes. A name keeps the meaning that the first column gave it:
// ids of the graph take precedence over all others, and each level over later ones. Within a level,
// a name of several genes means none of them.
type Builder struct{ r *Resolver }

// NewBuilder makes a builder that knows the ids of nodes, with room for a number of names.
func NewBuilder(nodes *ingest.Nodes, room int) *Builder {
	r := &Resolver{nodes: nodes, ids: slices.Clone(nodes.IDs), exact: newMeanings(room),
		several: make(map[string][]uint32)}
	for row, id := range nodes.IDs {
		r.exact.set(id, Answer{uint32(row), idLevel, Gene})
	}
	return &Builder{r}
}

// Resolver returns what has been added. The builder must not be used any more.
func (b *Builder) Resolver() *Resolver { return b.r }

// AddLevels makes a level for each label, and returns the first.
func (b *Builder) AddLevels(labels ...string) int {
	b.r.labels = append(b.r.labels, labels...)
	return len(b.r.labels) - len(labels)
}

// Exact says what a name means so far.
func (b *Builder) Exact(name []byte) Answer { return b.r.Exact(name) }

// Genes returns the numbers of the genes that have a name so far; nil: none has.
func (b *Builder) Genes(name []byte) []uint32 { return b.r.owners(name) }

// AddGene adds a gene outside the graph, by an id that means nothing yet.
func (b *Builder) AddGene(level int, id string) (gene uint32) {
	gene = uint32(len(b.r.ids))
	b.r.ids = append(b.r.ids, id)
	b.Add(level, id, gene)
	return gene
}

// Add adds a name of a gene, unless an earlier level has it. No name contains a |, which joins names
// in text.
func (b *Builder) Add(level int, name string, gene uint32) {
	r := b.r
	a, taken := r.exact.get([]byte(name))
	switch {
	case name == "" || strings.Contains(name, "|"), taken && a.Level != int16(level):
		return
	case !taken:
		a = Answer{gene, int16(level), NotInGraph}
		if r.isNode(gene) {
			a.Meaning = Gene
		}
	default:
		genes, ok := r.several[name]
		if !ok {
			genes = []uint32{a.Gene}
		}
		if slices.Contains(genes, gene) {
			return
		}
		r.several[name] = append(genes, gene)
		if a.Meaning != NotInGraph || r.isNode(gene) {
			a.Meaning = Ambiguous
		}
	}
	r.exact.set(name, a)
}

func (r *Resolver) isNode(gene uint32) bool { return int(gene) < r.nodes.Len() }

// Shared are the names of several genes from a level on, ascending.
func (b *Builder) Shared(level int) (names []string) {
	for name := range b.r.several {
		if int(b.r.Exact([]byte(name)).Level) >= level {
			names = append(names, name)
		}
	}
	slices.Sort(names)
	return names
}
