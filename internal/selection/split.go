package selection

import (
	"context"
	"encoding/binary"
	"fmt"
	"math"
	"path/filepath"
	"slices"
	"strconv"

	"tcbuild/fault"
	"tcbuild/ingest"
	"tcbuild/store"
)

// By is what a split puts into one part as a whole.
type By string

const (
	BySample   By = "sample"
	ByGenotype By = "genotype" // samples that delete the same genes
	// ByGene puts genes into parts; a sample whose genes are not all in one part is in none.
	ByGene By = "gene"
)

// PerturbationCount stands, in SplitOptions.Stratify, for the number of deleted genes.
const PerturbationCount = "perturbation-count"

// SplitOptions say how a dataset is split.
type SplitOptions struct {
	Fractions []Fraction // of samples, genotypes or genes
	By        By
	Stratify  string // a phenotype or attribute, or PerturbationCount; "" for none
	Seed      uint64
	Pin       string // table of samples that have a part already; "" for none
}

// Part is what a part of a split got.
type Part struct {
	Name    string
	Samples int
	Units   int // genotypes or genes
}

// SplitReport counts what a split did: the samples of a dataset are those of the parts and
// unplaced.
type SplitReport struct {
	Parts    []Part
	Unplaced int
}

// maxStrata is more than an attribute has that is worth stratifying by; a measurement has more.
const maxStrata = 1000

// Split splits the samples of a dataset and writes a selection PART.arrow per part into dir, which
// exists, and one of the samples that have no part, if there are any. It reads the sample table
// once, by gene twice.
func Split(ctx context.Context, dataset *store.Dataset, o SplitOptions, dir string) (*SplitReport, error) {
	s := &splitter{SplitOptions: o, dataset: dataset, strata: make(map[string]int), genotypes: make(map[string]int)}
	if o.By == ByGenotype {
		s.genotypes = make(map[string]int, dataset.Manifest.Samples)
	}
	var err error
	if s.stratum, err = s.stratumOf(); err != nil {
		return nil, err
	}
	if s.pins, err = readPins(o.Pin, o.Fractions); err != nil {
		return nil, err
	}
	if err = eachSample(ctx, dataset, s.add); err == nil {
		err = s.pins.unknown(dataset.Dir)
	}
	if err != nil {
		return nil, err
	}
	assign(s.units, max(len(s.strata), 1), o.Fractions, o.Seed)
	parts := make([][]int64, len(o.Fractions)+1) // the last: unplaced
	place := func(number, part int) {
		if part == none {
			part = len(o.Fractions)
		}
		parts[part] = append(parts[part], int64(number))
	}
	if o.By == ByGene {
		err = eachSample(ctx, dataset, func(number int, row *ingest.Sample) error {
			place(number, s.partOfGenes(row.Genes))
			return nil
		})
	}
	for number, unit := range s.unitOf {
		place(number, s.units[unit].part)
	}
	if err != nil {
		return nil, err
	}
	return s.write(parts, dir)
}

// splitter carries what one pass over the samples found.
type splitter struct {
	SplitOptions
	dataset   *store.Dataset
	pins      *pins
	stratum   func(*ingest.Sample) string // nil: one for all
	strata    map[string]int              // numbers of strata, in the order in which they first appear
	units     []unit
	unitOf    []int          // of a sample; empty by gene
	genotypes map[string]int // units, by their genes
	key       []byte         // memory of a genotype's key
	genes     []int          // units, by the number of the gene; none for genes that no sample deletes
}

// stratumOf is what samples are stratified by.
func (s *splitter) stratumOf() (func(*ingest.Sample) string, error) {
	columns := s.dataset.Manifest.Columns()
	switch {
	case s.Stratify == "":
		return nil, nil
	case s.By == ByGene:
		return nil, fault.New(fault.Usage, "omit --stratify, or split by genotype",
			"read --stratify: found %s with --by gene, expected none: genes have no strata", fault.Quote(s.Stratify))
	case s.Stratify == PerturbationCount:
		return func(row *ingest.Sample) string { return strconv.Itoa(len(row.Genes)) }, nil
	}
	if k := slices.Index(columns.PhenotypeNames(), s.Stratify); k >= 0 {
		return func(row *ingest.Sample) string { return numberKey(row.Phenotypes[k]) }, nil
	}
	if k := slices.Index(columns.AttributeNames(), s.Stratify); k >= 0 {
		if columns.Attributes[k].Type == ingest.NumberAttribute {
			return func(row *ingest.Sample) string { return numberKey(row.Attributes[k].Number) }, nil
		}
		return func(row *ingest.Sample) string {
			if text := row.Attributes[k].Text; text != nil {
				return "text " + string(text)
			}
			return "missing"
		}, nil
	}
	known := slices.Concat(columns.AttributeNames(), columns.PhenotypeNames(), []string{PerturbationCount})
	hint := fault.DidYouMean(s.Stratify, known, "name an attribute with few values")
	return nil, fault.New(fault.Usage, hint,
		"read --stratify: found %s, expected one of %s", fault.Quote(s.Stratify), fault.List(known))
}

