package selection

import (
	"cmp"
	"context"
	"slices"

	"tcbuild/ingest"
)

// components are the connected components of genes that samples perturb together: by gene, another
// gene of its component, or the gene itself if it stands for the component.
type components []uint32

// connect puts genes into one component.
func (c *components) connect(genes []uint32) {
	for _, gene := range genes {
		for len(*c) <= int(gene) {
			*c = append(*c, uint32(len(*c)))
		}
	}
	for _, gene := range genes {
		(*c)[c.root(gene)] = c.root(genes[0])
	}
}

// root returns the gene that stands for a gene's component, and shortens the way to it.
func (c *components) root(gene uint32) uint32 {
	for (*c)[gene] != gene {
		(*c)[gene] = (*c)[(*c)[gene]]
		gene = (*c)[gene]
	}
	return gene
}

func (s *splitter) findComponents(ctx context.Context) error {
	return s.eachSample(ctx, func(_ int, row *ingest.Sample) error {
		s.components.connect(row.Genes)
		return nil
	})
}

// assignLargestFirst puts components into parts, as the package comment specifies.
func assignLargestFirst(units []unit, fractions []Fraction, seed uint64) {
	var free []drawn
	all, got := 0, make([]int, len(fractions)) // samples
	for i := range units {
		u := &units[i]
		all += u.samples
		if u.part == none {
			free = append(free, drawn{splitMix(seed, u.number), u})
		} else {
			got[u.part] += u.samples
		}
	}
	slices.SortFunc(free, func(a, b drawn) int {
		return cmp.Or(b.samples-a.samples, cmp.Compare(a.key, b.key), a.number-b.number)
	})
	for _, u := range free {
		most := int64(0)
		for part, f := range fractions {
			missing := int64(all)*f.Billionths - int64(got[part])*whole
			if u.part == none || missing > most {
				u.part, most = part, missing
			}
		}
		got[u.part] += u.samples
	}
}
