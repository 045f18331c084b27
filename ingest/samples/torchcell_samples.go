package samples

import (
	"bytes"
	"math"
	"slices"

	"tcbuild/ingest"
	"tcbuild/ingest/samples/torchcell"
)

// recordParser turns records of a torchcell store into samples.
type recordParser struct {
	genotype   genotypeParser
	phenotypes []float64
	attributes []ingest.Value
	texts      [][]byte // memory for the attributes made here
	found      []uint32 // memory for the genes of perturbations
	// by column: the phenotype or attribute that it is, or -1
	phenotypeOf, attributeOf []int
	kindsAt                  int // the attribute with the kinds of a whole record, or -1
	row                      int // the attribute that is ingest.RowAttribute, or -1
	account                  *ingest.Account
	kept                     []byte // of genes that are perturbed and not deleted (ingest.KindsAttribute)
}

func newRecordParser(p *storePerturbations, account *ingest.Account) *recordParser {
	columns := len(p.contents.Columns)
	parser := &recordParser{
		genotype:    p.genotypeParser(account),
		phenotypes:  make([]float64, len(p.layout.phenotypes)),
		attributes:  make([]ingest.Value, len(p.layout.attributes)),
		texts:       make([][]byte, len(p.layout.attributes)),
		phenotypeOf: slices.Repeat([]int{-1}, columns), attributeOf: slices.Repeat([]int{-1}, columns),
		account: account,
	}
	parser.genotype.merges = true // it has a kind for each perturbation of a gene
	for k, column := range p.layout.phenotypes {
		parser.phenotypeOf[column] = k
	}
	parser.row = slices.Index(p.layout.attributes, rowColumn)
	parser.kindsAt = -1
	if len(p.layout.attributes) > 0 {
		parser.kindsAt = p.layout.kindsAt
	}
	for k, column := range p.layout.attributes {
		if column >= 0 {
			parser.attributeOf[column] = k
		}
	}
	return parser
}

// parse reads a record into phenotypes and attributes. Its experiments usually name the same genes,
// which then count once. An infinite value is not a measurement: it counts as missing.
func (p *recordParser) parse(r *torchcell.Row) (genotype []uint32, keep bool, err error) {
	p.genotype.begin()
	for i, perturbations := range r.Genotypes {
		if i > 0 && slices.EqualFunc(perturbations, r.Genotypes[0], sameGene) {
			continue
		}
		p.genotype.others() // experiments may name a gene differently
		for _, perturbation := range perturbations {
			if err := p.genotype.add(perturbation.Gene); err != nil {
				return nil, false, err
			}
		}
	}
	if genotype, keep, err = p.genotype.end(); err != nil || !keep {
		return nil, false, err
	}
	if p.kept = p.kept[:0]; p.genotype.options.RemovingKinds != nil && len(genotype) > 0 {
		genotype = p.keep(genotype, func(gene uint32) []byte { return p.kindsOf(gene, r.Genotypes) })
		if len(genotype) == 0 {
			p.account.Add(ingest.Wildtype, "", 1)
		}
	}
	for k := range p.phenotypes {
		p.phenotypes[k] = math.NaN()
	}
	for k := range p.attributes {
		p.attributes[k] = ingest.Value{Number: math.NaN()}
	}
	if p.kindsAt >= 0 {
		p.attributes[p.kindsAt].Text = p.types(p.kindsAt, genotype, slices.Concat(r.Genotypes...))
	}
	for _, cell := range r.Cells {
		phenotype, attribute := p.phenotypeOf[cell.Column], p.attributeOf[cell.Column]
		number := cell.Number
		if math.IsInf(number, 0) && (phenotype >= 0 || attribute >= 0) {
			p.account.Add(ingest.InfiniteValue, "", 1)
			number = math.NaN()
		}
		switch {
		case phenotype >= 0:
			p.phenotypes[phenotype] = number
		case attribute >= 0 && cell.PerturbationsOf >= 0:
			p.attributes[attribute].Text = p.types(attribute, genotype, r.Genotypes[cell.PerturbationsOf])
		case attribute >= 0:
			text, trimmed := ingest.TrimText(cell.Text)
			p.account.Add(ingest.TrimmedText, "", trimmed)
			p.attributes[attribute] = ingest.Value{Text: text, Number: number}
		}
	}
	if p.row >= 0 {
		p.attributes[p.row].Number = float64(r.Number)
	}
	return genotype, true, nil
}

func sameGene(a, b torchcell.Perturbation) bool { return bytes.Equal(a.Gene, b.Gene) }

// types joins the types of the perturbations of each gene of a genotype: those of one gene by +,
// as torchcell joins names, those of all genes by |. Genes that are perturbed and not deleted
// follow. It is missing if there are no genes.
func (p *recordParser) types(attribute int, genotype []uint32, perturbations []torchcell.Perturbation) []byte {
	p.find(perturbations)
	text := p.texts[attribute][:0]
	for k, gene := range genotype {
		if k > 0 {
			text = append(text, '|')
		}
		text = p.appendTypes(text, gene, perturbations)
	}
	if len(p.kept) > 0 && len(genotype) > 0 {
		text = append(text, '|')
	}
	text = append(text, p.kept...)
	p.texts[attribute] = text
	if len(genotype) == 0 && len(p.kept) == 0 {
		return nil
	}
	return text
}

// find finds the genes of perturbations whose type is said.
func (p *recordParser) find(perturbations []torchcell.Perturbation) {
	p.found = p.found[:0]
	for _, perturbation := range perturbations {
		index, known := p.genotype.find(perturbation.Gene)
		if !known || perturbation.Type == nil {
			index = math.MaxUint32 // of no gene
		}
		p.found = append(p.found, index)
	}
}

// appendTypes appends the types of the perturbations of a gene, among those that were found.
func (p *recordParser) appendTypes(text []byte, gene uint32, perturbations []torchcell.Perturbation) []byte {
	start := len(text)
	for i, index := range p.found {
		if index != gene || p.repeats(perturbations, i) {
			continue
		}
		if len(text) > start {
			text = append(text, '+')
		}
		text = append(text, perturbations[i].Type...)
	}
	return text
}

// kindsOf are the types of all perturbations of a gene in a record.
func (p *recordParser) kindsOf(gene uint32, genotypes [][]torchcell.Perturbation) []byte {
	all := slices.Concat(genotypes...)
	p.find(all)
	return p.appendTypes(nil, gene, all)
}

// repeats reports whether a perturbation before i is of the same gene and type.
func (p *recordParser) repeats(perturbations []torchcell.Perturbation, i int) bool {
	for k, index := range p.found[:i] {
		if index == p.found[i] && bytes.Equal(perturbations[k].Type, perturbations[i].Type) {
			return true
		}
	}
	return false
}
