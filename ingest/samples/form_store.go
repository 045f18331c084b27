package samples

import (
	"bytes"
	"math"
	"slices"
	"strconv"

	"tcbuild/ingest"
	"tcbuild/ingest/samples/torchcell"
)

// storeForm reads records of a torchcell store: each is a sample, named by its number. As in
// torchcell, a perturbation of any type deletes its gene, and a sample deletes the genes of all
// experiments in its record, which usually name the same ones.
type storeForm struct {
	reader    *torchcell.Reader
	genotyper *Genotyper
	layout    *layout
	uses      []use // of the store's columns

	read       *torchcell.Record
	record     Record
	phenotypes []float64
	attributes []ingest.Value
	texts      [][]byte // memory for the attributes that are kinds
}

// use says which phenotype or attribute a column of the store is, if any.
type use struct {
	isPhenotype, isAttribute bool
	number                   int
}

func (p *storeSet) newForm() form[*torchcell.Chunk] {
	f := &storeForm{
		reader: p.contents.NewReader(), genotyper: p.genotyper,
		layout: p.layout, uses: make([]use, len(p.contents.Columns)),
		phenotypes: make([]float64, len(p.layout.phenotypes)),
		attributes: make([]ingest.Value, len(p.layout.attributes)),
		texts:      make([][]byte, len(p.layout.attributes)),
	}
	for k, column := range p.layout.phenotypes {
		f.uses[column] = use{isPhenotype: true, number: k}
	}
	for k, from := range p.layout.attributes {
		if from.origin == fromColumn {
			f.uses[from.column] = use{isAttribute: true, number: k}
		}
	}
	return f
}

func (f *storeForm) strict() bool { return false }

func (f *storeForm) Record(chunk *torchcell.Chunk, i int) (*Record, error) {
	var err error
	if f.read, err = f.reader.Record(chunk, i); err != nil {
		return nil, err
	}
	r := &f.record
	r.Row, r.Mentions = int64(f.read.Number), r.Mentions[:0]
	r.ID = strconv.AppendInt(r.ID[:0], r.Row, 10)
	for experiment := range f.read.Experiments {
		perturbations := f.read.Experiments[experiment].Perturbations
		repeated := experiment > 0 &&
			slices.EqualFunc(perturbations, f.read.Experiments[0].Perturbations, sameGene)
		for _, p := range perturbations {
			r.Mentions = append(r.Mentions, Mention{
				Text: p.Gene, Answer: f.genotyper.names.Find(p.Gene), Kind: p.Type,
				Experiment: experiment, Repeated: repeated,
			})
		}
	}
	return r, nil
}

func sameGene(a, b torchcell.Perturbation) bool { return bytes.Equal(a.Gene, b.Gene) }

// Values reads the values of a record. An infinite one is not a measurement: it counts as missing.
func (f *storeForm) Values(_ *torchcell.Chunk, _ int, r *Record, genotype *Genotype) error {
	r.Trimmed, r.Infinite = 0, 0
	for k := range f.phenotypes {
		f.phenotypes[k] = math.NaN()
	}
	for k, from := range f.layout.attributes {
		f.attributes[k] = ingest.Value{Number: math.NaN()}
		switch from.origin {
		case fromKinds:
			f.setKinds(k, genotype, r.Mentions)
		}
	}
	for experiment := range f.read.Experiments {
		e := &f.read.Experiments[experiment]
		for k := range e.Values {
			v := &e.Values[k]
			if column, ok := f.reader.Column(e, v); ok && !v.IsMissing() {
				f.set(column, experiment, v, genotype)
			}
		}
	}
	r.Phenotypes, r.Attributes = f.phenotypes, f.attributes
	return nil
}

// set sets what a column has, if the samples have it.
func (f *storeForm) set(column, experiment int, v *torchcell.Value, genotype *Genotype) {
	use, number := f.uses[column], v.Number
	if isUsed := use.isPhenotype || use.isAttribute; isUsed && math.IsInf(number, 0) {
		f.record.Infinite++
		number = math.NaN()
	}
	switch {
	case use.isPhenotype:
		f.phenotypes[use.number] = number
	case use.isAttribute && v.Types:
		f.setKinds(use.number, genotype, f.record.mentionsOf(experiment))
	case use.isAttribute:
		text, trimmed := ingest.TrimText(v.Text)
		f.record.Trimmed += trimmed
		f.attributes[use.number] = ingest.Value{Text: text, Number: number}
	}
}

// setKinds makes an attribute the kinds of perturbations, of those that delete genes in some
// mentions.
func (f *storeForm) setKinds(attribute int, genotype *Genotype, deleting []Mention) {
	value := f.genotyper.kindsText(f.texts[attribute][:0], &f.record, deleting, genotype)
	f.attributes[attribute].Text = value.Text
	if value.Text != nil {
		f.texts[attribute] = value.Text
	}
}
