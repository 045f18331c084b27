package ingest

import (
	"slices"

	"github.com/dustin/go-humanize"

	"tcbuild/internal/fault"
)

// genotypeParser turns the names of a sample's genes into its genotype: begin, add for each name, end.
type genotypeParser struct {
	genes   *Nodes
	options PerturbationOptions
	counts  *Counts

	// Of the sample being parsed:
	genotype []uint32
	dropped  int // unknown gene names
}

func (p *genotypeParser) begin() { p.genotype, p.dropped = p.genotype[:0], 0 }

// end returns the genotype, ascending and without repetitions. It lives until begin.
func (p *genotypeParser) end() ([]uint32, error) {
	if len(p.genotype) == 0 {
		return nil, p.wildtype()
	}
	slices.Sort(p.genotype)
	distinct := slices.Compact(p.genotype)
	p.counts.RepeatedGenes += len(p.genotype) - len(distinct)
	return distinct, nil
}

// add adds a gene to the genotype by its name.
func (p *genotypeParser) add(name []byte) error {
	if len(name) == 0 {
		return fault.New(fault.Input, "remove the extra delimiter or the empty list element", "found an empty gene name")
	}
	index, ok := p.genes.IndexBytes(name)
	if !ok {
		index, ok = p.genes.Index(p.options.Aliases[string(name)])
	}
	switch {
	case ok:
		p.genotype = append(p.genotype, index)
	case p.options.UnknownGenes == DropGene:
		p.dropped++
		p.counts.UnknownGenes++
	default:
		return fault.New(fault.Input, "correct the name, add it to nodes/gene, or pass --unknown-genes drop-sample",
			"gene %q is not in nodes/gene (expected one of its %s ids)", name, humanize.Comma(int64(p.genes.Len())))
	}
	return nil
}

// wildtype counts a sample that deletes no gene, or refuses it.
func (p *genotypeParser) wildtype() error {
	const hint = "pass --allow-wildtype if training is to see the unperturbed graph"
	switch {
	case p.options.AllowWildtype:
		p.counts.Wildtypes++
		return nil
	case p.dropped > 0:
		return fault.New(fault.Input, hint, "the sample deletes no gene, as all its genes are unknown and were dropped (%d), expected at least one", p.dropped)
	}
	return fault.New(fault.Input, hint, "the sample deletes no gene, expected at least one")
}
