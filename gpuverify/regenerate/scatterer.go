package regenerate

import "tcbuild/ingest"

// Scatterer regenerates masks by incidence, in its own buffer: one per goroutine.
type Scatterer struct {
	*Rules
	MaskBuffer
	incidences []Incidence
	reactions  *Incidence // edges of the reactions; nil when the graph has none
	deleted    []uint64   // by gene: 1 when deleted; all zero between calls
	mentioned  [][]int    // gene -> reactions whose rule names it
	stack      []uint64
}

func NewScatterer(rules *Rules, incidences []Incidence) *Scatterer {
	s := &Scatterer{Rules: rules, MaskBuffer: NewMaskBuffer(rules.Size), incidences: incidences,
		deleted: make([]uint64, rules.Graph.Genes.Len()), mentioned: make([][]int, rules.Graph.Genes.Len())}
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

// Regenerate sets the masks of a genotype. They are valid until Reset.
func (s *Scatterer) Regenerate(genes []uint32) {
	for _, gene := range genes {
		s.Remove(int(gene))
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
func (s *Scatterer) scatter(edges Incidence, genes []uint32) {
	reactionStart, takesReactions := s.Start[ingest.Reaction], edges.Type == ingest.GPR && s.rules == nil
	for _, gene := range genes {
		for _, position := range edges.Row(gene) {
			s.Remove(edges.Start + int(position))
			if takesReactions {
				s.Remove(reactionStart + int(edges.Dst[position]))
			}
		}
	}
}

// scatterByRules removes, under the rule "gpr", the reactions whose rule has become false.
func (s *Scatterer) scatterByRules(genes []uint32) {
	if s.rules == nil {
		return
	}
	for _, gene := range genes {
		s.deleted[gene] = 1
	}
	for _, gene := range genes {
		for _, reaction := range s.mentioned[gene] {
			if s.rules[reaction].removed(s.deleted, &s.stack) != 0 {
				s.Remove(s.Start[ingest.Reaction] + reaction)
			}
		}
	}
	for _, gene := range genes {
		s.deleted[gene] = 0
	}
}

// scatterReactions removes the edges of the removed reactions.
func (s *Scatterer) scatterReactions() {
	if s.reactions == nil {
		return
	}
	reactionStart := s.Start[ingest.Reaction]
	// remove appends to it, but the loop keeps the original length
	for _, position := range s.Removed {
		reaction := int(position) - reactionStart
		if reaction < 0 || reaction >= s.Graph.Reactions.Len() {
			continue
		}
		for _, edge := range s.reactions.Row(uint32(reaction)) {
			s.Remove(s.reactions.Start + int(edge))
		}
	}
}
