package samples

import (
	"bytes"
	"cmp"
	"fmt"
	"slices"

	"tcbuild/fault"
	"tcbuild/ingest"
	"tcbuild/ingest/names"
)

// genotypeParser turns the gene names of a sample into its genotype: call begin, add for each name,
// and end.
type genotypeParser struct {
	genes   *ingest.Nodes
	options reading
	account *ingest.Account
	missing map[string]*missing
	merges  bool // a gene that is named twice counts once; otherwise its sample is dropped

	// Of the sample being parsed:
	genotype []uint32
	names    [][]byte      // of the last genes of the genotype
	dropped  int           // unknown gene names
	lostTo   ingest.Reason // why it is dropped, if it is because of these
	controls int           // names of controls
	number   int           // names so far
	kinds    *kindParser   // nil: perturbations have no kinds, or a store's
	synonyms bool          // two of its names mean one gene, and it is dropped for that
}

func (p *genotypeParser) begin() {
	p.genotype, p.names, p.dropped, p.controls, p.number, p.synonyms = p.genotype[:0], p.names[:0], 0, 0, 0, false
}

// others says that the names to come may be other names of the genes so far.
func (p *genotypeParser) others() { p.names = p.names[:0] }

// end returns the genotype, ascending and without duplicates. It is valid until the next begin.
// keep is false if the sample is dropped, and counted, because of its genes, or if it has only
// controls, which the end of the scan reports.
func (p *genotypeParser) end() (genotype []uint32, keep bool, err error) {
	switch {
	case p.dropped > 0 && p.options.UnknownGenes == ingest.DropSample:
		p.account.Add(p.lostTo, "", 1)
		return nil, false, nil
	case p.synonyms:
		p.account.Add(ingest.SynonymNames, "", 1)
		return nil, false, nil
	case p.dropped > 0 && len(p.genotype) == 0:
		p.account.Add(ingest.UnknownLeftOut, "", p.dropped)
		p.account.Add(ingest.NoGeneLeft, "", 1)
		return nil, false, nil
	case p.onlyControls() && !p.options.AllowWildtype:
		return nil, false, nil
	case len(p.genotype) == 0 && !p.options.AllowWildtype:
		return nil, false, ErrNoGene
	case len(p.genotype) == 0:
		p.account.Add(ingest.ControlName, "", p.controls)
		p.account.Add(ingest.Wildtype, "", 1)
		return nil, true, nil
	}
	slices.Sort(p.genotype)
	distinct := slices.Compact(p.genotype)
	again := len(p.genotype) - len(distinct)
	if p.kinds != nil {
		distinct, err = p.kinds.end(p.number-len(p.kinds.kept), p.genes, p.genotype)
	}
	switch {
	case err != nil:
		return nil, false, err
	case again > 0 && !p.merges:
		p.account.Add(ingest.SelfPair, "", 1)
		return nil, false, nil
	}
	p.account.Add(ingest.ControlName, "", p.controls)
	p.account.Add(ingest.UnknownLeftOut, "", p.dropped)
	p.account.Add(ingest.RepeatedGene, "", again)
	if len(distinct) == 0 { // all its genes stay
		p.account.Add(ingest.Wildtype, "", 1)
	}
	return distinct, true, nil
}

// onlyControls reports whether all names of the sample are controls.
func (p *genotypeParser) onlyControls() bool {
	return p.controls > 0 && len(p.genotype) == 0 && p.dropped == 0
}

// ErrNoGene is the error of a sample without genes.
var ErrNoGene = fault.New(fault.Input, "name its genes; if it is a wild type, set allow_wildtype=true to train on the unperturbed graph",
	"the sample deletes no gene, expected at least one")

// find returns the index of the gene of this name.
func (p *genotypeParser) find(name []byte) (index uint32, ok bool) {
	return p.options.Names.Gene(name)
}

