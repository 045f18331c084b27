package ingest

import (
	"bytes"
	"errors"
	"math"
	"strconv"
	"unicode/utf8"

	"tcbuild/fault"
	"tcbuild/ingest/table"
)

// sampleParser turns the rows of a table into samples. It allocates nothing per row.
type sampleParser struct {
	*tablePerturbations
	genotype  genotypeParser
	delimiter []byte
	ids       *SampleIDs // nil if they are not checked

	// Of the current row:
	id         []byte
	phenotypes []float64
}

func newSampleParser(p *tablePerturbations, counts *Counts) *sampleParser {
	return &sampleParser{
		tablePerturbations: p, genotype: genotypeParser{genes: p.genes, options: p.options, counts: counts},
		delimiter: []byte(p.options.GeneDelimiter), phenotypes: make([]float64, len(p.layout.phenotypes)),
	}
}

var errInfinite = errors.New("found an infinite value, expected a finite number or a missing one")

// parse appends row i of a batch to samples, unless it is dropped because of unknown genes. Its
// errors do not name the row.
func (p *sampleParser) parse(b *table.Batch, i int, samples *Samples) (kept bool, err error) {
	genotype, keep, err := p.parseGenotype(b, i)
	if err != nil {
		return false, err
	}
	for k, column := range p.layout.phenotypes {
		value, _, err := b.Number(column, i)
		if err == nil && math.IsInf(value, 0) {
			err = errInfinite
		}
		if err != nil {
			return false, fault.New(fault.Input, leaveOutHint(p.layout.phenotypeNames[k]), "phenotype %s: %w", fault.Quote(p.layout.phenotypeNames[k]), err)
		}
		p.phenotypes[k] = value
	}
	if err := p.parseID(b, i); err != nil || !keep {
		return false, err
	}
	samples.Append(p.id, genotype, p.phenotypes)
	return true, nil
}

// parseID finds a row's sample id. Without a column of ids it is the row's number in the table,
// whichever rows are dropped.
func (p *sampleParser) parseID(b *table.Batch, i int) error {
	row := b.First + int64(i)
	if p.layout.id < 0 {
		p.id = strconv.AppendInt(p.id[:0], row, 10)
		return nil
	}
	p.id = append(p.id[:0], b.Text(p.layout.id, i)...)
	if !utf8.Valid(p.id) {
		return fault.New(fault.Input, "save the file as UTF-8 text", "sample id %s is not valid UTF-8", fault.Quote(p.id))
	}
	return p.ids.Add(p.id, row)
}

// parseGenotype returns the genotype and whether to keep the sample, as genotypeParser.end does.
func (p *sampleParser) parseGenotype(b *table.Batch, i int) (genotype []uint32, keep bool, err error) {
	p.genotype.begin()
	switch {
	case p.layout.list:
		for _, name := range b.List(p.layout.genes[0], i) {
			if err == nil {
				err = p.genotype.add(name)
			}
		}
	case len(p.layout.genes) == 1:
		rest := b.Text(p.layout.genes[0], i)
		for more := len(rest) > 0; more && err == nil; {
			var name []byte
			name, rest, more = bytes.Cut(rest, p.delimiter)
			err = p.genotype.add(name)
		}
	default:
		for _, column := range p.layout.genes {
			if name := b.Text(column, i); len(name) > 0 && err == nil {
				err = p.genotype.add(name)
			}
		}
	}
	if err != nil {
		return nil, false, err
	}
	return p.genotype.end()
}
