package ingest

import (
	"bytes"
	"slices"

	"github.com/dustin/go-humanize"

	"tcbuild/fault"
)

// genotypeParser turns the names of a sample's genes into its genotype: begin, add for each name,
// end.
type genotypeParser struct {
	genes   *Nodes
	options PerturbationOptions
	counts  *Counts
	unknown string // the first unknown gene of all samples, for messages

	// Of the sample being parsed:
	genotype []uint32
	dropped  int // unknown gene names
}

func (p *genotypeParser) begin() { p.genotype, p.dropped = p.genotype[:0], 0 }

// end returns the genotype, ascending and without repetitions. It lives until begin. keep is false
// of a sample that is dropped, and counted, for its unknown genes.
func (p *genotypeParser) end() (genotype []uint32, keep bool, err error) {
	switch {
	case p.dropped > 0 && p.options.UnknownGenes == DropSample:
		p.counts.DroppedSamples++
		return nil, false, nil
	case p.dropped > 0 && len(p.genotype) == 0:
		p.counts.UnknownGenes += p.dropped
		p.counts.EmptiedSamples++
		return nil, false, nil
	case len(p.genotype) == 0 && !p.options.AllowWildtype:
		return nil, false, fault.New(fault.Input, "pass --allow-wildtype if training is to see the unperturbed graph",
			"the sample deletes no gene, expected at least one")
	case len(p.genotype) == 0:
		p.counts.Wildtypes++
		return nil, true, nil
	}
	p.counts.UnknownGenes += p.dropped
	slices.Sort(p.genotype)
	distinct := slices.Compact(p.genotype)
	p.counts.RepeatedGenes += len(p.genotype) - len(distinct)
	return distinct, true, nil
}

// add adds a gene to the genotype by its name.
func (p *genotypeParser) add(name []byte) error {
	index, ok := p.genes.IndexBytes(name)
	if !ok {
		index, ok = p.genes.Index(p.options.Aliases[string(name)])
	}
	if ok {
		p.genotype = append(p.genotype, index)
		return nil
	}
	if err := CheckGeneName(name); err != nil {
		return err
	}
	if p.options.UnknownGenes != DropSample && p.options.UnknownGenes != DropGene {
		return fault.New(fault.Input, "correct the name, add it to nodes/gene, or pass --unknown-genes drop-sample",
			"gene %s is not in nodes/gene (expected one of its %s ids)", fault.Quote(name), humanize.Comma(int64(p.genes.Len())))
	}
	if p.unknown == "" {
		p.unknown = string(name)
	}
	p.dropped++
	return nil
}

// CheckGeneName refuses, as a fault.Input, what is not the name of one gene: nothing, a name with
// blanks around it, and several names with a | between them. It is for names that the graph does
// not have. Such a name is a mistake in how the table is written and not a gene that the graph
// lacks, so it is never dropped.
func CheckGeneName(name []byte) error {
	switch {
	case len(name) == 0:
		return fault.New(fault.Input, "remove the extra delimiter or the empty list element", "found an empty gene name")
	case len(bytes.TrimSpace(name)) != len(name):
		return fault.New(fault.Input, "remove the blanks", "found gene %s, expected a name without blanks around it", fault.Quote(name))
	case bytes.Contains(name, []byte(defaultGeneDelimiter)):
		return fault.New(fault.Input, "give each gene a list element of its own, or a text column with --gene-delimiter \"|\"",
			"found gene %s, expected the name of one gene", fault.Quote(name))
	}
	return nil
}
