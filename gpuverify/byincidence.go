package gpuverify

import (
	"slices"

	"tcbuild/incidence"
	"tcbuild/ingest"
	"tcbuild/ingest/gpr"
)

// scatterer regenerates masks by incidence, in a buffer of its own: one per goroutine.
type scatterer struct {
	*graphRules
	maskBuffer
	edges     []incidence.Incidence
	deleted   []uint64 // by gene: 1 when deleted; all zero between calls
	mentioned [][]int  // gene -> reactions whose rule names it
}

func newScatterer(rules *graphRules, cache *incidence.Cache) *scatterer {
	s := &scatterer{graphRules: rules, maskBuffer: newMaskBuffer(rules.layout.Size), edges: cache.Edges,
		deleted: make([]uint64, rules.graph.Genes.Len()), mentioned: make([][]int, rules.graph.Genes.Len())}
	for reaction := range rules.rules {
		s.mention(reaction, &rules.rules[reaction])
	}
	return s
}

func (s *scatterer) mention(reaction int, t *term) {
	if t.gene >= 0 && t.op == gpr.Gene {
		s.mentioned[t.gene] = append(s.mentioned[t.gene], reaction)
	}
	for i := range t.terms {
		s.mention(reaction, &t.terms[i])
	}
}

// regenerate sets the masks of a genotype. They stay until reset.
func (s *scatterer) regenerate(genes []uint32) {
	for _, gene := range genes {
		s.remove(int(gene))
	}
	for _, edges := range s.edges {
		if edges.RowType == ingest.Gene {
			s.scatter(edges, genes)
		}
	}
	s.scatterByRules(genes)
	s.scatterReactions()
}

// scatter removes the edges of the deleted genes, and, under the rule "all", the reactions at their ends.
func (s *scatterer) scatter(edges incidence.Incidence, genes []uint32) {
	start, reactionStart := s.starts[edges.EdgeType], s.starts[ingest.Reaction]
	takesReactions := edges.EdgeType == gprName && s.rules == nil
	for _, gene := range genes {
		for _, position := range edges.Row(gene) {
			s.remove(start + int(position))
			if takesReactions {
				s.remove(reactionStart + int(s.gpr.Dst[position]))
			}
		}
	}
}

// scatterByRules removes, under the rule "gpr", the reactions whose rule has become false.
func (s *scatterer) scatterByRules(genes []uint32) {
	if s.rules == nil {
		return
	}
	for _, gene := range genes {
		s.deleted[gene] = 1
	}
	for _, gene := range genes {
		for _, reaction := range s.mentioned[gene] {
			if s.rules[reaction].removed(s.deleted)&1 != 0 {
				s.remove(s.starts[ingest.Reaction] + reaction)
			}
		}
	}
	for _, gene := range genes {
		s.deleted[gene] = 0
	}
}

var gprName, rmrName = ingest.GPR.String(), ingest.RMR.String()

// scatterReactions removes the edges of the reactions that are removed.
func (s *scatterer) scatterReactions() {
	rmr := slices.IndexFunc(s.edges, func(e incidence.Incidence) bool { return e.EdgeType == rmrName })
	if rmr < 0 {
		return
	}
	start, reactionStart := s.starts[rmrName], s.starts[ingest.Reaction]
	for _, position := range s.removed { // remove appends to it, which this loop does not see
		reaction := int(position) - reactionStart
		if reaction < 0 || reaction >= s.graph.Reactions.Len() {
			continue
		}
		for _, edge := range s.edges[rmr].Row(uint32(reaction)) {
			s.remove(start + int(edge))
		}
	}
}
