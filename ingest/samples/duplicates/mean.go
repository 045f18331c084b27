package duplicates

import (
	"math"
	"slices"

	"gonum.org/v1/gonum/mathext"

	"tcbuild/fault"
	"tcbuild/ingest"
	"tcbuild/ingest/samples/distinct"
)

// mean is the policy that makes one sample of each group, in the place and with the id of its
// first. It has the means of the phenotypes, and the attributes that all samples of the group
// share.
type mean struct {
	*stage
	groups  *groups
	firsts  []float64 // the phenotypes of the first samples, group by group
	tallies []tally   // of groups with several samples, a tally for each phenotype
	tallied []int32   // the end of a group's tallies, counted in groups; 0 if it has one sample
	noted   []noted   // attributes that may differ, group by group
	values  []float64 // the phenotypes of a result
}

// noted is the value of an attribute in the first sample of a group, and whether others differ.
type noted struct {
	first   distinct.Key
	differs bool
}

// See tallies a sample. The first one of a group waits for the second: most groups have one sample.
func (m *mean) See(group int, first bool, _ int, sample *ingest.Sample) (bool, error) {
	for k := range m.plan.ignored {
		value := m.groups.valuesOf(sample, m.plan.ignored[k:k+1])
		if first {
			m.noted = append(m.noted, noted{first: value})
		}
		note := &m.noted[group*len(m.plan.ignored)+k]
		note.differs = note.differs || note.first != value
	}
	if first {
		m.firsts = append(m.firsts, sample.Phenotypes...)
		m.tallied = append(m.tallied, 0)
		return false, nil
	}
	width := len(m.plan.columns)
	if m.tallied[group] == 0 {
		m.tallies = append(m.tallies, make([]tally, width)...)
		m.tallied[group] = int32(len(m.tallies) / max(width, 1)) // sets may have no phenotypes
		m.plan.add(m.talliesOf(group), m.firsts[group*width:(group+1)*width])
	}
	m.plan.add(m.talliesOf(group), sample.Phenotypes)
	return false, nil
}

func (m *mean) talliesOf(group int) []tally {
	end, width := int(m.tallied[group]), len(m.plan.columns)
	return m.tallies[(end-1)*width : end*width]
}

// Result turns the first sample of a group into the result.
func (m *mean) Result(group int, sample *ingest.Sample) error {
	if m.tallied[group] == 0 {
		m.plan.single(sample.Phenotypes, m.values)
	} else {
		m.plan.pool(m.talliesOf(group), m.values)
	}
	sample.Phenotypes = m.values
	for k, ignored := range m.plan.ignored {
		if m.noted[group*len(m.plan.ignored)+k].differs {
			sample.Attributes[ignored.number] = ingest.Value{Number: math.NaN()}
		}
	}
	tooLarge := func(value float64) bool { return math.IsInf(value, 0) }
	if k := slices.IndexFunc(m.values, tooLarge); k >= 0 {
		return fault.New(fault.Input, "correct the values of this genotype, or omit the column",
			"read perturbations %s: sample %s and others of its genotype: their %s is beyond the "+
				"range of a 64-bit floating-point number",
			m.name, fault.Quote(string(sample.ID)), fault.Quote(m.columns.Phenotypes[k].Name))
	}
	return nil
}

// tally adds up the values of a phenotype that are there. Those of a statistic count if its
// phenotype is measured in the same sample.
type tally struct {
	n, first float64
	sum      sum
	squares  sum // of differences from first; of a statistic, of the values
}

// sum is a compensated sum: low is what rounding has taken from high (Neumaier 1974).
type sum struct{ high, low float64 }

func (s *sum) add(x float64) {
	total := s.high + x
	if math.Abs(s.high) >= math.Abs(x) {
		s.low += (s.high - total) + x
	} else {
		s.low += (x - total) + s.high
	}
	s.high = total
}

func (s sum) value() float64 {
	if math.IsInf(s.high, 0) { // then low is not a number
		return s.high
	}
	return s.high + s.low
}

// mean is NaN without values.
func (t *tally) mean() float64 { return t.sum.value() / t.n }

// deviation is the sample standard deviation (n-1). It is missing for a single value.
func (t *tally) deviation() float64 {
	squares := t.squares.value()
	switch {
	case t.n < 2:
		return math.NaN()
	case math.IsInf(squares, 0):
		return squares
	}
	// the sum of differences, rounded once: the mean differs from first by its n-th part
	differences := math.FMA(-t.n, t.first, t.sum.high) + t.sum.low
	return math.Sqrt(max(squares-float64(differences/t.n*differences), 0) / (t.n - 1))
}

// add adds a sample to the tallies of its group.
func (p *plan) add(tallies []tally, values []float64) {
	for k, column := range p.columns {
		value, t := values[k], &tallies[k]
		if math.IsNaN(value) || column.kind != measured && math.IsNaN(values[column.of]) {
			continue
		}
		if t.n++; t.n == 1 {
			t.first = value
		}
		t.sum.add(value)
		if column.kind == measured {
			value -= t.first
		}
		t.squares.add(float64(value * value))
	}
}

// pool makes the phenotypes of a group's mean.
func (p *plan) pool(tallies []tally, phenotypes []float64) {
	added := phenotypes[len(p.columns):]
	for i, k := range p.measured {
		phenotypes[k], added[2*i], added[2*i+1] = tallies[k].mean(), tallies[k].n,
			tallies[k].deviation()
	}
	for k, column := range p.columns {
		if column.kind != measured {
			phenotypes[k] = column.pool(&tallies[k], &tallies[column.of])
		}
	}
}

// pool pools a statistic over the samples in which its phenotype is measured.
func (c column) pool(t, of *tally) float64 {
	switch {
	case of.n == 1 && t.n == 1:
		return t.first // as it is
	case c.kind == pValue && of.n > 1:
		return pValueOfMean(of.n, of.mean(), of.deviation())
	case c.kind == standardError && t.n == of.n && t.n > 0:
		return math.Sqrt(t.squares.value()) / t.n
	case c.kind == standardDeviation:
		return math.Sqrt(t.squares.value() / t.n)
	case c.kind == variance:
		return t.mean()
	}
	return math.NaN()
}

// single makes the phenotypes of a sample that is a group of its own.
func (p *plan) single(values, phenotypes []float64) {
	added := phenotypes[copy(phenotypes, values):]
	for i, k := range p.measured {
		added[2*i], added[2*i+1] = 1, math.NaN()
		if math.IsNaN(values[k]) {
			added[2*i] = 0
		}
	}
}

// pValueOfMean is the two-sided p-value of Student's t-test of n values against a mean of 0, as in
// torchcell: missing if they are all 0.
func pValueOfMean(n, mean, deviation float64) float64 {
	t := mean / (deviation / math.Sqrt(n))
	if math.IsNaN(t) {
		return t
	}
	freedom := n - 1
	if t*t < 1 { // what is near 1 has no digits to spare
		return 1 - mathext.RegIncBeta(0.5, freedom/2, t*t/(freedom+t*t))
	}
	return mathext.RegIncBeta(freedom/2, 0.5, freedom/(freedom+t*t))
}
