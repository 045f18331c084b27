package samples

import (
	"bytes"
	"cmp"
	"fmt"
	"slices"
	"strings"

	"tcbuild/fault"
	"tcbuild/ingest"
	"tcbuild/ingest/names"
)

// A Genotyper turns records into genotypes. It is immutable, and safe for concurrent use.
type Genotyper struct {
	spec     *Spec
	names    *names.Resolver
	alleles  alleles // with the same names
	hasKinds bool    // every perturbation has a kind
	merges   bool    // a gene that is mentioned again counts once; otherwise its record is dropped
}

// genotyper makes the Genotyper of a set, with names by its rules.
func (s *Spec) genotyper(known *names.Resolver) (*Genotyper, error) {
	rules := names.Rules{GenePattern: s.GenePattern, ControlPattern: s.ControlPattern,
		Delimiter: s.GeneDelimiter}
	if !s.YeastAlleles { // whose controls are markers, which are genes
		rules.Controls = s.Controls
	}
	withRules, err := known.With(rules)
	if err != nil {
		return nil, fault.New(fault.Usage, fault.HintOf(err), "read perturbations %s: %w", s.File,
			err)
	}
	return &Genotyper{spec: s, names: withRules,
		alleles: alleles{genes: withRules, yeast: s.YeastAlleles}}, nil
}

// A Genotype is what a record perturbs. It is valid until it is filled again.
type Genotype struct {
	Genes   []uint32 // that the sample deletes, ascending
	Staying []uint32 // that it perturbs and does not delete, ascending
	Detail  string   // of the reason to drop the record
	Name    []byte   // that it is dropped for
	// of the record, whatever becomes of it
	Unknown  [][]byte // names that mean no gene, or several
	Controls int      // names of controls
	Repeated int      // genes that are mentioned again

	checked map[string]bool // unknown names that are no lists of genes
}

// ErrNoGene is the error of a sample without genes.
var ErrNoGene = fault.New(fault.Input,
	"name its genes; if it is a wild type, set allow_wildtype=true to train on the "+
		"unperturbed graph",
	"the sample deletes no gene, expected at least one")

// Genotype fills a genotype by a record, or says why the record is dropped. It is a pure function
// of the record. Errors do not say where the record is.
func (g *Genotyper) Genotype(r *Record, to *Genotype) (why ingest.Reason, err error) {
	to.Genes, to.Staying, to.Unknown = to.Genes[:0], to.Staying[:0], to.Unknown[:0]
	to.Controls, to.Repeated, to.Detail, to.Name = 0, 0, "", nil
	if r.Why != ingest.Kept {
		return r.Why, nil
	}
	mentioned := 0
	for i := range r.Mentions {
		m := &r.Mentions[i]
		reason := ingest.Kept
		switch {
		case m.Genes != nil:
			reason, err = g.dropSeveral(m, to)
		case m.isControl():
			to.Controls++
		case !m.isGene() && g.spec.UnknownGenes != ingest.DropGene:
			reason, err = g.dropUnknown(m, to)
		case g.spec.isScreen() && !g.spec.countsAsDeletion(m.Allele):
			if why == ingest.Kept {
				why, to.Detail, to.Name = g.spec.otherAllele(), m.Allele, m.Text
			}
			return why, nil
		case !m.isGene():
			_, err = g.dropUnknown(m, to)
		case g.deletes(m):
			to.Genes = append(to.Genes, m.Answer.Gene)
		default:
			to.Staying = append(to.Staying, m.Answer.Gene)
		}
		if err != nil && m.Stays {
			err = fault.New(fault.KindOf(err), fault.HintOf(err), "kind %s: %w",
				fault.Quote(string(m.Text)+"="+string(m.Kind)), err)
		}
		if err != nil {
			return why, err
		}
		if why == ingest.Kept && reason != ingest.Kept {
			why, to.Name = reason, m.Text
		}
		if m.isGene() && !m.Repeated {
			mentioned++
		}
	}
	slices.Sort(to.Genes)
	to.Genes = slices.Compact(to.Genes)
	if len(to.Staying) > 0 {
		slices.Sort(to.Staying)
		to.Staying = slices.DeleteFunc(slices.Compact(to.Staying), func(gene uint32) bool {
			_, deleted := slices.BinarySearch(to.Genes, gene)
			return deleted
		})
	}
	perturbed := len(to.Genes) + len(to.Staying)
	if to.Repeated = mentioned - perturbed; to.Repeated > 0 {
		reason, err := g.checkSynonyms(r)
		if why = cmp.Or(why, reason); err != nil {
			return why, err
		}
	}
	switch {
	case why != ingest.Kept:
		return why, nil
	case perturbed == 0:
		return g.withoutGenes(to)
	}
	if g.hasKinds {
		if err := checkKinds(r); err != nil {
			return why, err
		}
	}
	if to.Repeated > 0 && !g.merges {
		return ingest.SelfPair, nil
	}
	return ingest.Kept, nil
}

// deletes reports whether a mention deletes its gene: the choice of kinds is asked before the
// table, which may have been written with another one.
func (g *Genotyper) deletes(m *Mention) bool {
	if g.spec.RemovingKinds == nil {
		return !m.Stays
	}
	return g.spec.RemovingKinds.include(m.Kind)
}

// withoutGenes says what becomes of a record that names no gene of the graph.
func (g *Genotyper) withoutGenes(to *Genotype) (ingest.Reason, error) {
	switch {
	case len(to.Unknown) > 0:
		to.Name = to.Unknown[0]
		return ingest.NoGeneLeft, nil
	case g.spec.AllowWildtype:
		return ingest.Kept, nil
	case to.Controls > 0:
		return ingest.OnlyControls, nil
	}
	return ingest.Kept, ErrNoGene
}

