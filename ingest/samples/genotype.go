package samples

import (
	"bytes"
	"cmp"
	"slices"
	"strings"

	"tcbuild/fault"
	"tcbuild/ingest"
	"tcbuild/ingest/names"
)

// A Genotyper turns records into genotypes. It is immutable, and safe for concurrent use.
type Genotyper struct {
	unknown       ingest.UnknownGenes
	synonyms      ingest.Synonyms
	allowWildtype bool
	names         *names.Resolver

	alleles  []AlleleKind // that delete their gene; nil: kinds are not of alleles
	yeast    bool         // case does not matter in names
	removing []string     // kinds that remove the node of their gene; nil: all
	kind     []byte       // of all perturbations of a matrix; nil: mentions have theirs
	hasKinds bool         // every perturbation has a kind
	// a gene that is mentioned twice counts once; otherwise its record is dropped
	merges   bool
	severals string // hint for a text that lists several genes
}

// A Genotype is what a record perturbs. It is valid until it is filled again.
type Genotype struct {
	Genes  []uint32 // that the sample deletes, ascending
	Stays  []uint32 // that it perturbs and does not delete, ascending
	Detail string   // of the reason to drop the record
	Name   []byte   // that it is dropped for
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
	to.Genes, to.Stays, to.Unknown = to.Genes[:0], to.Stays[:0], to.Unknown[:0]
	to.Controls, to.Repeated, to.Detail, to.Name = 0, 0, "", nil
	if r.Why != ingest.Kept {
		return r.Why, nil
	}
	for i := range r.Mentions {
		m := &r.Mentions[i]
		reason := ingest.Kept
		switch {
		case m.Genes != nil:
			reason, err = g.several(m, to)
		case m.Answer.Meaning == names.Control:
			to.Controls++
		case !m.isGene() && g.unknown != ingest.DropGene:
			reason, err = g.noGene(m, to)
		case g.alleles != nil && !slices.Contains(g.alleles, string(m.Kind)):
			if why == ingest.Kept {
				why, to.Detail, to.Name = ingest.OtherAllele, string(m.Kind), m.Text
			}
			return why, nil
		case !m.isGene():
			_, err = g.noGene(m, to)
		case !m.Repeated:
			to.Genes = append(to.Genes, m.Answer.Gene)
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
	}
	slices.Sort(to.Genes)
	mentioned := len(to.Genes)
	to.Genes = slices.Compact(to.Genes)
	if to.Repeated = mentioned - len(to.Genes); to.Repeated > 0 {
		reason, err := g.twoNames(r)
		if why = cmp.Or(why, reason); err != nil {
			return why, err
		}
	}
	switch {
	case why != ingest.Kept:
		return why, nil
	case len(to.Genes) == 0:
		return g.withoutGenes(to)
	}
	if g.hasKinds || g.removing != nil {
		if err := g.splitByKind(r, to); err != nil {
			return why, err
		}
	}
	if to.Repeated > 0 && !g.merges {
		return ingest.SelfPair, nil
	}
	return ingest.Kept, nil
}

// withoutGenes says what becomes of a record that names no gene of the graph.
func (g *Genotyper) withoutGenes(to *Genotype) (ingest.Reason, error) {
	switch {
	case len(to.Unknown) > 0:
		to.Name = to.Unknown[0]
		return ingest.NoGeneLeft, nil
	case g.allowWildtype:
		return ingest.Kept, nil
	case to.Controls > 0:
		return ingest.OnlyControls, nil
	}
	return ingest.Kept, ErrNoGene
}

// noGene notes a name that means no gene, or several, and says why its record is dropped for it.
func (g *Genotyper) noGene(m *Mention, to *Genotype) (ingest.Reason, error) {
	if err := names.Unexpected(m.Text); err != nil {
		return 0, err
	}
	if err := g.checkOneGene(m, to); err != nil {
		return 0, err
	}
	if g.unknown != ingest.DropSample && g.unknown != ingest.DropGene {
		return 0, g.refuse(m)
	}
	if !m.Repeated {
		to.Unknown = append(to.Unknown, m.Text)
	}
	if m.Answer.Meaning == names.Ambiguous {
		return ingest.AmbiguousName, nil
	}
	return ingest.UnknownGene, nil
}

const dropHint = "; to drop such samples, pass --unknown-genes drop-sample"

// refuse returns the error of a name that means no gene.
func (g *Genotyper) refuse(m *Mention) error {
	err := g.names.Explain(g.spelling(m.Text))
	hint := cmp.Or(controlHint(string(m.Text)), fault.HintOf(err))
	if g.alleles != nil && !g.yeast {
		yeast := alleles{genes: g.names, yeast: true}
		allele := yeast.ofName(string(m.Text))
		isYeast := allele.isGene() && systematicName.MatchString(g.names.ID(allele.Answer))
		if isYeast {
			hint = "to read names of yeast's strains and alleles, set yeast_alleles=true"
		}
	}
	return fault.New(fault.Input, hint+dropHint, "%w", err)
}

func (g *Genotyper) spelling(name []byte) []byte {
	spelled := alleles{genes: g.names, yeast: g.yeast}
	return []byte(spelled.spelling(string(name)))
}

// twoNames returns the reason to drop a record that mentions one gene by different names in one
// experiment, or an error: it is a double mutant whose aliases are wrong, rather than a gene that
// is listed twice.
func (g *Genotyper) twoNames(r *Record) (ingest.Reason, error) {
	for i := range r.Mentions {
		b := &r.Mentions[i]
		for k := i - 1; k >= 0 && b.isGene() && !b.Repeated; k-- {
			a := &r.Mentions[k]
			isSynonym := a.isGene() && a.Answer.Gene == b.Answer.Gene &&
				a.Experiment == b.Experiment && !g.sameName(a.Text, b.Text)
			switch {
			case !isSynonym:
			case g.synonyms == ingest.DropSynonyms:
				return ingest.SynonymNames, nil
			default:
				id := g.names.ID(a.Answer)
				return 0, names.TwoNames(string(a.Text), string(b.Text), id)
			}
		}
	}
	return ingest.Kept, nil
}

func (g *Genotyper) sameName(a, b []byte) bool {
	if g.alleles != nil {
		return bytes.EqualFold(a, b)
	}
	return bytes.Equal(a, b)
}

// several drops a record of a screen with a text that names several genes, such as KLRC4-KLRK1, or
// returns an error for it. A sample is never kept without the others: of two genes, one would be
// left.
func (g *Genotyper) several(m *Mention, to *Genotype) (ingest.Reason, error) {
	if g.unknown == ingest.DropSample {
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

// checkOneGene returns a fault.Input if a name that no gene has is a list of genes, with another
// delimiter than the table's: taken for an unknown gene, it would drop every sample of several
// genes. A part that is no gene makes it one name: ARG5,6 is one. A read-through gene, such as
// KLRC4-KLRK1, is unknown where such samples are dropped.
func (g *Genotyper) checkOneGene(m *Mention, to *Genotype) error {
	if m.Answer.Known() || g.alleles != nil {
		return nil // screens have Mention.Genes
	}
	if to.checked[string(m.Text)] {
		return nil
	}
	if to.checked == nil {
		to.checked = make(map[string]bool)
	}
	to.checked[string(m.Text)] = true
	parts, delimiter, genesOnly := g.listedGenes(m.Text)
	hint := strings.ReplaceAll(g.severals, "CHARACTER", string(delimiter))
	switch readThrough := delimiter == '-' && genesOnly; {
	case parts < 2, readThrough && g.unknown == ingest.DropSample:
		return nil
	case readThrough:
		hint += dropHint
	}
	return fault.New(fault.Input, hint, "found gene %s, expected one gene, not a list of %d",
		fault.Quote(m.Text), parts)
}

// listedGenes returns the number of names in a text, between one delimiter, if all are of genes or
// controls, and whether all are of genes.
func (g *Genotyper) listedGenes(text []byte) (parts int, delimiter rune, genesOnly bool) {
	for _, delimiter := range separators {
		if !bytes.ContainsRune(text, delimiter) {
			continue
		}
		isList := true
		parts, genesOnly = 0, true
		for part := range bytes.SplitSeq(text, []byte(string(delimiter))) {
			meaning := g.names.Find(bytes.TrimSpace(part)).Meaning
			parts++
			genesOnly = genesOnly && meaning == names.Gene
			isList = isList && (meaning == names.Gene || meaning == names.Control)
		}
		if isList {
			return parts, delimiter, genesOnly
		}
	}
	return 0, 0, false
}
