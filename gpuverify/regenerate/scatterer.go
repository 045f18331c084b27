package regenerate

// Scatterer regenerates masks by incidence, in its own buffer: one per goroutine.
type Scatterer struct {
	*Rules
	MaskBuffer
	incidence Lists
	deleted   []uint64   // by gene: 1 when deleted; all zero between calls
	reactions [][]uint32 // by gene: those that its deletion can remove
	stack     []uint64
}

// NewScatterer makes a Scatterer from the incidence of NewIncidence.
func NewScatterer(rules *Rules, incidence Lists) *Scatterer {
	return &Scatterer{Rules: rules, MaskBuffer: NewMaskBuffer(rules.Size), incidence: incidence,
		deleted: make([]uint64, rules.Graph.Genes.Len()), reactions: rules.reactionsOfGenes()}
}

// Regenerate sets the masks of a genotype. They are valid until Reset.
func (s *Scatterer) Regenerate(genes []uint32) {
	for _, gene := range genes {
		s.scatter(gene)
		s.deleted[gene] = 1
	}
	for _, gene := range genes {
		for _, reaction := range s.reactions[gene] {
			if s.rules == nil || s.rules[reaction].removed(s.deleted, &s.stack) != 0 {
				s.scatter(uint32(s.Graph.Genes.Len()) + reaction)
			}
		}
	}
	for _, gene := range genes {
		s.deleted[gene] = 0
	}
}

// scatter removes what goes with a node.
func (s *Scatterer) scatter(node uint32) {
	for _, position := range s.incidence.Row(node) {
		s.Remove(int(position))
	}
}
