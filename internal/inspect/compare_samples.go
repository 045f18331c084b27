package inspect

import (
	"bytes"
	"context"
	"fmt"
	"runtime"
	"slices"
	"strings"

	"tcbuild/incidence"
	"tcbuild/ingest"
	"tcbuild/internal/inorder"
	"tcbuild/store"
)

// sampleComparison compares the samples of two datasets.
type sampleComparison struct {
	graphComparison
	sides         [2]sampleSide // A and B
	phenotypes    []pairedColumn
	attributes    []pairedColumn
	samePositions bool // a position of the mask space means the same in both
	samePayloads  bool // equal payloads mean equal masks
}

// pairedColumn is a phenotype or attribute of both datasets.
type pairedColumn struct {
	name   string
	a, b   int // its index
	values ingest.AttributeType
}

// sampleSide is one of the two datasets.
type sampleSide struct {
	reader  *store.MaskReader
	samples int
	layout  incidence.Layout
	pending map[string][]int // id -> samples whose counterpart has not been found yet
}

// compare reads both datasets side by side. Samples whose ids differ wait until their counterpart
// is read.
func (s *sampleComparison) compare(ctx context.Context, progress Progress) error {
	a, b := &s.sides[0], &s.sides[1]
	err := s.comparePlaces(ctx, func(i int, same bool) error {
		progress.Add(1, 0)
		waiting := len(a.pending) > 0 || len(b.pending) > 0
		if same && !waiting {
			return nil
		}
		idA, err := a.id(i)
		if err != nil {
			return err
		}
		idB, err := b.id(i)
		if err != nil {
			return err
		}
		if i < a.samples && i < b.samples && bytes.Equal(idA, idB) && !waiting {
			return s.pair(i, i)
		}
		return s.meet(i, string(idA), string(idB))
	})
	if err == nil {
		s.reportUnpaired()
	}
	return err
}

// id returns the id of a sample, a view, or nil after the last.
func (s *sampleSide) id(sample int) ([]byte, error) {
	if sample >= s.samples {
		return nil, nil
	}
	row, err := s.reader.Row(sample)
	if err != nil {
		return nil, err
	}
	return row.ID, nil
}

// meet looks for the counterparts of samples i of A and B.
func (s *sampleComparison) meet(i int, idA, idB string) error {
	a, b := &s.sides[0], &s.sides[1]
	if i < a.samples {
		if other, found := b.take(idA); found {
			if err := s.pair(i, other); err != nil {
				return err
			}
		} else {
			a.pending[idA] = append(a.pending[idA], i)
		}
	}
	if i < b.samples {
		if other, found := a.take(idB); found {
			return s.pair(other, i)
		}
		b.pending[idB] = append(b.pending[idB], i)
	}
	return nil
}

// take removes the first sample that waits under an id.
func (s *sampleSide) take(id string) (sample int, found bool) {
	waiting := s.pending[id]
	if len(waiting) == 0 {
		return 0, false
	}
	if len(waiting) == 1 {
		delete(s.pending, id)
	} else {
		s.pending[id] = waiting[1:]
	}
	return waiting[0], true
}

// reportUnpaired reports the samples that have no counterpart.
func (s *sampleComparison) reportUnpaired() {
	for i, where := range []side{inA, inB} {
		ids := make(map[int]string)
		var samples []int
		for id, waiting := range s.sides[i].pending {
			for _, sample := range waiting {
				samples, ids[sample] = append(samples, sample), id
			}
		}
		slices.Sort(samples)
		for _, sample := range samples {
			s.report.add(fmt.Sprintf("samples only in %s", where),
				func() string { return fmt.Sprintf("%s (number %d)", ids[sample], sample) })
		}
	}
}

// pair compares sample a of A with its counterpart, sample b of B.
func (s *sampleComparison) pair(a, b int) error {
	storedA, err := s.sides[0].reader.Stored(a)
	if err != nil {
		return err
	}
	storedB, err := s.sides[1].reader.Stored(b)
	if err != nil {
		return err
	}
	name := fmt.Sprintf("%s (number %d)", storedA.ID, a)
	s.genotypes(name, storedA, storedB)
	s.values(name, storedA, storedB)
	if s.samePayloads && bytes.Equal(storedA.Payload, storedB.Payload) {
		return nil
	}
	_, removedA, err := s.sides[0].reader.Sample(a)
	if err != nil {
		return err
	}
	_, removedB, err := s.sides[1].reader.Sample(b)
	if err != nil {
		return err
	}
	if !s.samePositions || !slices.Equal(removedA, removedB) {
		s.masks(name, removedA, removedB)
	}
	return nil
}

