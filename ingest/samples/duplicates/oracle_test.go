package duplicates

import (
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"tcbuild/ingest"
	"tcbuild/internal/testing/seed"
	"tcbuild/internal/testing/testrun"
)

// Random sets are treated as by the maps of an oracle.
func TestOracle(t *testing.T) {
	random := seed.Rand(t)
	for range testrun.Cases(60, 15) {
		set := randomSet(random)
		for _, choice := range Choices {
			var groupBy []string
			for _, name := range set.columns.AttributeNames() {
				if random.IntN(2) == 0 {
					groupBy = append(groupBy, name)
				}
			}
			rule := Rule{Choice(choice), groupBy, nil}
			if rule.Merges() {
				for _, name := range set.columns.AttributeNames() {
					if !slices.Contains(groupBy, name) && random.IntN(2) == 0 {
						rule.Ignore = append(rule.Ignore, name)
					}
				}
			}
			want, repeats, refused := oracle(set, rule)
			rows, _, counts, err := apply(t, set, rule)
			switch {
			case refused != (err != nil):
				t.Fatalf("%+v: %v, expected an error: %v, of\n%s", rule, err, refused,
					shown(set.rows))
			case refused:
			case !alike(rows, want):
				t.Fatalf("%+v: found\n%s\nwant\n%s\nof\n%s", rule, shown(rows), shown(want),
					shown(set.rows))
			case counts.Repeats != repeats || counts.Kept != len(want) || !counts.IsComplete():
				t.Fatalf("%+v: found %+v, want %+v", rule, counts.Repeats, repeats)
			}
		}
	}
}

// alike reports whether rows are the same but for the rounding of their numbers.
func alike(found, want []row) bool {
	return slices.EqualFunc(found, want, func(a, b row) bool {
		numbers := slices.EqualFunc(a.phenotypes, b.phenotypes, func(x, y float64) bool {
			return math.Abs(x-y) <= 1e-12*math.Abs(y) || math.IsNaN(x) && math.IsNaN(y)
		})
		a.phenotypes = b.phenotypes
		return numbers && show(a) == show(b)
	})
}

func randomSet(random *rand.Rand) *memory {
	set := &memory{
		size:    1 + random.IntN(7),
		columns: ingest.Columns{Phenotypes: ingest.NamedPhenotypes("y", "y_std", "z", "z_se")},
	}
	for k := range random.IntN(3) {
		set.columns.Attributes = append(set.columns.Attributes,
			ingest.Attribute{Name: fmt.Sprint("a", k),
				Type: []ingest.AttributeType{ingest.TextAttribute, ingest.NumberAttribute}[k]})
	}
	values, genes := 1+random.IntN(3), 1+random.IntN(4)
	for i := range random.IntN(60) {
		r := row{id: fmt.Sprint("s", i)}
		for gene := range genes {
			if random.IntN(2) == 0 {
				r.genes = append(r.genes, uint32(gene))
			}
		}
		for range set.columns.Phenotypes {
			value := float64(random.IntN(5))
			if random.IntN(4) == 0 {
				value = nan
			}
			r.phenotypes = append(r.phenotypes, value)
		}
		for k := range set.columns.Attributes {
			value := ingest.Value{}
			switch n := random.IntN(values); {
			case k == 0 && n > 0:
				value = text([]string{"", "x"}[n-1])
			case k == 1 && n == 0:
				value.Number = nan
			case k == 1:
				value.Number = float64(n)
			}
			r.attributes = append(r.attributes, value)
		}
		set.rows = append(set.rows, r)
	}
	return set
}

