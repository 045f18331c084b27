package duplicates

import "tcbuild/ingest"

// A policy decides what stands for a group of samples that delete the same genes.
type policy interface {
	// See gets every sample in order. If the sample stands for its group as it is, it is passed on
	// at once.
	See(group int, first bool, samples *ingest.Samples, i int) (pass bool, err error)
	// Result makes the result of a group that was not passed on, from the sample that stands for
	// it, in a second reading.
	Result(group int, sample *ingest.Sample) error
}

func (s *stage) policy(groups *groups) policy {
	switch s.Duplicates {
	case Error:
		return &refuse{groups: groups}
	case First:
		return first{}
	case Last:
		return &last{groups: groups}
	case Mean:
		return &mean{stage: s, groups: groups, values: make([]float64, len(s.columns.Phenotypes))}
	}
	return keep{}
}

// once is a policy that passes results on, in the first reading.
type once struct{}

func (once) Result(int, *ingest.Sample) error { return nil }

type keep struct{ once }

func (keep) See(int, bool, *ingest.Samples, int) (bool, error) { return true, nil }

type refuse struct {
	once
	groups *groups
}

func (r *refuse) See(group int, first bool, samples *ingest.Samples, i int) (bool, error) {
	if !first {
		return false, &clash{r.groups.stands[group], int32(samples.First + i)}
	}
	return true, nil
}

type first struct{ once }

func (first) See(_ int, first bool, _ *ingest.Samples, _ int) (bool, error) { return first, nil }

type last struct{ groups *groups }

func (l *last) See(group int, _ bool, samples *ingest.Samples, i int) (bool, error) {
	l.groups.stands[group] = int32(samples.First + i)
	return false, nil
}

// Result leaves the sample as it is; stands is sorted by then, so group is another one's.
func (*last) Result(int, *ingest.Sample) error { return nil }