// numberKey is a text that equal numbers share.
func numberKey(value float64) string {
	if math.IsNaN(value) {
		return "missing"
	}
	return strconv.FormatFloat(value+0, 'g', -1, 64) // 0 for -0
}

// add takes in the next sample.
func (s *splitter) add(number int, row *ingest.Sample) error {
	pin, err := s.pins.of(number, row.ID)
	if err != nil {
		return err
	}
	if s.By == ByGene {
		return s.addGenes(row, pin)
	}
	stratum := 0
	if s.stratum != nil {
		key := s.stratum(row)
		known := false
		if stratum, known = s.strata[key]; !known {
			stratum = len(s.strata)
			s.strata[key] = stratum
		}
		if len(s.strata) > maxStrata {
			return fault.New(fault.Usage, "name an attribute with few values",
				"read --stratify: %s has more than %d values", fault.Quote(s.Stratify), maxStrata)
		}
	}
	at, known := len(s.units), false
	if s.By == ByGenotype {
		s.key = genotypeKey(s.key[:0], row.Genes)
		if at, known = s.genotypes[string(s.key)]; !known {
			at = len(s.units)
			s.genotypes[string(s.key)] = at
		}
	}
	if !known {
		s.units = append(s.units, unit{number: at, stratum: stratum, part: none})
	}
	s.unitOf = append(s.unitOf, at)
	if s.units[at].stratum != stratum {
		return fault.New(fault.Usage, "split by sample, or stratify by "+PerturbationCount,
			"read --stratify: samples %d and %d have one genotype and differ in %s", slices.Index(s.unitOf, at), number, fault.Quote(s.Stratify))
	}
	return s.pinUnit(at, pin, "a sample of its genotype")
}

// addGenes makes units of the genes of a sample.
func (s *splitter) addGenes(row *ingest.Sample, pin *pin) error {
	if pin != nil && len(row.Genes) == 0 {
		return fault.New(fault.Input, "leave it out, or split by sample",
			"read pins %s: found sample %s, which deletes no gene, and so is in no part of a split by gene",
			pin.where, fault.Quote(row.ID))
	}
	for _, gene := range row.Genes {
		for len(s.genes) <= int(gene) {
			s.genes = append(s.genes, none)
		}
		if s.genes[gene] == none {
			s.genes[gene] = len(s.units)
			s.units = append(s.units, unit{number: int(gene), part: none})
		}
		if err := s.pinUnit(s.genes[gene], pin, "a sample that deletes one of its genes"); err != nil {
			return err
		}
	}
	return nil
}

// pinUnit fixes a unit in the part of a pin, if there is one.
func (s *splitter) pinUnit(at int, pin *pin, what string) error {
	if pin == nil {
		return nil
	}
	u := &s.units[at]
	if u.part != none && u.part != pin.part {
		return fault.New(fault.Input, "pin them in one part, or split by sample",
			"read pins %s: found part %s, but %s is pinned in %s",
			pin.where, s.Fractions[pin.part].Part, what, s.Fractions[u.part].Part)
	}
	u.part = pin.part
	return nil
}

// genotypeKey appends what genotypes of the same genes share.
func genotypeKey(key []byte, genes []uint32) []byte {
	for _, gene := range genes {
		key = binary.LittleEndian.AppendUint32(key, gene)
	}
	return key
}

// partOfGenes is the part that has all these genes, or none. No genes are in no part.
func (s *splitter) partOfGenes(genes []uint32) int {
	part := none
	for i, gene := range genes {
		found := s.units[s.genes[gene]].part
		if i > 0 && found != part {
			return none
		}
		part = found
	}
	return part
}

// write writes the parts.
func (s *splitter) write(parts [][]int64, dir string) (*SplitReport, error) {
	report := &SplitReport{Unplaced: len(parts[len(s.Fractions)])}
	for k, f := range s.Fractions {
		part := Part{Name: f.Part, Samples: len(parts[k])}
		for i := range s.units {
			if s.units[i].part == k {
				part.Units++
			}
		}
		if part.Samples == 0 {
			return nil, fault.New(fault.Input, "give it a larger fraction, or another seed",
				"split %s: part %s gets none of %d samples (%d of %d %ss), expected at least one",
				s.dataset.Dir, f.Part, s.dataset.Manifest.Samples, part.Units, len(s.units), s.By)
		}
		report.Parts = append(report.Parts, part)
	}
	for k, samples := range parts {
		name := unplaced
		if k < len(s.Fractions) {
			name = s.Fractions[k].Part
		}
		if len(samples) == 0 {
			continue
		}
		if err := write(filepath.Join(dir, name+".arrow"), s.dataset.Manifest, samples, s.rules(name)...); err != nil {
			return nil, err
		}
	}
	return report, nil
}

// rules is the metadata of a part.
func (s *splitter) rules(part string) []rule {
	rules := []rule{{"rule", "split"}, {"part", part}, {"fractions", FormatFractions(s.Fractions)}, {"by", string(s.By)}}
	if s.Stratify != "" {
		rules = append(rules, rule{"stratify", s.Stratify})
	}
	if s.Pin != "" {
		rules = append(rules, rule{"pin", s.pins.digest})
	}
	return append(rules, rule{"seed", fmt.Sprint(s.Seed)}, rule{"random", "splitmix64"})
}
