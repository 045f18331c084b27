package selection

import (
	"context"
	"encoding/binary"
	"slices"

	"tcbuild/fault"
	"tcbuild/ingest"
	"tcbuild/store"
)

// splitter carries what the passes over the samples found.
type splitter struct {
	SplitOptions
	dataset *store.Dataset
	parts   []string // of fractions, then of samples that are only held out
	pins    *pins
	held    []*holdOut
	stratum func(*ingest.Sample) string // tells strata apart
	unitKey func(*ingest.Sample) string // tells units apart, by column

	drawn, wildtypes pool             // the latter apart, if they are
	known            map[string]*unit // by genes or value
	key              []byte           // memory of a key of known
	components       components       // by component
	genes            []*unit          // by gene: of each; nil if no sample perturbs it
	seen             map[uint32]bool  // by gene: those that a sample of the first part perturbs
	unitOf           []*unit          // of each sample; nil: its genes are units
}

// maxStrata is more than an attribute has that is worth stratifying by; a measurement has more.
const maxStrata = 1000

// add finds the unit of a sample.
func (s *splitter) add(number int, row *ingest.Sample) error {
	pin, err := s.pins.pinOf(number, row.ID)
	if err != nil {
		return err
	}
	held, err := s.heldOut(number, row)
	if err != nil {
		return err
	}
	switch {
	case held != nil && pin != nil && pin.part != held.part:
		return fault.New(fault.Usage, "pin it in that part, or leave it out",
			"read pins %s: found part %s for sample %s, but --hold-out puts it into %s", pin.where,
			s.parts[pin.part], fault.Quote(row.ID), s.parts[held.part])
	case held != nil:
		s.unitOf = append(s.unitOf, &held.unit)
		return nil
	case s.By == ByGene && !s.drawsWildtype(row):
		s.unitOf = append(s.unitOf, nil)
		return s.addGenes(row, pin)
	}
	u, err := s.addUnit(number, row)
	if err != nil {
		return err
	}
	s.unitOf = append(s.unitOf, u)
	return s.pin(u, pin, "a sample of its "+string(s.By))
}

// addUnit returns the unit of a sample, a new one if it is the first of it.
func (s *splitter) addUnit(number int, row *ingest.Sample) (*unit, error) {
	if s.drawsWildtype(row) {
		stratum, err := s.stratumIn(s.wildtypes.strata, row)
		return s.wildtypes.add(s.Seed, number, stratum), err
	}
	stratum, err := s.stratumIn(s.drawn.strata, row)
	if err != nil {
		return nil, err
	}
	if s.By == BySample {
		return s.drawn.add(s.Seed, len(s.drawn.units), stratum), nil
	}
	s.key = s.appendKey(s.key[:0], row)
	u := s.known[string(s.key)]
	if u == nil {
		u = s.drawn.add(s.Seed, len(s.drawn.units), stratum)
		s.known[string(s.key)] = u
	}
	u.samples++
	if u.stratum != stratum {
		return nil, fault.New(fault.Usage, "split by sample, or stratify by "+PerturbationCount,
			"read --stratify: samples %d and %d have one %s and differ in %s",
			slices.Index(s.unitOf, u), number, s.By, fault.Quote(s.Stratify))
	}
	return u, nil
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

// genotypeKey appends what genotypes of the same genes share.
func genotypeKey(key []byte, genes []uint32) []byte {
	for _, gene := range genes {
		key = binary.LittleEndian.AppendUint32(key, gene)
	}
	return key
}

// stratumIn numbers a sample's stratum by its first appearance.
func (s *splitter) stratumIn(strata map[string]int, row *ingest.Sample) (stratum int, err error) {
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

// addGenes makes units of the genes of a sample.
func (s *splitter) addGenes(row *ingest.Sample, pin *pin) error {
	if len(row.Genes) == 0 && pin != nil && pin.part != 0 {
		return fault.New(fault.Input, "leave it out, or omit --wildtypes",
			"read pins %s: found part %s for sample %s, "+
				"but --wildtypes whole puts wild types into %s",
			pin.where, s.parts[pin.part], fault.Quote(row.ID), s.parts[0])
	}
	for _, gene := range row.Genes {
		u := s.geneUnit(gene)
		if u.held && pin != nil && pin.part != u.part {
			return fault.New(fault.Usage, "pin it in that part, or leave it out",
				"read pins %s: found part %s for sample %s, "+
					"but --hold-out puts one of its genes into %s",
				pin.where, s.parts[pin.part], fault.Quote(row.ID), s.parts[u.part])
		}
		if err := s.pin(u, pin, "a sample that perturbs one of its genes"); err != nil {
			return err
		}
	}
	return nil
}

// geneUnit returns the unit of a gene, a new one if it is the first time.
func (s *splitter) geneUnit(gene uint32) *unit {
	s.genes = append(s.genes, make([]*unit, max(0, int(gene)+1-len(s.genes)))...)
	if s.genes[gene] == nil {
		u := s.drawn.add(s.Seed, int(gene), 0)
		for _, rule := range s.held {
			if rule.ofUnits(s.By) && rule.genes[gene] {
				u.part, u.held = rule.part, true
			}
		}
		s.genes[gene] = u
	}
	return s.genes[gene]
}

// pin fixes a unit in the part of a pin, if there is one.
func (s *splitter) pin(u *unit, pin *pin, what string) error {
	if pin == nil {
		return nil
	}
	if u.part != none && u.part != pin.part {
		return fault.New(fault.Input, "pin them in one part, or split by sample",
			"read pins %s: found part %s, but %s is pinned in %s",
			pin.where, s.Fractions[pin.part].Part, what, s.Fractions[u.part].Part)
	}
	u.part = pin.part
	return nil
}

// components are the connected components of genes that samples perturb together: by gene, another
// gene of its component, or the gene itself if it stands for the component.
type components []uint32

func (s *splitter) findComponents(ctx context.Context) error {
	return s.eachSample(ctx, func(_ int, row *ingest.Sample) error {
		s.components.connect(row.Genes)
		return nil
	})
}

// connect puts genes into one component.
func (c *components) connect(genes []uint32) {
	for _, gene := range genes {
		for len(*c) <= int(gene) {
			*c = append(*c, uint32(len(*c)))
		}
	}
	for _, gene := range genes {
		(*c)[c.root(gene)] = c.root(genes[0])
	}
}

// root returns the gene that stands for a gene's component, and shortens the way to it.
func (c *components) root(gene uint32) uint32 {
	for (*c)[gene] != gene {
		(*c)[gene] = (*c)[(*c)[gene]]
		gene = (*c)[gene]
	}
	return gene
}
