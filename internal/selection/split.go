package selection

import (
	"cmp"
	"context"
	"fmt"
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

// Split splits the samples of a dataset and writes a selection PART.arrow per part into dir, which
// exists, and one of the samples that have no part, if there are any. It reads the sample table
// three times, by gene or component four times.
func Split(ctx context.Context, dataset *store.Dataset, o SplitOptions,
	dir string) (*SplitReport, error) {
	s, err := newSplitter(dataset, o)
	if err != nil {
		return nil, err
	}
	if s.By == ByComponent {
		if err := s.findComponents(ctx); err != nil {
			return nil, err
		}
	}
	if err := s.eachSample(ctx, s.add); err != nil {
		return nil, err
	}
	if err := cmp.Or(s.pins.unknown(dataset.Dir), s.checkHeldOut()); err != nil {
		return nil, err
	}
	if s.By == ByComponent {
		assignLargestFirst(s.drawn.units, s.Fractions)
	} else {
		assign(s.drawn.units, s.Fractions)
	}
	assign(s.wildtypes.units, s.Fractions)
	if s.By == ByGene {
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

// newSplitter checks the options, and reads the files that they name.
func newSplitter(dataset *store.Dataset, o SplitOptions) (s *splitter, err error) {
	if o.Fractions == nil && len(o.HoldOut) > 0 {
		o.Fractions = []Fraction{{"train", whole}}
	}
	s = &splitter{SplitOptions: o, dataset: dataset, known: make(map[string]*unit)}
	s.drawn.strata, s.wildtypes.strata = make(map[string]int), make(map[string]int)
	for _, f := range o.Fractions {
		s.parts = append(s.parts, f.Part)
	}
	if err := o.check(); err != nil {
		return nil, err
	}
	if s.By.IsColumn() {
		others := []string{string(BySample), string(ByGenotype), string(ByGene),
			string(ByComponent)}
		if s.unitKey, _, err = s.columnKey(string(s.By), "--by", others...); err != nil {
			return nil, err
		}
	}
	if s.stratum, err = s.stratumKey(); err != nil {
		return nil, err
	}
	if s.pins, err = readPins(s.Pin, s.Fractions); err != nil {
		return nil, err
	}
	return s, s.readHoldOuts()
}

// check returns an error for options that mean nothing beside By.
func (o *SplitOptions) check() error {
	switch {
	case o.Straddling == SeparateStraddling && o.By != ByGene:
		return fault.New(fault.Usage, "omit --straddling, or split by gene",
			"read --straddling: found %s with --by %s, where no sample straddles parts",
			o.Straddling, o.By)
	case o.Wildtypes == WholeWildtypes && !o.By.hasGenes():
		return fault.New(fault.Usage, "omit --wildtypes, or split by genotype, gene or component",
			"read --wildtypes: found %s with --by %s, which treats wild types like all samples",
			o.Wildtypes, o.By)
	case o.By == ByComponent && len(o.HoldOut) > 0:
		return fault.New(fault.Usage, "omit --hold-out, or split by gene",
			"read --hold-out: found %s with --by component, whose parts share no gene",
			fault.Quote(o.HoldOut[0]))
	}
	return nil
}

// stratumKey returns what tells the strata of samples apart.
func (s *splitter) stratumKey() (func(*ingest.Sample) string, error) {
	switch {
	case s.Stratify == "":
		return func(*ingest.Sample) string { return "" }, nil
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
		for name := range ingest.StayingGenes(row.Attributes[at].Text, len(row.Genes)) {
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
