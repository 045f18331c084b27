package duplicates

import (
	"math"
	"slices"
	"strings"

	"gonum.org/v1/gonum/mathext"

	"tcbuild/fault"
	"tcbuild/ingest"
)

// means has what the mean samples of a set are made of, by the number of their group.
type means struct {
	plan    *plan
	ignored []noted   // attributes that may differ, group by group
	values  []float64 // the phenotypes of the first samples, group by group
	tallies []tally   // of groups with several samples, a tally for each phenotype
	tallied []int32   // where a group's are, from 1; 0: it has one sample, or nothing to tally
}

// noted is the value of an attribute in the first sample of a group, and whether others differ.
type noted struct {
	first   key
	differs bool
}

// note adds the value that the k-th ignored attribute has in the next sample of a group.
func (m *means) note(group, k int, value key) {
	at := group*len(m.plan.ignored) + k
	if at == len(m.ignored) {
		m.ignored = append(m.ignored, noted{first: value})
	}
	m.ignored[at].differs = m.ignored[at].differs || m.ignored[at].first != value
}

// differs reports whether the samples of a group have several values of an ignored attribute.
func (m *means) differs(group, k int) bool { return m.ignored[group*len(m.plan.ignored)+k].differs }

// add adds a sample to its group.
func (m *means) add(group int, phenotypes []float64) {
	width := len(m.plan.columns)
	if group == len(m.tallied) {
		m.tallied = append(m.tallied, 0)
		m.values = append(m.values, phenotypes...)
		return
	}
	if m.tallied[group] == 0 {
		m.tallies = append(m.tallies, make([]tally, width)...)
		m.tallied[group] = int32(len(m.tallies) / max(width, 1)) // sets may have no phenotypes
		m.plan.add(m.talliesOf(group), m.values[group*width:(group+1)*width])
	}
	m.plan.add(m.talliesOf(group), phenotypes)
}

// talliesOf are the tallies of a group, nil if it has one sample.
func (m *means) talliesOf(group int) []tally {
	at, width := int(m.tallied[group]), len(m.plan.columns)
	if at == 0 {
		return nil
	}
	return m.tallies[(at-1)*width : at*width]
}

// of makes the phenotypes of a group's mean.
func (m *means) of(group int, phenotypes []float64) {
	width := len(m.plan.columns)
	if tallies := m.talliesOf(group); tallies != nil {
		m.plan.pool(tallies, phenotypes)
	} else {
		m.plan.single(m.values[group*width:(group+1)*width], phenotypes)
	}
}