// oracle treats a set as a rule asks, with maps of texts. It reports whether it is refused.
func oracle(set *memory, rule Rule) (rows []row, repeats ingest.Repeats, refused bool) {
	conditionOf := func(r row, among func(name string) bool) string {
		s := ""
		for k, attribute := range set.columns.Attributes {
			if among(attribute.Name) {
				s += fmt.Sprintf("%v %q %v|", r.attributes[k].Text == nil, r.attributes[k].Text,
					r.attributes[k].Number)
			}
		}
		return s
	}
	grouped := func(name string) bool { return slices.Contains(rule.GroupBy, name) }
	genotypes, conditions, groups := map[string]int{}, map[string]bool{}, map[string][]row{}
	var order []string
	for _, r := range set.rows {
		genotypes[fmt.Sprint(r.genes)]++
		condition := conditionOf(r, grouped)
		conditions[condition] = true
		group := fmt.Sprint(r.genes) + condition
		if groups[group] == nil {
			order = append(order, group)
		}
		groups[group] = append(groups[group], r)
	}
	for _, samples := range genotypes {
		if repeats.Genotypes++; samples > 1 {
			repeats.RepeatedGenotypes++
			repeats.RepeatedSamples += samples
		}
	}
	if len(rule.GroupBy) > 0 {
		repeats.Conditions = len(conditions)
	}
	for _, group := range order {
		samples := groups[group]
		for _, r := range samples {
			others := func(name string) bool {
				return !grouped(name) && !slices.Contains(rule.Ignore, name)
			}
			differ := conditionOf(r, others) != conditionOf(samples[0], others)
			refused = refused || rule.Merges() && differ
		}
		switch rule.Duplicates {
		case Error:
			refused = refused || len(samples) > 1
		case First:
			rows = append(rows, samples[0])
		case Last:
			rows = append(rows, samples[len(samples)-1])
		case Mean:
			r := samples[0]
			r.attributes = slices.Clone(r.attributes)
			for k, attribute := range set.columns.Attributes {
				one := func(name string) bool { return name == attribute.Name }
				for _, other := range samples {
					if conditionOf(other, one) != conditionOf(samples[0], one) {
						r.attributes[k] = ingest.Value{Number: nan}
					}
				}
			}
			r.phenotypes = append(oracleMean(samples, 0, false), oracleMean(samples, 2, true)...)
			y, z := r.phenotypes[:4], r.phenotypes[4:]
			r.phenotypes = []float64{y[0], y[1], z[0], z[1], y[2], y[3], z[2], z[3]}
			rows = append(rows, r)
		}
	}
	switch rule.Duplicates {
	case Keep, Error:
		rows = set.rows
	case Last:
		slices.SortFunc(rows, func(a, b row) int {
			at := func(r row) int {
				return slices.IndexFunc(set.rows, func(other row) bool { return other.id == r.id })
			}
			return at(a) - at(b)
		})
	}
	return rows, repeats, refused
}

// oracleMean returns mean, statistic, n and sd of phenotype k, whose statistic is k+1. Values are
// small integers, of which sums are exact in any order.
func oracleMean(samples []row, k int, standardError bool) []float64 {
	if len(samples) == 1 {
		r := samples[0].phenotypes
		n := 1.0
		if math.IsNaN(r[k]) {
			n = 0
		}
		return []float64{r[k], r[k+1], n, nan}
	}
	var sum, squares, n, statistics, statisticSquares float64
	for _, r := range samples {
		if value := r.phenotypes[k]; !math.IsNaN(value) {
			n, sum = n+1, sum+value
			if statistic := r.phenotypes[k+1]; !math.IsNaN(statistic) {
				statistics, statisticSquares = statistics+1, statisticSquares+statistic*statistic
			}
		}
	}
	for _, r := range samples {
		if value := r.phenotypes[k]; !math.IsNaN(value) {
			squares += (value - sum/n) * (value - sum/n)
		}
	}
	statistic := math.Sqrt(statisticSquares / statistics)
	if standardError {
		if statistic = math.Sqrt(statisticSquares) / n; statistics != n {
			statistic = nan
		}
	}
	sd := nan
	if n > 1 {
		sd = math.Sqrt(squares / (n - 1))
	}
	return []float64{sum / n, statistic, n, sd}
}
