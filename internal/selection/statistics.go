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
	Name      string
	Samples   int
	Units     int // genotypes, genes or values of a column that the part was given
	Wildtypes int // samples that perturb no gene
	// of its samples
	Genotypes, Genes int
	// of these, those that samples of the first part have as well
	SharedGenotypes, SharedGenes int
}

// Seen counts samples of a part by the number of their perturbed genes, and of those that are seen
// in training: that a sample of the first part perturbs.
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

// HasWildtypes reports whether a sample of a part perturbs no gene.
func (r *SplitReport) HasWildtypes() bool {
	return slices.ContainsFunc(r.Parts, func(p Part) bool { return p.Wildtypes > 0 })
}

// place is where samples go. Those whose genes are in several parts are beside the last of these,
// by the number of genes that are not seen, or nowhere.
type place struct {
	kind         placeKind
	part, unseen int
}

type placeKind int

const (
	inPart placeKind = iota
	besidePart
	nowhere
)

// slot is the samples of a place.
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
	slots := map[place]*slot{{kind: nowhere}: newSlot(unplaced)}
	for part, name := range s.parts {
		slots[place{part: part}] = newSlot(name)
	}
	var hash []byte
	err := s.eachSample(ctx, func(number int, row *ingest.Sample) error {
		at := s.placeOf(number, row)
		to := slots[at]
		if to == nil {
			to = newSlot(fmt.Sprintf("%s_unseen%d", s.parts[at.part], at.unseen))
			slots[at] = to
		}
		to.samples = append(to.samples, int64(number))
		if len(row.Genes) == 0 {
			to.Wildtypes++
		}
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
	inOrder := func(a, b place) int {
		return cmp.Or(cmp.Compare(a.kind, b.kind), a.part-b.part, a.unseen-b.unseen)
	}
	for _, at := range slices.SortedFunc(maps.Keys(slots), inOrder) {
		p.slots = append(p.slots, slots[at])
	}
	return p, p.check()
}

func newSlot(name string) *slot {
	return &slot{Part: Part{Name: name}, genes: make(map[uint32]bool)}
}

// placeOf returns where a sample goes. Samples whose genes are units are in the last part of any of
// their genes.
func (s *splitter) placeOf(number int, row *ingest.Sample) place {
	if u := s.unitOf[number]; u != nil {
		return place{part: u.part}
	}
	part, straddles := s.partOfGenes(row.Genes)
	switch {
	case !straddles:
		return place{part: part}
	case s.Straddling != SeparateStraddling:
		return place{kind: nowhere}
	}
	at := place{kind: besidePart, part: part}
	for _, gene := range row.Genes {
		if !s.seen[gene] {
			at.unseen++
		}
	}
	return at
}

// partOfGenes returns the last part of any of the genes, and whether they are in several. Without
// genes it returns the first part.
func (s *splitter) partOfGenes(genes []uint32) (part int, straddles bool) {
	for i, gene := range genes {
		found := s.genes[gene].part
		straddles = straddles || i > 0 && found != part
		part = max(part, found)
	}
	return part, straddles
}

// findSeen finds the genes that a sample of the first part perturbs. Any other gene drawn for the
// first part moves to the last part with which it shares a sample. No sample of the first part has
// it, so the move changes no gene that is seen.
func (s *splitter) findSeen(ctx context.Context) error {
	s.seen = make(map[uint32]bool)
	last := make([]int, len(s.genes))
	err := s.eachSample(ctx, func(number int, row *ingest.Sample) error {
		u := s.unitOf[number]
		var part int
		if u != nil {
			part = u.part
		} else {
			part, _ = s.partOfGenes(row.Genes)
		}
		for _, gene := range row.Genes {
			if u == nil {
				last[gene] = max(last[gene], part)
			}
			if part == 0 {
				s.seen[gene] = true
			}
		}
		return nil
	})
	for gene, u := range s.genes {
		if u != nil && u.part == 0 && !s.seen[uint32(gene)] {
			u.part = last[gene]
		}
	}
	return err
}

// check counts the units of each part. A part without samples is an error, and so are two of one
// name.
func (p *placement) check() error {
	units := make([]int, len(p.parts))
	for _, unit := range p.drawn.units {
		units[unit.part]++
	}
	names := make(map[string]bool)
	for k, slot := range p.slots {
		if slot.Samples = len(slot.samples); k < len(units) {
			slot.Units = units[k]
		}
		if k < len(p.parts) && !p.hasStraddling(slot.Name) {
			if err := p.checkFilled(slot, k < len(p.Fractions)); err != nil {
				return err
			}
		}
		if names[slot.Name] {
			return fault.New(fault.Usage, "rename the part",
				"split %s: found part %s, a name reserved for samples that straddle parts",
				p.dataset.Dir, slot.Name)
		}
		names[slot.Name] = true
	}
	return nil
}

// checkFilled returns an error for a part without samples, and for a drawn part with only wild
// types.
func (p *placement) checkFilled(slot *slot, drawn bool) error {
	hint := "use a larger fraction, or another seed"
	if p.By == ByComponent {
		hint = "use a larger fraction, or split by gene: samples connect most genes with each other"
	}
	units := len(p.drawn.units)
	if slot.Samples == 0 {
		return fault.New(fault.Input, hint,
			"split %s: part %s gets none of %d samples (%d of %d %ss), expected at least one",
			p.dataset.Dir, slot.Name, p.dataset.Manifest.Samples, slot.Units, units, p.By)
	}
	drawsBoth := drawn && len(p.wildtypes.units) > 0 && units > 0
	if drawsBoth && slot.Samples == slot.Wildtypes {
		return fault.New(fault.Input, hint,
			"split %s: part %s gets only wild types (%d of %d samples; %d of %d %ss), "+
				"expected mutants",
			p.dataset.Dir, slot.Name, slot.Samples, p.dataset.Manifest.Samples,
			slot.Units, units, p.By)
	}
	return nil
}

// hasStraddling reports whether a part that has no samples of its own has some that straddle parts.
func (p *placement) hasStraddling(part string) bool {
	return slices.ContainsFunc(p.slots[len(p.parts):],
		func(s *slot) bool { return strings.HasPrefix(s.Name, part+"_unseen") })
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
			if first.genes[gene] {
				seen++
			}
		}
		counts[key{slices.Index(p.slots, p.slotOf[number]), len(row.Genes), seen}]++
		return nil
	})
	for _, k := range slices.SortedFunc(maps.Keys(counts), func(a, b key) int {
		return cmp.Or(a.slot-b.slot, a.perturbed-b.perturbed, a.seen-b.seen)
	}) {
		report.Seen = append(report.Seen,
			Seen{p.slots[k.slot].Name, k.perturbed, k.seen, counts[k]})
	}
	return report, err
}
