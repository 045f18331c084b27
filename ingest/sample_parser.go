package ingest

import (
	"bytes"
	"errors"
	"math"
	"slices"
	"strconv"
	"unicode/utf8"

	"tcbuild/ingest/table"
	"tcbuild/internal/fault"
)

// sampleParser turns the rows of a perturbation set into samples. It allocates nothing per row.
type sampleParser struct {
	*Perturbations
	counts    *Counts
	delimiter []byte

	// Of the row being parsed:
	genotype   []uint32
	dropped    int // unknown gene names
	id         []byte
	phenotypes []float64
}

var errInfinite = errors.New("found an infinite value, expected a finite number or a missing one")

// parse appends row i of a batch to samples. Its errors do not say where the row is.
func (p *sampleParser) parse(b *table.Batch, i int, samples *Samples) error {
	if err := p.parseGenotype(b, i); err != nil {
		return err
	}
	for k, column := range p.layout.phenotypes {
		value, _, err := b.Number(column, i)
		if err == nil && math.IsInf(value, 0) {
			err = errInfinite
		}
		if err != nil {
			return fault.New(fault.Input, "correct the value, or name the columns that are phenotypes",
				"phenotype %q: %w", p.layout.phenotypeNames[k], err)
		}
		p.phenotypes[k] = value
	}
	if p.layout.id < 0 {
		p.id = strconv.AppendInt(p.id[:0], int64(p.counts.Samples), 10)
	} else {
		p.id = append(p.id[:0], b.Text(p.layout.id, i)...)
	}
	if !utf8.Valid(p.id) {
		return fault.New(fault.Input, "save the file as UTF-8 text", "sample id %q is not valid UTF-8", p.id)
	}
	samples.Append(p.id, p.genotype, p.phenotypes)
	return nil
}

// parseGenotype sets the genotype, ascending and without repetitions.
func (p *sampleParser) parseGenotype(b *table.Batch, i int) error {
	p.genotype, p.dropped = p.genotype[:0], 0
	var err error
	switch {
	case p.layout.list:
		for _, name := range b.List(p.layout.genes[0], i) {
			if err == nil {
				err = p.addGene(name)
			}
		}
	case len(p.layout.genes) == 1:
		rest := b.Text(p.layout.genes[0], i)
		for more := len(rest) > 0; more && err == nil; {
			var name []byte
			name, rest, more = bytes.Cut(rest, p.delimiter)
			err = p.addGene(name)
		}
	default:
		for _, column := range p.layout.genes {
			if name := b.Text(column, i); len(name) > 0 && err == nil {
				err = p.addGene(name)
			}
		}
	}
	if err != nil {
		return err
	}
	if len(p.genotype) == 0 {
		return p.wildtype()
	}
	slices.Sort(p.genotype)
	distinct := slices.Compact(p.genotype)
	p.counts.RepeatedGenes += len(p.genotype) - len(distinct)
	p.genotype = distinct
	return nil
}

// addGene adds a gene to the genotype by its name.
func (p *sampleParser) addGene(name []byte) error {
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
	case p.options.UnknownGenes == IgnoreUnknownGenes:
		p.dropped++
		p.counts.UnknownGenes++
	default:
		return fault.New(fault.Input, "correct the name, add it to nodes/gene, or pass --unknown-genes ignore",
			"gene %q is not in nodes/gene (expected one of its %s ids)", name, thousands(p.genes.Len()))
	}
	return nil
}

// wildtype counts a sample that deletes no gene, or refuses it.
func (p *sampleParser) wildtype() error {
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
