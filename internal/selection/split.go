package selection

import (
	"cmp"
	"context"
	"encoding/binary"
	"fmt"
	"math"
	"path/filepath"
	"slices"
	"strconv"
	"strings"

	"tcbuild/fault"
	"tcbuild/ingest"
	"tcbuild/store"
)

// By is what a split puts into one part as a whole.
type By string

const (
	BySample   By = "sample"
	ByGenotype By = "genotype" // samples that perturb the same genes
	// ByGene puts genes into parts; Straddling says what becomes of a sample whose genes are not
	// all in one part.
	ByGene By = "gene"
	// ByComponent puts connected components into parts, so that parts share no gene: two genes are
	// connected if a sample perturbs both.
	ByComponent By = "component"
	// Any other is an attribute or phenotype: samples with one value of it.
)

// IsColumn reports whether the units are the values of an attribute or phenotype.
func (b By) IsColumn() bool { return b != BySample && !b.hasGenes() }

// hasGenes reports whether units are told apart by genes, which wild types do not have.
func (b By) hasGenes() bool { return b == ByGenotype || b == ByGene || b == ByComponent }

// Straddling says what becomes of samples whose genes are of several parts.
type Straddling string

const (
	DropStraddling Straddling = "drop" // they are in no part
	// SeparateStraddling puts them into parts of their own, PART_unseenN: PART is the last part of
	// one of their genes, N the number of their genes that no sample of the first part perturbs.
	SeparateStraddling Straddling = "parts"
)

// Wildtypes says where a split by genotype, gene or component puts samples that perturb no gene.
type Wildtypes string

const (
	// SplitWildtypes draws them by the fractions, apart from other samples.
	SplitWildtypes Wildtypes = "split"
	// WholeWildtypes keeps them together: by genotype or component as one more of these, by gene in
	// the first part.
	WholeWildtypes Wildtypes = "whole"
)

// PerturbationCount stands, in SplitOptions.Stratify, for the number of perturbed genes.
const PerturbationCount = "perturbation-count"

// SplitOptions say how a dataset is split.
type SplitOptions struct {
	// of units that are not held out; nil: all are in the part train, if some are held out
	Fractions  []Fraction
	By         By
	Straddling Straddling // "": DropStraddling
	Wildtypes  Wildtypes  // "": SplitWildtypes
	// [PART:]COLUMN=VALUE or [PART:]gene=FILE, several conditions joined by commas
	HoldOut  []string
	Stratify string // a phenotype or attribute, or PerturbationCount; "" for none
	Seed     uint64
	Pin      string // table of samples that have a part already; "" for none
}

// maxStrata is more than an attribute has that is worth stratifying by; a measurement has more.
const maxStrata = 1000

// Split splits the samples of a dataset and writes a selection PART.arrow per part into dir, which
// exists, and one of the samples that have no part, if there are any. It reads the sample table
// three times, by gene or component four times.
func Split(ctx context.Context, dataset *store.Dataset, o SplitOptions,
	dir string) (*SplitReport, error) {
	if o.Fractions == nil && len(o.HoldOut) > 0 {
		o.Fractions = []Fraction{{"train", whole}}
	}
	s := &splitter{SplitOptions: o, dataset: dataset, strata: make(map[string]int),
		wildtypeStrata: make(map[string]int), numbers: make(map[string]int)}
	if o.By == ByGenotype {
		s.numbers = make(map[string]int, dataset.Manifest.Samples)
	}
	if err := s.prepare(); err != nil {
		return nil, err
	}
	if o.By == ByComponent {
		if err := s.findComponents(ctx); err != nil {
			return nil, err
		}
	}
	err := s.eachSample(ctx, s.add)
	if err == nil {
		err = cmp.Or(s.pins.unknown(dataset.Dir), s.checkHeldOut())
	}
	if err != nil {
		return nil, err
	}
	if o.By == ByComponent {
		assignLargestFirst(s.units, o.Fractions, o.Seed)
	} else {
		assign(s.units, max(len(s.strata), 1), o.Fractions, o.Seed)
	}
	assign(s.wildtypes, max(len(s.wildtypeStrata), 1), o.Fractions, o.Seed)
	if o.By == ByGene {
		if err := s.findSeen(ctx); err != nil {
			return nil, err
		}
	}
	p, err := s.place(ctx)
	if err != nil {
		return nil, err
	}
	report, err := p.report(ctx)
	if err != nil {
		return nil, err
	}
	for _, part := range p.slots {
		if len(part.samples) == 0 {
			continue
		}
		if err := write(filepath.Join(dir, part.Name+".arrow"), dataset.Manifest, part.samples,
			s.rules(part.Name)...); err != nil {
			return nil, err
		}
	}
	return report, nil
}

