package samples

import (
	"bytes"
	"slices"

	"tcbuild/fault"
	"tcbuild/ingest"
	"tcbuild/ingest/names"
)

// A Genotyper turns records into genotypes. It is immutable, and safe for concurrent use.
type Genotyper struct {
	spec     *Spec
	names    *names.Resolver
	hasKinds bool // every perturbation has a kind
	merges   bool // a gene that is mentioned again counts once; otherwise its record is dropped
}

// genotyper makes the Genotyper of a set, with names by its rules.
func (s *Spec) genotyper(known *names.Resolver) (*Genotyper, error) {
	withRules, err := known.With(names.Rules{Controls: s.Controls, Delimiter: s.GeneDelimiter})
	if err != nil {
		return nil, fault.New(fault.Usage, fault.HintOf(err), "read perturbations %s: %w", s.File,
			err)
	}
	return &Genotyper{spec: s, names: withRules}, nil
}

// A Genotype is what a record perturbs. It is valid until it is filled again.
type Genotype struct {
	Genes   []uint32 // that the sample deletes, ascending
	Staying []uint32 // that it perturbs and does not delete, ascending
	Name    []byte   // that the record is dropped for
	// of the record, whatever becomes of it
	Unknown  [][]byte // names that mean no gene, or several
	Controls int      // names of controls
	Repeated int      // genes that are mentioned again

	mentioned int             // genes, without repeated experiments
	checked   map[string]bool // unknown names that are no lists of genes
}

func (t *Genotype) reset() {
	t.Genes, t.Staying, t.Unknown = t.Genes[:0], t.Staying[:0], t.Unknown[:0]
	t.Controls, t.Repeated, t.Name, t.mentioned = 0, 0, nil, 0
}

// ErrNoGene is the error of a sample without genes.
var ErrNoGene = fault.New(fault.Input,
	"name its genes; if it is a wild type, set allow_wildtype=true to train on the "+
		"unperturbed graph",
	"the sample deletes no gene, expected at least one")

// Genotype fills a genotype by a record, or says why the record is dropped. It is a pure function
// of the record. Errors do not say where the record is.
func (g *Genotyper) Genotype(r *Record, to *Genotype) (why ingest.Reason, err error) {
	to.reset()
	for i := range r.Mentions {
		m := &r.Mentions[i]
		switch {
		case m.Answer.Meaning == names.Control:
			to.Controls++
		case !m.isGene():
			err = g.checkUnknown(m, to)
			if g.spec.UnknownGenes == ingest.DropSample && why == ingest.Kept {
				why, to.Name = m.Answer.Reason(), m.Text
			}
		case g.deletes(m):
			to.Genes = append(to.Genes, m.Answer.Gene)
		default:
			to.Staying = append(to.Staying, m.Answer.Gene)
		}
		if err != nil {
			return why, err
		}
		if m.isGene() && !m.Repeated {
			to.mentioned++
		}
	}
	to.order()
	if to.Repeated > 0 {
		err = g.checkSynonyms(r)
	}
	if err != nil || why != ingest.Kept {
		return why, err
	}
	return g.decide(r, to)
}

// order sorts the genes. One that a record deletes does not stay.
func (t *Genotype) order() {
	slices.Sort(t.Genes)
	t.Genes = slices.Compact(t.Genes)
	if len(t.Staying) > 0 {
		slices.Sort(t.Staying)
		t.Staying = slices.DeleteFunc(slices.Compact(t.Staying), func(gene uint32) bool {
			_, deleted := slices.BinarySearch(t.Genes, gene)
			return deleted
		})
	}
	t.Repeated = t.mentioned - len(t.Genes) - len(t.Staying)
}

// decide says what becomes of a record whose names are known.
func (g *Genotyper) decide(r *Record, to *Genotype) (why ingest.Reason, err error) {
	hasGenes := len(to.Genes)+len(to.Staying) > 0
	switch {
	case hasGenes && g.hasKinds:
		err = checkKinds(r)
	case hasGenes:
	case len(to.Unknown) > 0:
		to.Name = to.Unknown[0]
		why = ingest.NoGeneLeft
	case g.spec.AllowWildtype:
	case to.Controls > 0:
		why = ingest.OnlyControls
	default:
		err = ErrNoGene
	}
	if hasGenes && to.Repeated > 0 && !g.merges {
		why = ingest.SelfPair
	}
	return why, err
}

// deletes reports whether a mention deletes its gene: the choice of kinds is asked before the
// table, which may have been written with another one.
func (g *Genotyper) deletes(m *Mention) bool {
	if g.spec.RemovingKinds == nil {
		return !m.Stays
	}
	return g.spec.RemovingKinds.include(m.Kind)
}

// checkSynonyms returns an error for a record that mentions one gene by different names in one
// experiment: it is a double mutant whose aliases are wrong, rather than a gene that is listed
// twice.
func (g *Genotyper) checkSynonyms(r *Record) error {
	for i := range r.Mentions {
		b := &r.Mentions[i]
		if !b.isGene() || b.Repeated {
			continue
		}
		isSynonym := func(a Mention) bool {
			return a.isOf(b.Answer.Gene) && a.Experiment == b.Experiment &&
				!bytes.Equal(a.Text, b.Text)
		}
		if at := slices.IndexFunc(r.Mentions[:i], isSynonym); at >= 0 {
			return names.TwoNames(string(r.Mentions[at].Text), string(b.Text), g.names.ID(b.Answer))
		}
	}
	return nil
}
