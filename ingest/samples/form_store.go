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
	contents  *torchcell.Contents
	reader    *torchcell.Reader
	genotyper *Genotyper
	// by column: the phenotype or attribute that it is, or none
	phenotypeOf, attributeOf []int
	kindsAt                  int // the attribute with the kinds of a whole record, or none
	rowAt                    int // the attribute that is ingest.RowAttribute, or none

	read       *torchcell.Record
	record     Record
	phenotypes []float64
	attributes []ingest.Value
	texts      [][]byte // memory for the attributes that are kinds
}

// none stands for a column that a store's samples lack.
const none = -1

func (p *storeSet) newForm() form[*torchcell.Chunk] {
	layout, columns := &p.layout, len(p.contents.Columns)
	f := &storeForm{
		contents: p.contents, reader: p.contents.NewReader(), genotyper: p.genotyper, kindsAt: none,
		phenotypeOf: slices.Repeat([]int{none}, columns),
		attributeOf: slices.Repeat([]int{none}, columns),
		phenotypes:  make([]float64, len(layout.phenotypes)),
		attributes:  make([]ingest.Value, len(layout.attributes)),
		texts:       make([][]byte, len(layout.attributes)),
		rowAt:       slices.Index(layout.attributes, rowColumn),
	}
	if len(layout.attributes) > 0 {
		f.kindsAt = layout.kindsAt
	}
	for k, column := range layout.phenotypes {
		f.phenotypeOf[column] = k
	}
	for k, column := range layout.attributes {
		if column >= 0 {
			f.attributeOf[column] = k
		}
	}
	return f
}

func (f *storeForm) strict() bool { return false }

func (f *storeForm) Records(chunk *torchcell.Chunk, i int, yield func(*Record) error) error {
	var err error
	if f.read, err = f.reader.Record(chunk, i); err != nil {
		return err
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
	return yield(r)
}

func sameGene(a, b torchcell.Perturbation) bool { return bytes.Equal(a.Gene, b.Gene) }

// Values reads the values of a record. An infinite one is not a measurement: it counts as missing.
func (f *storeForm) Values(_ *torchcell.Chunk, _ int, r *Record, genotype *Genotype) error {
	r.Trimmed, r.Infinite = 0, 0
	for k := range f.phenotypes {
		f.phenotypes[k] = math.NaN()
	}
	for k := range f.attributes {
		f.attributes[k] = ingest.Value{Number: math.NaN()}
	}
	if f.kindsAt >= 0 {
		f.setKinds(f.kindsAt, genotype, f.record.Mentions)
	}
	for experiment := range f.read.Experiments {
		e := &f.read.Experiments[experiment]
		for k := range e.Values {
			v := &e.Values[k]
			if column, ok := f.contents.Column(e, v); ok && !v.IsMissing() {
				f.set(column, experiment, v, genotype)
			}
		}
	}
	if f.rowAt >= 0 {
		f.attributes[f.rowAt].Number = float64(r.Row)
	}
	r.Phenotypes, r.Attributes = f.phenotypes, f.attributes
	return nil
}

// set sets what a column has, if the samples have it.
func (f *storeForm) set(column, experiment int, v *torchcell.Value, genotype *Genotype) {
	phenotype, attribute := f.phenotypeOf[column], f.attributeOf[column]
	number := v.Number
	if isUsed := phenotype >= 0 || attribute >= 0; isUsed && math.IsInf(number, 0) {
		f.record.Infinite++
		number = math.NaN()
	}
	switch {
	case phenotype >= 0:
		f.phenotypes[phenotype] = number
	case attribute >= 0 && v.Types:
		f.setKinds(attribute, genotype, f.record.of(experiment))
	case attribute >= 0:
		text, trimmed := ingest.TrimText(v.Text)
		f.record.Trimmed += trimmed
		f.attributes[attribute] = ingest.Value{Text: text, Number: number}
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