// add adds the gene of this name to the genotype, unless it is a control.
func (p *genotypeParser) add(name []byte) error {
	p.number++
	answer := p.options.Names.Find(name)
	switch answer.Meaning {
	case names.Control:
		p.controls++
		return nil
	case names.Gene:
		return p.addGene(answer.Gene, name)
	}
	if found := p.missing[string(name)]; found != nil {
		p.drop(found)
		return nil
	}
	if err := names.Unexpected(name); err != nil {
		return err
	}
	if !answer.Known() {
		if err := p.checkOneGene(name); err != nil {
			return err
		}
	}
	if p.options.UnknownGenes != ingest.DropSample && p.options.UnknownGenes != ingest.DropGene {
		err := p.options.Names.Explain(name)
		hint := cmp.Or(controlHint(string(name)), fault.HintOf(err))
		return fault.New(fault.Input, hint+"; to drop such samples, pass --unknown-genes drop-sample", "%w", err)
	}
	found := &missing{why: ingest.UnknownGene}
	if answer.Meaning == names.Ambiguous {
		found.why = ingest.AmbiguousName
	}
	p.missing[string(name)] = found
	p.drop(found)
	return nil
}

// drop counts an unknown name of the sample.
func (p *genotypeParser) drop(name *missing) {
	if p.dropped++; p.dropped == 1 {
		p.lostTo = name.why
		name.first++
	}
	name.listed++
}

// missing counts what an unknown name is of samples.
type missing struct {
	why    ingest.Reason // UnknownName or AmbiguousName
	first  int           // those whose first unknown name it is
	listed int           // how often they list it
}

// addGene adds the gene that a name means. Two names of one gene in a sample are a double mutant
// whose aliases are wrong, rather than a gene listed twice.
func (p *genotypeParser) addGene(index uint32, name []byte) error {
	from := len(p.genotype) - len(p.names)
	for i, other := range p.names {
		if p.genotype[from+i] != index || bytes.Equal(other, name) {
			continue
		}
		if p.options.Synonyms != ingest.DropSynonyms {
			return names.TwoNames(string(other), string(name), p.genes.IDs[index])
		}
		p.synonyms = true
	}
	p.genotype = append(p.genotype, index)
	if p.kinds != nil {
		p.kinds.add(index, p.number-1)
	}
	p.names = append(p.names, name)
	return nil
}

// delimiterHint says what to do about a list of genes with another delimiter.
func (p *genotypeParser) delimiterHint(delimiter rune) string {
	setting := fmt.Sprintf("'gene_delimiter=%c'", delimiter)
	switch {
	case len(p.options.GenesColumns) > 1:
		return "put each gene in a column of its own"
	}
	return "add " + setting
}

// checkOneGene returns a fault.Input if name, which is not in the graph, is a list of genes that
// are: their delimiter is not the one that the table was said to have. Taken for an unknown gene,
// it would drop every sample of several genes. A part that is not a gene makes it one name: ARG5,6
// is one. A read-through gene, such as KLRC4-KLRK1, is unknown where such samples are dropped.
func (p *genotypeParser) checkOneGene(name []byte) error {
	for _, delimiter := range ",;:/+& _-" {
		parts := bytes.Split(name, []byte(string(delimiter)))
		isList, genesAlone := len(parts) > 1, true
		for _, part := range parts {
			part = bytes.TrimSpace(part)
			_, known := p.find(part)
			genesAlone = genesAlone && known
			isControl := p.options.Names.Find(part).Meaning == names.Control
			isList = isList && (known || isControl)
		}
		readThrough := genesAlone && delimiter == '-'
		if isList && !(readThrough && p.options.UnknownGenes == ingest.DropSample) {
			hint := p.delimiterHint(delimiter)
			if readThrough {
				hint += "; to drop such samples, pass --unknown-genes drop-sample"
			}
			return fault.New(fault.Input, hint,
				"found gene %s, expected one gene, not a list of %d", fault.Quote(name), len(parts))
		}
	}
	return nil
}
