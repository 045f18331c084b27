package selection

import (
	"cmp"
	"context"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/cespare/xxhash/v2"

	"tcbuild/fault"
	"tcbuild/ingest"
)

// Part is what a part of a split got.
type Part struct {
	Name    string
	Samples int
	Units   int // genotypes, genes or values of a column that the part was given
	// of its samples
	Genotypes, Genes int
	// of these, those that samples of the first part have as well
	SharedGenotypes, SharedGenes int
}

// Seen counts samples of a part by the number of their perturbed genes, and of those that are seen
// in training: that are of the first part, in a split by gene, or that samples of it perturb.
type Seen struct {
	Part                   string
	Perturbed, Seen, Count int
}

// SplitReport counts what a split did: the samples of a dataset are in the parts or
// unplaced.
type SplitReport struct {
	Parts    []Part // that have samples, the first one first
	Unplaced int
	Seen     []Seen
}

type slot struct {
	Part
	samples   []int64
	genotypes []uint64 // hashes
	genes     map[uint32]bool
}

// placement is where all samples of a dataset go.
type placement struct {
	*splitter
	slots  []*slot // parts, parts of straddling samples, unplaced; only parts may be empty
	slotOf []*slot // by sample
}

// place puts each sample into a slot.
func (s *splitter) place(ctx context.Context) (*placement, error) {
	p := &placement{splitter: s, slotOf: make([]*slot, 0, s.dataset.Manifest.Samples)}
	for _, name := range s.parts {
		p.slots = append(p.slots, newSlot(name))
	}
	type key struct{ part, unseen int }
	straddling := make(map[key]*slot)
	rest := newSlot(unplaced)
	var hash []byte
	err := s.eachSample(ctx, func(number int, row *ingest.Sample) error {
		part, unseen, straddles, err := s.partOf(number, row)
		if err != nil {
			return err
		}
		to := rest
		switch {
		case straddles && s.Straddling == SeparateStraddling:
			if to = straddling[key{part, unseen}]; to == nil {
				to = newSlot(fmt.Sprintf("%s_unseen%d", s.parts[part], unseen))
				straddling[key{part, unseen}] = to
			}
		case straddles:
		case part != none:
			to = p.slots[part]
		case s.Straddling == SeparateStraddling:
			to = p.slots[0]
		}
		to.samples = append(to.samples, int64(number))
		hash = genotypeKey(hash[:0], row.Genes)
		to.genotypes = append(to.genotypes, xxhash.Sum64(hash))
		for _, gene := range row.Genes {
			to.genes[gene] = true
		}
		p.slotOf = append(p.slotOf, to)
		return nil
	})
	if err != nil {
		return nil, err
	}
	for _, k := range slices.SortedFunc(maps.Keys(straddling), func(a, b key) int { return cmp.Or(a.part-b.part, a.unseen-b.unseen) }) {
		p.slots = append(p.slots, straddling[k])
	}
	p.slots = append(p.slots, rest)
	return p, p.check()
}

func newSlot(name string) *slot {
	return &slot{Part: Part{Name: name}, genes: make(map[uint32]bool)}
}

// partOf is the part of a sample, or none. By gene, that is the last part that one of its genes is
// of; straddles says that they are of several, and unseen counts those that are not of the first
// part.
func (s *splitter) partOf(number int, row *ingest.Sample) (part, unseen int, straddles bool, err error) {
	if s.By != ByGene {
		if unit := s.unitOf[number]; unit >= 0 {
			return s.units[unit].part, 0, false, nil
		}
		return -1 - s.unitOf[number], 0, false, nil
	}
	if part, err = s.heldOut(number, row); part != none || err != nil {
		return part, 0, false, err
	}
	for i, gene := range row.Genes {
		found := s.units[s.genes[gene]].part
		straddles = straddles || i > 0 && found != part
		if found != 0 {
			unseen++
		}
		part = max(part, found)
	}
	return part, unseen, straddles, nil
}

// check counts the units of each part. A part without samples is an error, and so are two of one
// name.
func (p *placement) check() error {
	units := make([]int, len(p.parts))
	for _, unit := range p.units {
		units[unit.part]++
	}
	names := make(map[string]bool)
	for k, slot := range p.slots {
		if slot.Samples = len(slot.samples); k < len(units) {
			slot.Units = units[k]
		}
		if slot.Samples == 0 && k < len(p.parts) && !p.hasStraddling(slot.Name) {
			return fault.New(fault.Input, "use a larger fraction, or another seed",
				"split %s: part %s gets none of %d samples (%d of %d %ss), expected at least one",
				p.dataset.Dir, slot.Name, p.dataset.Manifest.Samples, slot.Units, len(p.units), p.By)
		}
		if names[slot.Name] {
			return fault.New(fault.Usage, "rename the part", "split %s: found part %s, a name reserved for samples that straddle parts",
				p.dataset.Dir, slot.Name)
		}
		names[slot.Name] = true
	}
	return nil
}

// hasStraddling reports whether a part that has no samples of its own has some that straddle parts.
func (p *placement) hasStraddling(part string) bool {
	return slices.ContainsFunc(p.slots[len(p.parts):], func(s *slot) bool { return strings.HasPrefix(s.Name, part+"_unseen") })
}

// report counts what parts have in common with the first one.
func (p *placement) report(ctx context.Context) (*SplitReport, error) {
	report := &SplitReport{}
	first := p.slots[0]
	for _, slot := range p.slots {
		slices.Sort(slot.genotypes)
		slot.genotypes = slices.Compact(slot.genotypes)
		slot.Genotypes, slot.Genes = len(slot.genotypes), len(slot.genes)
		for _, genotype := range slot.genotypes {
			if _, shared := slices.BinarySearch(first.genotypes, genotype); shared {
				slot.SharedGenotypes++
			}
		}
		for gene := range slot.genes {
			if first.genes[gene] {
				slot.SharedGenes++
			}
		}
		if slot.Name == unplaced {
			report.Unplaced = slot.Samples
		}
		if slot.Name == unplaced || slot.Samples == 0 {
			continue
		}
		report.Parts = append(report.Parts, slot.Part)
	}
	type key struct{ slot, perturbed, seen int }
	counts := make(map[key]int)
	err := p.eachSample(ctx, func(number int, row *ingest.Sample) error {
		seen := 0
		for _, gene := range row.Genes {
			if p.isSeen(gene) {
				seen++
			}
		}
		counts[key{slices.Index(p.slots, p.slotOf[number]), len(row.Genes), seen}]++
		return nil
	})
	for _, k := range slices.SortedFunc(maps.Keys(counts), func(a, b key) int {
		return cmp.Or(a.slot-b.slot, a.perturbed-b.perturbed, a.seen-b.seen)
	}) {
		report.Seen = append(report.Seen, Seen{p.slots[k.slot].Name, k.perturbed, k.seen, counts[k]})
	}
	return report, err
}

// isSeen reports whether a gene is seen in training; see Seen.
func (p *placement) isSeen(gene uint32) bool {
	if p.By != ByGene {
		return p.slots[0].genes[gene]
	}
	// otherwise only samples that are held out perturb it
	return int(gene) < len(p.genes) && p.genes[gene] != none && p.units[p.genes[gene]].part == 0
}
