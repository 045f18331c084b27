package gpuverify

import "tcbuild/ingest"

// scatterer regenerates masks by incidence, in its own buffer: one per goroutine.
type scatterer struct {
	*graphRules
	maskBuffer
	incidences []edgeIncidence
	reactions  *edgeIncidence // edges of the reactions; nil when the graph has none
	deleted    []uint64       // by gene: 1 when deleted; all zero between calls
	mentioned  [][]int        // gene -> reactions whose rule names it
	stack      []uint64
}

func newScatterer(rules *graphRules, incidences []edgeIncidence) *scatterer {
	s := &scatterer{graphRules: rules, maskBuffer: newMaskBuffer(rules.size), incidences: incidences,
		deleted: make([]uint64, rules.graph.Genes.Len()), mentioned: make([][]int, rules.graph.Genes.Len())}
	for i := range incidences {
		if incidences[i].Type == ingest.RMR {
			s.reactions = &incidences[i]
		}
	}
	for reaction, rule := range rules.rules {
		for _, term := range rule {
			if term >= 0 {
				s.mentioned[term] = append(s.mentioned[term], reaction)
			}
		}
	}
	return s
}

// regenerate sets the masks of a genotype. They are valid until reset.
func (s *scatterer) regenerate(genes []uint32) {
	for _, gene := range genes {
		s.remove(int(gene))
	}
	for _, edges := range s.incidences {
		if edges.Type.Source == ingest.Gene {
			s.scatter(edges, genes)
		}
	}
	s.scatterByRules(genes)
	s.scatterReactions()
}

// scatter removes the edges of the deleted genes, and, under the rule "all", the reactions at their
// ends.
func (s *scatterer) scatter(edges edgeIncidence, genes []uint32) {
	reactionStart, takesReactions := s.start[ingest.Reaction], edges.Type == ingest.GPR && s.rules == nil
	for _, gene := range genes {
		for _, position := range edges.row(gene) {
			s.remove(edges.start + int(position))
			if takesReactions {
				s.remove(reactionStart + int(edges.Dst[position]))
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
			if s.rules[reaction].removed(s.deleted, &s.stack) != 0 {
				s.remove(s.start[ingest.Reaction] + reaction)
			}
		}
	}
	for _, gene := range genes {
		s.deleted[gene] = 0
	}
}

// scatterReactions removes the edges of the removed reactions.
func (s *scatterer) scatterReactions() {
	if s.reactions == nil {
		return
	}
	reactionStart := s.start[ingest.Reaction]
	for _, position := range s.removed { // remove appends to it, but the loop keeps the original length
		reaction := int(position) - reactionStart
		if reaction < 0 || reaction >= s.graph.Reactions.Len() {
			continue
		}
		for _, edge := range s.reactions.row(uint32(reaction)) {
			s.remove(s.reactions.start + int(edge))
		}
	}
}