// eachSample reads the samples with every gene that they perturb, not only the deleted ones: a gene
// overexpressed in train would leak what its deletion does in test.
func (s *splitter) eachSample(ctx context.Context,
	see func(number int, row *ingest.Sample) error) error {
	kinds := s.dataset.Manifest.Kinds
	if kinds == nil {
		return eachSample(ctx, s.dataset, see)
	}
	genes, err := s.dataset.Names()
	if err != nil {
		return err
	}
	at := slices.Index(s.dataset.Manifest.Columns().AttributeNames(), kinds.Attribute)
	return eachSample(ctx, s.dataset, func(number int, row *ingest.Sample) error {
		perturbed := *row
		perturbed.Genes = slices.Clone(row.Genes)
		for name := range ingest.KeptGenes(row.Attributes[at].Text, len(row.Genes)) {
			gene, known := genes.Nodes().IndexBytes(name)
			if !known {
				return fault.New(fault.Input, "build it again",
					"read dataset %s: sample %d perturbs %s, which is not a gene of its graph",
					s.dataset.Dir, number, fault.Quote(name))
			}
			perturbed.Genes = append(perturbed.Genes, gene)
		}
		slices.Sort(perturbed.Genes)
		return see(number, &perturbed)
	})
}

func (s *splitter) prepare() (err error) {
	for _, f := range s.Fractions {
		s.parts = append(s.parts, f.Part)
	}
	switch s.Straddling {
	case "", DropStraddling:
	case SeparateStraddling:
		if s.By != ByGene {
			return fault.New(fault.Usage, "omit --straddling, or split by gene",
				"read --straddling: found %s with --by %s, where no sample straddles parts",
				s.Straddling, s.By)
		}
	default:
		return fault.New(fault.Usage, "use parts or drop",
			"read --straddling: found %q, expected parts or drop", s.Straddling)
	}
	switch s.Wildtypes {
	case "", SplitWildtypes:
	case WholeWildtypes:
		if !s.By.hasGenes() {
			return fault.New(fault.Usage,
				"omit --wildtypes, or split by genotype, gene or component",
				"read --wildtypes: found %s with --by %s, which treats wild types like all samples",
				s.Wildtypes, s.By)
		}
	default:
		return fault.New(fault.Usage, "use split or whole",
			"read --wildtypes: found %q, expected split or whole", s.Wildtypes)
	}
	if s.By.IsColumn() {
		others := []string{string(BySample), string(ByGenotype), string(ByGene),
			string(ByComponent)}
		if s.unitKey, _, err = s.columnKey(string(s.By), "--by", others...); err != nil {
			return err
		}
	}
	if s.By == ByComponent && len(s.HoldOut) > 0 {
		return fault.New(fault.Usage, "omit --hold-out, or split by gene",
			"read --hold-out: found %s with --by component, whose parts share no gene",
			fault.Quote(s.HoldOut[0]))
	}
	if s.stratum, err = s.stratumOf(); err != nil {
		return err
	}
	if s.pins, err = readPins(s.Pin, s.Fractions); err != nil {
		return err
	}
	return s.readHoldOuts()
}