// checkRange returns an error for phenotypes that are not finite.
func (s *stage) checkRange(phenotypes []float64) error {
	k := slices.IndexFunc(phenotypes, func(value float64) bool { return math.IsInf(value, 0) })
	if k < 0 {
		return nil
	}
	return fault.New(fault.Input, "correct the values",
		"read perturbations %s: found values of a genotype whose %s is beyond the range of a 64-bit floating-point number",
		s.name, fault.Quote(s.columns.Phenotypes[k].Name))
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
		phenotypes[k], added[2*i], added[2*i+1] = tallies[k].mean(), tallies[k].n, tallies[k].deviation()
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

// plan says how the phenotypes of a group become one sample's. A measured one is the mean of
// the values that are there, which NAME_n counts; NAME_sd is their sample standard deviation (n-1).
// A statistic is pooled over the samples in which its phenotype is measured; if that is one, it
// stays as it is. docs/input.md has the rules as a table.
type plan struct {
	columns  []column // of the phenotypes that are there
	measured []int    // of them; each has two more after all others: NAME_n, NAME_sd
	ignored  []int    // attributes that may differ; the mean has no value where they do
}

// column is a phenotype of the source.
type column struct {
	name string
	kind kind
	of   int // the phenotype that a statistic belongs to
}

// kind is what a phenotype is, and by which rule it is pooled.
type kind string

const (
	measured          kind = ""
	standardDeviation kind = "standard deviation"
	standardError     kind = "standard error"
	variance          kind = "variance"
	pValue            kind = "p-value"
)

// kinds are the endings of names by which statistics are known, case, spaces and hyphens aside.
var kinds = []struct {
	ending string
	kind   kind
}{
	{"_std", standardDeviation}, {"_sd", standardDeviation}, {"_standard_deviation", standardDeviation},
	{"_se", standardError}, {"_standard_error", standardError}, {"_variance", variance},
	{"_p_value", pValue}, {"_pvalue", pValue},
}

// plain is a name as endings are compared.
var plain = strings.NewReplacer("-", "_", " ", "_")

func plainName(name string) string { return plain.Replace(strings.ToLower(name)) }

// statistic reads from a column's name which kind of statistic it holds, and of which phenotype; it
// returns the phenotype's plainName. In torchcell's names, both may end in .MEMBER or #2.
func statistic(name string) (of string, found kind) {
	name = plainName(name)
	for _, separators := range []string{".#", "#", ""} {
		head, tail := name, ""
		if at := strings.IndexAny(name, separators); at >= 0 {
			head, tail = name[:at], name[at:]
		}
		for _, k := range kinds {
			if rest, ok := strings.CutSuffix("_"+head, k.ending); ok {
				return strings.TrimPrefix(rest, "_") + tail, k.kind
			}
		}
	}
	return "", measured
}

// newPlan also returns the columns of pooled samples. ignore names the attributes that may differ,
// name the set.
func newPlan(columns ingest.Columns, ignore []string, name string) (*plan, ingest.Columns, error) {
	p := &plan{}
	wrong := func(k int, format string, args ...any) error {
		shown := fault.Quote(columns.Phenotypes[k].Name)
		return fault.New(fault.Input, "name it in --ignore and not in --phenotypes, or rename it",
			"average samples of %s: phenotype %s "+format, append([]any{name, shown}, args...)...)
	}
	for k, phenotype := range columns.Phenotypes {
		of, found := statistic(phenotype.Name)
		owner := slices.IndexFunc(columns.Phenotypes, func(other ingest.Phenotype) bool {
			if phenotype.StatisticOf != "" {
				return other.Name == phenotype.StatisticOf
			}
			return of != "" && plainName(other.Name) == of
		})
		switch {
		case found == measured && phenotype.StatisticOf != "":
			return nil, columns, wrong(k, "is a statistic of %s, expected one that can be pooled: a standard deviation (_std), standard error (_se), variance (_variance) or p-value (_p_value)",
				fault.Quote(phenotype.StatisticOf))
		case found != measured && owner < 0:
			return nil, columns, wrong(k, "is a %s by its name, expected the phenotype that it belongs to beside it", found)
		case found == measured:
			p.measured = append(p.measured, k)
		}
		p.columns = append(p.columns, column{phenotype.Name, found, owner})
	}
	pooled := columns
	pooled.Phenotypes = slices.Clone(columns.Phenotypes)
	for k, column := range p.columns {
		if column.kind == measured {
			continue
		}
		if p.columns[column.of].kind != measured {
			return nil, columns, wrong(k, "is a %s of %s, which is a statistic itself", column.kind, fault.Quote(p.columns[column.of].name))
		}
		pooled.Phenotypes[k].StatisticOf = p.columns[column.of].name
	}
	taken := append(columns.PhenotypeNames(), columns.AttributeNames()...)
	for _, k := range p.measured {
		of := columns.Phenotypes[k]
		for _, added := range []ingest.Phenotype{
			{Name: of.Name + "_n", Description: "number of samples in the mean of " + of.Name, StatisticOf: of.Name},
			{Name: of.Name + "_sd", Unit: of.Unit, Description: "sample standard deviation (n-1) of the samples in the mean of " + of.Name,
				StatisticOf: of.Name},
		} {
			if slices.Contains(taken, added.Name) {
				return nil, columns, fault.New(fault.Input, "leave "+added.Name+" out with --not-phenotypes or --attributes, or rename it",
					"average samples of %s: found a column %s, but the mean of %s adds a column of that name",
					name, fault.Quote(added.Name), fault.Quote(of.Name))
			}
			pooled.Phenotypes = append(pooled.Phenotypes, added)
		}
	}
	for k, attribute := range columns.Attributes {
		if slices.Contains(ignore, attribute.Name) {
			p.ignored = append(p.ignored, k)
		}
	}
	return p, pooled, pooled.Check(name)
}

// describe lists the statistics.
func (p *plan) describe() (statistics []string) {
	for _, column := range p.columns {
		if column.kind != measured {
			statistics = append(statistics, column.name+" ("+string(column.kind)+" of "+p.columns[column.of].name+")")
		}
	}
	return statistics
}