// dropUnknown notes a name that means no gene, or several, and says why its record is dropped for
// it.
func (g *Genotyper) dropUnknown(m *Mention, to *Genotype) (ingest.Reason, error) {
	if err := names.Unexpected(m.Text); err != nil {
		return 0, err
	}
	if err := g.checkNoList(m, to); err != nil {
		return 0, err
	}
	if g.spec.UnknownGenes == ingest.RefuseUnknownGenes {
		return 0, g.refuse(m)
	}
	if !m.Repeated {
		to.Unknown = append(to.Unknown, m.Text)
	}
	return m.Answer.Reason(), nil
}

const dropHint = "; to drop such samples, pass --unknown-genes drop-sample"

// refuse returns the error of a name that means no gene.
func (g *Genotyper) refuse(m *Mention) error {
	name := string(m.Text)
	err := g.names.Explain([]byte(g.alleles.spelling(name)))
	hint := cmp.Or(controlHint(name), fault.HintOf(err))
	if g.spec.isScreen() && !g.spec.YeastAlleles {
		yeast := alleles{genes: g.names, yeast: true}
		if m := yeast.ofName(name); m.isGene() && systematicName.MatchString(g.names.ID(m.Answer)) {
			hint = "to read names of yeast's strains and alleles, set yeast_alleles=true"
		}
	}
	return fault.New(fault.Input, hint+dropHint, "%w", err)
}

// checkSynonyms returns the reason to drop a record that mentions one gene by different names in
// one experiment, or an error: it is a double mutant whose aliases are wrong, rather than a gene
// that is listed twice.
func (g *Genotyper) checkSynonyms(r *Record) (ingest.Reason, error) {
	for i := range r.Mentions {
		b := &r.Mentions[i]
		isSynonym := func(a Mention) bool {
			return a.isOf(b.Answer.Gene) && a.Experiment == b.Experiment && !g.sameName(a.Text,
				b.Text)
		}
		at := slices.IndexFunc(r.Mentions[:i], isSynonym)
		switch {
		case at < 0 || !b.isGene() || b.Repeated:
		case g.spec.Synonyms == ingest.DropSynonyms:
			return ingest.SynonymNames, nil
		default:
			a := r.Mentions[at]
			return 0, names.TwoNames(string(a.Text), string(b.Text), g.names.ID(a.Answer))
		}
	}
	return ingest.Kept, nil
}

func (g *Genotyper) sameName(a, b []byte) bool {
	if g.spec.isScreen() {
		return bytes.EqualFold(a, b)
	}
	return bytes.Equal(a, b)
}

// dropSeveral drops a record of a screen with a text that names several genes, such as KLRC4-KLRK1,
// or returns an error for it. A sample is never kept without the others: of two genes, one would be
// left.
func (g *Genotyper) dropSeveral(m *Mention, to *Genotype) (ingest.Reason, error) {
	if g.spec.UnknownGenes == ingest.DropSample {
		if !m.isGene() {
			to.Unknown = append(to.Unknown, m.Text)
		}
		return ingest.SeveralGenes, names.Unexpected(m.Text)
	}
	quoted := make([]string, len(m.Genes))
	for i, name := range m.Genes {
		quoted[i] = fault.Quote(name)
	}
	return 0, fault.New(fault.Input, severalHint+dropHint,
		"found %s, which names %d genes, %s, expected the name of one gene",
		fault.Quote(m.Text), len(quoted), strings.Join(quoted, " and "))
}

const severalHint = "name each gene in a column of its own; to read several from one, " +
	"omit --source and strains, and pass --genes-columns COLUMN 'gene_delimiter=CHARACTER'"

// checkNoList returns a fault.Input if a name that no gene has is a list of genes, with another
// delimiter than the table's: taken for an unknown gene, it would drop every sample of several
// genes. A part that is no gene makes it one name: ARG5,6 is one. A read-through gene, such as
// KLRC4-KLRK1, is unknown where such samples are dropped.
func (g *Genotyper) checkNoList(m *Mention, to *Genotype) error {
	if m.Answer.Known() || g.spec.isScreen() || to.checked[string(m.Text)] {
		return nil // screens have Mention.Genes
	}
	if to.checked == nil {
		to.checked = make(map[string]bool)
	}
	to.checked[string(m.Text)] = true
	genes, rest := g.alleles.genesIn(string(m.Text)), string(m.Text)
	for _, gene := range genes {
		rest = strings.Replace(rest, gene, "", 1)
	}
	if genes == nil || strings.Trim(rest, separators) != "" {
		return nil
	}
	between, _, _ := strings.Cut(string(m.Text[len(genes[0]):]), genes[1])
	delimiter := cmp.Or(strings.TrimSpace(between), " ")
	hint := "put each gene in a column of its own"
	if len(g.spec.GenesColumns) < 2 {
		hint = fmt.Sprintf("add 'gene_delimiter=%s'", delimiter)
	}
	isControl := func(name string) bool {
		return g.names.Find([]byte(name)).Meaning == names.Control
	}
	if delimiter == "-" && !slices.ContainsFunc(genes, isControl) { // a read-through gene
		if g.spec.UnknownGenes == ingest.DropSample {
			return nil
		}
		hint += dropHint
	}
	return fault.New(fault.Input, hint, "found gene %s, expected one gene, not a list of %d",
		fault.Quote(m.Text), len(genes))
}
