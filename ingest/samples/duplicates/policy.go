package duplicates

import "tcbuild/ingest"

// A policy decides what stands for a group of samples that delete the same genes.
type policy interface {
	// See gets every sample in order, with its number. If the sample stands for its group as it is,
	// it is passed on at once.
	See(group int, first bool, number int, sample *ingest.Sample) (pass bool, err error)
	// Result makes the result of a group that was not passed on, from the sample that stands for
	// it, in a second reading.
	Result(group int, sample *ingest.Sample) error
}

func (s *stage) policy(groups *groups) policy {
	switch s.Duplicates {
	case Error:
		return refuse{groups: groups}
	case First:
		return first{}
	case Last:
		return last{groups: groups}
	case Mean:
		return &mean{stage: s, groups: groups, values: make([]float64, len(s.columns.Phenotypes))}
	}
	return keep{}
}

// unchanged is a policy whose results are samples as they are.
type unchanged struct{}

func (unchanged) Result(int, *ingest.Sample) error { return nil }

type keep struct{ unchanged }

func (keep) See(int, bool, int, *ingest.Sample) (bool, error) { return true, nil }

type refuse struct {
	unchanged
	groups *groups
}

func (r refuse) See(group int, first bool, number int, _ *ingest.Sample) (bool, error) {
	if !first {
		return false, &clash{r.groups.stands[group], int32(number)}
	}
	return true, nil
}

type first struct{ unchanged }

func (first) See(_ int, first bool, _ int, _ *ingest.Sample) (bool, error) { return first, nil }

type last struct {
	unchanged
	groups *groups
}

func (l last) See(group int, _ bool, number int, _ *ingest.Sample) (bool, error) {
	l.groups.stands[group] = int32(number)
	return false, nil
}
