package bench

import "slices"

// newStat summarises the values of all rounds, at least one, in any order.
func newStat(values []float64) Stat {
	sorted := slices.Sorted(slices.Values(values))
	n := len(sorted)
	return Stat{Median: (sorted[(n-1)/2] + sorted[n/2]) / 2, Min: sorted[0], Max: sorted[n-1], Rounds: n}
}

// statOf summarises one figure over all rounds.
func statOf[T any](rounds []T, figure func(T) float64) Stat {
	values := make([]float64, len(rounds))
	for i, round := range rounds {
		values[i] = figure(round)
	}
	return newStat(values)
}

// Spread is half the range of the rounds, two or more, as a fraction of the median; 0 if that is 0.
func (s Stat) Spread() float64 {
	if s.Median == 0 {
		return 0
	}
	return (s.Max - s.Min) / 2 / s.Median
}

// ratio is a/b, or 0 if b is 0, a limit that was not measured.
func ratio(a, b float64) float64 {
	if b == 0 {
		return 0
	}
	return a / b
}
