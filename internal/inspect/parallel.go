package inspect

import (
	"bytes"
	"context"
	"runtime"

	"tcbuild/internal/inorder"
)

// stretchSamples is how many samples a goroutine compares at a time.
const stretchSamples = 512

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