// splitter carries what one pass over the samples found.
type splitter struct {
	SplitOptions
	dataset *store.Dataset
	pins    *pins
	stratum func(*ingest.Sample) string // nil: one for all
	// numbers of strata, in the order in which they first appear
	strata  map[string]int
	parts   []string // of fractions, then of samples that are only held out
	held    []*holdOut
	unitKey func(*ingest.Sample) string // by column
	units   []unit
	unitOf  []int           // of a sample, or -1 less the part that holds it out; empty by gene
	numbers map[string]int  // units, by their genes or value
	key     []byte          // memory of a genotype's key
	genes   []int           // units, by gene number; none for genes that no sample perturbs
	seen    map[uint32]bool // by gene: those that a sample of the first part perturbs

	components components // by component

	wildtypes      []unit // drawn apart, in the order of their samples
	wildtypeStrata map[string]int
}

// stratumOf is what samples are stratified by.
func (s *splitter) stratumOf() (func(*ingest.Sample) string, error) {
	switch {
	case s.Stratify == "":
		return nil, nil
	case s.By == ByGene || s.By == ByComponent:
		return nil, fault.New(fault.Usage, "omit --stratify, or split by genotype",
			"read --stratify: found %s with --by %s, which cannot be stratified",
			fault.Quote(s.Stratify), s.By)
	case s.Stratify == PerturbationCount:
		return func(row *ingest.Sample) string { return strconv.Itoa(len(row.Genes)) }, nil
	}
	key, _, err := s.columnKey(s.Stratify, "--stratify", PerturbationCount)
	return key, err
}

// numberKey is a text that equal numbers share.
func numberKey(value float64) string {
	if math.IsNaN(value) {
		return "missing"
	}
	return strconv.FormatFloat(value+0, 'g', -1, 64) // 0 for -0
}

func (s *splitter) add(number int, row *ingest.Sample) error {
	pin, err := s.pins.pinOf(number, row.ID)
	if err != nil {
		return err
	}
	held, err := s.heldOut(number, row)
	switch {
	case err != nil:
		return err
	case held != none && pin != nil && pin.part != held:
		return fault.New(fault.Usage, "pin it in that part, or leave it out",
			"read pins %s: found part %s for sample %s, but --hold-out puts it into %s", pin.where,
			s.parts[pin.part], fault.Quote(row.ID), s.parts[held])
	case held != none && s.By != ByGene:
		s.unitOf = append(s.unitOf, -1-held)
		return nil
	case held != none:
		return nil
	case s.drawsWildtype(row):
		return s.addWildtype(number, row, pin)
	case s.By == ByGene:
		return s.addGenes(row, pin)
	}
	stratum, err := s.stratumIn(s.strata, row)
	if err != nil {
		return err
	}
	at, known := len(s.units), false
	if s.By != BySample {
		s.key = s.appendKey(s.key[:0], row)
		if at, known = s.numbers[string(s.key)]; !known {
			at = len(s.units)
			s.numbers[string(s.key)] = at
		}
	}
	if !known {
		s.units = append(s.units, unit{number: at, stratum: stratum, part: none})
	}
	s.unitOf = append(s.unitOf, at)
	s.units[at].samples++
	if s.units[at].stratum != stratum {
		return fault.New(fault.Usage, "split by sample, or stratify by "+PerturbationCount,
			"read --stratify: samples %d and %d have one %s and differ in %s",
			slices.Index(s.unitOf, at), number, s.By, fault.Quote(s.Stratify))
	}
	return s.pinUnit(at, pin, "a sample of its "+string(s.By))
}

// appendKey appends what samples of one unit share.
func (s *splitter) appendKey(key []byte, row *ingest.Sample) []byte {
	switch {
	case s.unitKey != nil:
		return append(key, s.unitKey(row)...)
	case s.By == ByComponent && len(row.Genes) > 0:
		return genotypeKey(key, []uint32{s.components.root(row.Genes[0])})
	}
	return genotypeKey(key, row.Genes)
}

