package duplicates

import (
	"bytes"
	"fmt"
	"math"
	"slices"
	"strings"

	"tcbuild/fault"
	"tcbuild/ingest"
)

// shared lists the columns in which the samples of a group must agree to be merged. Otherwise a
// condition that nobody grouped by, such as the temperature, would be lost.
type shared struct {
	attributes []int // of the source
	phenotypes []int // only guessed: nobody says that they were measured
	firsts     []key // by group: the values of its first sample
}

// findShared finds the source's columns that must not differ within a group.
func (s *stage) findShared(source ingest.Columns) (all shared) {
	may := func(name string) bool {
		return slices.Contains(s.Ignore, name) || s.isStatistic(name)
	}
	for k, attribute := range source.Attributes {
		noCondition := attribute == ingest.RowAttribute || k == s.kinds() || may(attribute.Name)
		if !noCondition && !slices.Contains(s.groupBy, k) {
			all.attributes = append(all.attributes, k)
		}
	}
	for k, phenotype := range source.Phenotypes {
		if slices.Contains(source.Guessed, phenotype.Name) && !may(phenotype.Name) {
			all.phenotypes = append(all.phenotypes, k)
		}
	}
	return all
}

// isStatistic reports whether a column is, by its name, a statistic of a measured phenotype, such
// as its standard deviation or number of values. Statistics differ as the phenotype does.
func (s *stage) isStatistic(name string) bool {
	of, found := statistic(name)
	if found == measured {
		of, _ = strings.CutSuffix(plainName(name), "_n")
	}
	owns := func(p ingest.Phenotype) bool {
		return plainName(p.Name) == of && !slices.Contains(s.columns.Guessed, p.Name)
	}
	return of != plainName(name) && slices.ContainsFunc(s.columns.Phenotypes, owns)
}

// alike reports whether a sample's values, as sharedBy returns them, equal those of the first
// sample of its group.
func (s *shared) alike(group int, values key) bool {
	if group == len(s.firsts) {
		s.firsts = append(s.firsts, values)
	}
	return s.firsts[group] == values
}

// sharedBy returns the key of a sample's values in the shared columns.
func (g *groups) sharedBy(samples *ingest.Samples, i int, shared *shared) key {
	g.text = g.text[:0]
	for _, k := range shared.attributes {
		g.text = appendValue(g.text, g.attributes[k].Type, samples.Attribute(i, k))
	}
	for _, k := range shared.phenotypes {
		value := ingest.Value{Number: samples.Phenotypes(i)[k]}
		g.text = appendValue(g.text, ingest.NumberAttribute, value)
	}
	return keyOf(g.text)
}

// checkIgnore checks the names of the columns that may differ.
func (s *stage) checkIgnore() error {
	if len(s.Ignore) > 0 && !s.Merges() {
		return fault.New(fault.Usage, "omit it, or set --duplicates to first, last or mean",
			"read --ignore: found it with --duplicates %s, which merges no samples", s.Duplicates)
	}
	attributes, phenotypes := s.columns.AttributeNames(), s.columns.PhenotypeNames()
	all := slices.Concat(attributes, s.columns.Guessed, s.columns.Ignored)
	for _, name := range s.Ignore {
		switch {
		case slices.Contains(phenotypes, name):
			return fault.New(fault.Usage, "omit it: phenotypes may differ",
				"read --ignore: column %s of %s is a phenotype, expected another column",
				fault.Quote(name), s.name)
		case slices.Contains(s.GroupBy, name):
			return fault.New(fault.Usage, "name it once",
				"read --ignore: found %s in --group-by, too", fault.Quote(name))
		case !slices.Contains(all, name):
			hint := "name a column that is neither a phenotype nor one of genes or sample ids"
			if nearest := fault.Nearest(name, all); nearest != "" {
				hint = "did you mean " + fault.Quote(nearest) + "?"
			}
			return fault.New(fault.Input, hint,
				"read --ignore: found columns %s in %s, expected %s",
				listed(all), s.name, fault.Quote(name))
		}
	}
	return nil
}

// explainDifference returns the error for two samples of a group that differ in shared columns.
// under says what they were grouped by.
func (s *stage) explainDifference(pair [2]ingest.Sample, under string) error {
	source := s.SampleSource.Columns()
	var differing, unmeasured, found []string // names of columns; those that are no attributes
	see := func(column ingest.Attribute, a, b ingest.Value) {
		if bytes.Equal(appendValue(nil, column.Type, a), appendValue(nil, column.Type, b)) {
			return
		}
		differing = append(differing, column.Name)
		if !slices.Contains(s.columns.AttributeNames(), column.Name) {
			unmeasured = append(unmeasured, column.Name)
		}
		found = append(found, fmt.Sprintf("column %s with %s and %s",
			fault.Quote(column.Name), describe(column.Type, a), describe(column.Type, b)))
	}
	for _, k := range s.shared.phenotypes {
		column := ingest.Attribute{Name: source.Phenotypes[k].Name, Type: ingest.NumberAttribute}
		a, b := pair[0].Phenotypes[k], pair[1].Phenotypes[k]
		see(column, ingest.Value{Number: a}, ingest.Value{Number: b})
	}
	for _, k := range s.shared.attributes {
		see(source.Attributes[k], pair[0].Attributes[k], pair[1].Attributes[k])
	}
	var samples [2]string
	for i, sample := range pair {
		samples[i] = fault.Quote(sample.ID)
		if source.Compared == 0 { // a set in memory
			continue
		}
		row := sample.Attributes[len(sample.Attributes)-1].Number
		place, err := s.Place(int64(row))
		if err != nil {
			return err
		}
		samples[i] += " (" + place + ")"
	}
	return fault.New(fault.Input, s.differenceHint(differing, unmeasured),
		"merge samples of %s: %s and %s both delete %s%s: found %s, "+
			"expected one value in a merged sample",
		s.name, samples[0], samples[1], s.genotypeOf(pair[0]), under, strings.Join(found, ", "))
}

// differenceHint says how to declare what the differing columns are.
func (s *stage) differenceHint(differing, unmeasured []string) string {
	hint := "name it in --group-by if it is a condition, or in --ignore if it may differ"
	if len(unmeasured) > 0 {
		isKinds := func(name string) bool { return name == s.columns.Kinds }
		all := append(slices.DeleteFunc(s.columns.AttributeNames(), isKinds), unmeasured...)
		hint = "name it in --phenotypes if it was measured, in --group-by if it is a condition " +
			"(with --attributes " + strings.Join(all, ",") + "), or in --ignore if it may differ"
	}
	if len(differing) > 1 {
		hint = "for each column: " + hint
	}
	return hint
}

// genotypeOf lists the genes that a sample deletes.
func (s *stage) genotypeOf(sample ingest.Sample) string {
	if len(sample.Genes) == 0 {
		return "no gene"
	}
	var names []string
	for _, gene := range sample.Genes {
		names = append(names, s.genes.IDs[gene])
	}
	return strings.Join(names, "|")
}

func describe(values ingest.AttributeType, value ingest.Value) string {
	isText := values == ingest.TextAttribute
	switch {
	case isText && value.Text == nil, !isText && math.IsNaN(value.Number):
		return "a missing value"
	case isText:
		return fault.Quote(value.Text)
	}
	return fmt.Sprint(value.Number)
}