func (s *sampleComparison) genotypes(name string, a, b *store.Sample) {
	genes := s.matches[ingest.Gene].positions(a.Genes)
	if slices.Equal(genes, b.Genes) && len(genes) == len(a.Genes) {
		return
	}
	s.report.add("samples with other deleted genes", func() string {
		return fmt.Sprintf("%s: %s in A, %s in B", name, geneNames(s.a, a.Genes), geneNames(s.b, b.Genes))
	})
}

func geneNames(graph *ingest.Graph, genes []uint32) string {
	var names []string
	for _, gene := range genes {
		names = append(names, graph.Genes.IDs[gene])
	}
	if names == nil {
		return "none"
	}
	return strings.Join(names, "|")
}

func (s *sampleComparison) values(name string, a, b *store.Sample) {
	for _, c := range s.phenotypes {
		if valueA, valueB := a.Phenotypes[c.a], b.Phenotypes[c.b]; !sameNumber(valueA, valueB) {
			s.report.add("samples with another "+c.name, func() string {
				return fmt.Sprintf("%s: %s in A, %s in B", name, exact(valueA), exact(valueB))
			})
		}
	}
	for _, c := range s.attributes {
		valueA, valueB := a.Attributes[c.a], b.Attributes[c.b]
		same := (valueA.Text == nil) == (valueB.Text == nil) && bytes.Equal(valueA.Text, valueB.Text)
		if c.values == ingest.NumberAttribute {
			same = sameNumber(valueA.Number, valueB.Number)
		}
		if !same {
			s.report.add("samples with another "+c.name, func() string {
				return fmt.Sprintf("%s: %s in A, %s in B", name, attribute(valueA, c.values), attribute(valueB, c.values))
			})
		}
	}
}

func attribute(value ingest.Value, values ingest.AttributeType) string {
	switch {
	case values == ingest.NumberAttribute:
		return exact(value.Number)
	case value.Text == nil:
		return "missing"
	}
	return string(value.Text)
}

// stretchSamples is how many samples a goroutine compares at a time.
var stretchSamples = 512

// stretch is consecutive places of both datasets.
type stretch struct {
	first int
	same  []bool // by place: both have the same sample there
}

// comparePlaces finds the places at which both datasets have the same sample, which is most of the
// work, on all cores. It calls see for every place in order, and reports nothing itself: what
// differs, or cannot be read, is for see to compare again.
func (s *sampleComparison) comparePlaces(ctx context.Context, see func(place int, same bool) error) error {
	places := max(s.sides[0].samples, s.sides[1].samples)
	workers := make([]func(*stretch), runtime.GOMAXPROCS(0))
	for i := range workers {
		probe := s.clone()
		defer probe.close()
		workers[i] = func(next *stretch) {
			next.same = make([]bool, min(stretchSamples, places-next.first))
			for k := range next.same {
				next.same[k] = probe.same(next.first + k)
			}
		}
	}
	stretches := inorder.Each(ctx, workers, func(send func(*stretch) error) error {
		for first := 0; first < places; first += stretchSamples {
			if err := send(&stretch{first: first}); err != nil {
				return err
			}
		}
		return nil
	})
	for next, err := range stretches {
		if err != nil {
			return err
		}
		for k, same := range next.same {
			if err := see(next.first+k, same); err != nil {
				return err
			}
		}
	}
	return nil
}

// clone makes a comparison of the same datasets for another goroutine, with a report of its own.
func (s *sampleComparison) clone() *sampleComparison {
	clone := *s
	clone.report = newDifferences(1)
	for i := range clone.sides {
		clone.sides[i].reader = s.sides[i].reader.Clone()
	}
	return &clone
}

func (s *sampleComparison) close() {
	for i := range s.sides {
		s.sides[i].reader.Close()
	}
}

// same reports whether both datasets have the same sample at a place.
func (s *sampleComparison) same(place int) bool {
	idA, errA := s.sides[0].id(place)
	idB, errB := s.sides[1].id(place)
	inBoth := place < s.sides[0].samples && place < s.sides[1].samples
	if errA != nil || errB != nil || !inBoth || !bytes.Equal(idA, idB) {
		return false
	}
	err := s.pair(place, place)
	same := err == nil && s.report.Same()
	s.report = newDifferences(1)
	return same
}