// stratumIn numbers a sample's stratum by its first appearance.
func (s *splitter) stratumIn(strata map[string]int, row *ingest.Sample) (stratum int, err error) {
	if s.stratum == nil {
		return 0, nil
	}
	key := s.stratum(row)
	stratum, known := strata[key]
	if !known {
		stratum = len(strata)
		strata[key] = stratum
	}
	if len(strata) > maxStrata {
		return 0, fault.New(fault.Usage, "name an attribute with few values",
			"read --stratify: %s has more than %d values", fault.Quote(s.Stratify), maxStrata)
	}
	return stratum, nil
}

// drawsWildtype reports whether a sample is a wild type that is drawn apart. Splits by sample or
// column treat wild types like all samples.
func (s *splitter) drawsWildtype(row *ingest.Sample) bool {
	return s.By.hasGenes() && s.Wildtypes != WholeWildtypes && len(row.Genes) == 0
}

// addWildtype makes a wild type a unit of its own.
func (s *splitter) addWildtype(number int, row *ingest.Sample, pin *pin) error {
	stratum, err := s.stratumIn(s.wildtypeStrata, row)
	if err != nil {
		return err
	}
	if s.By != ByGene {
		s.unitOf = append(s.unitOf, len(s.wildtypes))
	}
	u := unit{number: number, stratum: stratum, part: none}
	if pin != nil {
		u.part = pin.part
	}
	s.wildtypes = append(s.wildtypes, u)
	return nil
}

// addGenes makes units of the genes of a sample.
func (s *splitter) addGenes(row *ingest.Sample, pin *pin) error {
	if pin != nil && pin.part != 0 && len(row.Genes) == 0 {
		return fault.New(fault.Input, "leave it out, or omit --wildtypes",
			"read pins %s: found part %s for sample %s, "+
				"but --wildtypes whole puts wild types into %s",
			pin.where, s.parts[pin.part], fault.Quote(row.ID), s.parts[0])
	}
	for _, gene := range row.Genes {
		for len(s.genes) <= int(gene) {
			s.genes = append(s.genes, none)
		}
		if s.genes[gene] == none {
			s.genes[gene] = len(s.units)
			part, held := s.heldGene(gene)
			s.units = append(s.units, unit{number: int(gene), part: part, held: held})
		}
		u := s.units[s.genes[gene]]
		if u.held && pin != nil && pin.part != u.part {
			return fault.New(fault.Usage, "pin it in that part, or leave it out",
				"read pins %s: found part %s for sample %s, "+
					"but --hold-out puts one of its genes into %s",
				pin.where, s.parts[pin.part], fault.Quote(row.ID), s.parts[u.part])
		}
		if err := s.pinUnit(s.genes[gene], pin,
			"a sample that perturbs one of its genes"); err != nil {
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

// heldGene is the part in which a gene is held out, or none.
func (s *splitter) heldGene(gene uint32) (part int, held bool) {
	for _, rule := range s.held {
		if rule.ofUnits(s.By) && rule.genes[gene] {
			return rule.part, true
		}
	}
	return none, false
}

func (s *splitter) rules(part string) []rule {
	rules := []rule{{"rule", "split"}, {"part", part}, {"fractions", FormatFractions(s.Fractions)},
		{"by", string(s.By)}}
	if s.Stratify != "" {
		rules = append(rules, rule{"stratify", s.Stratify})
	}
	if s.Pin != "" {
		rules = append(rules, rule{"pin", s.pins.digest})
	}
	if s.Straddling == SeparateStraddling {
		rules = append(rules, rule{"straddling", string(s.Straddling)})
	}
	if s.Wildtypes == WholeWildtypes {
		rules = append(rules, rule{"wildtypes", string(s.Wildtypes)})
	}
	if len(s.held) > 0 {
		var texts []string
		for _, held := range s.held {
			texts = append(texts, held.text)
		}
		rules = append(rules, rule{"hold_out", strings.Join(texts, "\n")})
	}
	return append(rules, rule{"seed", fmt.Sprint(s.Seed)}, rule{"random", "splitmix64"})
}
