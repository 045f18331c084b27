package duplicates

import (
	"fmt"
	"slices"
	"strings"

	"tcbuild/fault"
	"tcbuild/ingest"
)

// plan says how the phenotypes of a group become one sample's. A measured one is the mean of
// the values that are there, which NAME_n counts; NAME_sd is their sample standard deviation (n-1).
// A statistic is pooled over the samples in which its phenotype is measured; if that is one, it
// stays as it is. docs/input.md has the rules as a table.
type plan struct {
	columns  []column // of the phenotypes that are there
	measured []int    // of them; each has two more after all others: NAME_n, NAME_sd
	ignored  []field  // attributes that may differ; the mean has no value where they do
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
	{"_std", standardDeviation}, {"_sd", standardDeviation},
	{"_standard_deviation", standardDeviation},
	{"_se", standardError}, {"_standard_error", standardError}, {"_variance", variance},
	{"_p_value", pValue}, {"_pvalue", pValue},
}

// plain is a name as endings are compared.
var plain = strings.NewReplacer("-", "_", " ", "_")

func plainName(name string) string { return plain.Replace(strings.ToLower(name)) }

// statistic finds, from a column's name, the kind of statistic and the plainName of its phenotype.
// In torchcell's names, both may end in .MEMBER or #2.
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
			return nil, columns, wrong(k, "is a statistic of %s, expected one that can be pooled: "+
				"a standard deviation (_std), standard error (_se), variance (_variance) "+
				"or p-value (_p_value)", fault.Quote(phenotype.StatisticOf))
		case found != measured && owner < 0:
			return nil, columns, wrong(k, "is a %s by its name, "+
				"expected the phenotype that it belongs to beside it", found)
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
			return nil, columns, wrong(k, "is a %s of %s, which is a statistic itself",
				column.kind, fault.Quote(p.columns[column.of].name))
		}
		pooled.Phenotypes[k].StatisticOf = p.columns[column.of].name
	}
	taken := append(columns.PhenotypeNames(), columns.AttributeNames()...)
	for _, k := range p.measured {
		of := columns.Phenotypes[k]
		inMean := "samples in the mean of " + of.Name
		for _, added := range []ingest.Phenotype{
			{Name: of.Name + "_n", Description: "number of " + inMean},
			{Name: of.Name + "_sd", Unit: of.Unit,
				Description: "sample standard deviation (n-1) of the " + inMean},
		} {
			if slices.Contains(taken, added.Name) {
				return nil, columns, fault.New(fault.Input,
					"leave "+added.Name+" out with --not-phenotypes or --attributes, or rename it",
					"average samples of %s: found a column %s, "+
						"but the mean of %s adds a column of that name",
					name, fault.Quote(added.Name), fault.Quote(of.Name))
			}
			added.StatisticOf = of.Name
			pooled.Phenotypes = append(pooled.Phenotypes, added)
		}
	}
	for k, attribute := range columns.Attributes {
		if slices.Contains(ignore, attribute.Name) {
			p.ignored = append(p.ignored, field{Attribute: attribute, number: k})
		}
	}
	return p, pooled, pooled.Check(name)
}

// describe lists the statistics.
func (p *plan) describe() (statistics []string) {
	for _, column := range p.columns {
		if column.kind != measured {
			statistics = append(statistics,
				fmt.Sprintf("%s (%s of %s)", column.name, column.kind, p.columns[column.of].name))
		}
	}
	return statistics
}
