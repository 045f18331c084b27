package duplicates

import (
	"slices"
	"strings"

	"tcbuild/fault"
	"tcbuild/ingest"
)

// findGroupBy finds the attributes that samples are grouped by.
func (s *stage) findGroupBy() error {
	names, phenotypes := s.columns.AttributeNames(), s.columns.PhenotypeNames()
	isAttribute := func(name string) bool { return slices.Contains(names, name) }
	for _, name := range s.GroupBy {
		at := slices.Index(names, name)
		switch {
		case slices.Contains(phenotypes, name):
			// --attributes replaces the default, so it has to name the others, too
			others := slices.DeleteFunc(slices.Clone(s.GroupBy), isAttribute)
			return fault.New(fault.Input, "pass --attributes "+s.attributesAnd(others),
				"read --group-by: column %s of %s is a phenotype, expected an attribute",
				fault.Quote(name), s.name)
		case at < 0:
			hint := fault.DidYouMean(name, names,
				"name an attribute, or keep the column with --attributes")
			return fault.New(fault.Input, hint,
				"read --group-by: found attributes %s in %s, expected %s",
				listed(names), s.name, fault.Quote(name))
		case slices.ContainsFunc(s.groupBy, func(f field) bool { return f.number == at }):
			return fault.New(fault.Usage, "name it once",
				"read --group-by: found %s twice", fault.Quote(name))
		}
		s.groupBy = append(s.groupBy, field{Attribute: s.columns.Attributes[at], number: at})
	}
	return nil
}

// attributesAnd lists the attributes and further columns, as --attributes does.
func (s *stage) attributesAnd(others []string) string {
	isKinds := func(name string) bool { return name == s.columns.Kinds }
	names := slices.DeleteFunc(s.columns.AttributeNames(), isKinds)
	return strings.Join(append(names, others...), ",")
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
			hint := fault.DidYouMean(name, all,
				"name a column that is neither a phenotype nor one of genes or sample ids")
			return fault.New(fault.Input, hint,
				"read --ignore: found columns %s in %s, expected %s",
				listed(all), s.name, fault.Quote(name))
		}
	}
	return nil
}

func listed(names []string) string {
	if len(names) == 0 {
		return "(none)"
	}
	return fault.List(names)
}

// kinds are the attributes that are a part of genotypes: one, or none.
func (s *stage) kinds() (fields []field) {
	for k, attribute := range s.columns.Attributes {
		if s.columns.KindsApart && attribute.Name == s.columns.Kinds {
			fields = append(fields, field{Attribute: attribute, number: k})
		}
	}
	return fields
}

// compared are the columns of the source in which the samples of a group must agree to be merged.
// Otherwise a condition that nobody grouped by, such as the temperature, would be lost. Phenotypes
// are compared if they are only guessed: nobody says that they were measured.
func (s *stage) compared() (fields []field) {
	source := s.SampleSource.Columns()
	mayDiffer := func(name string) bool {
		return slices.Contains(s.Ignore, name) || s.isStatistic(name)
	}
	others := slices.Concat(s.kinds(), s.groupBy)
	for k, attribute := range source.Attributes {
		f := field{Attribute: attribute, number: k}
		noCondition := attribute == ingest.RowAttribute || slices.Contains(others, f)
		if !noCondition && !mayDiffer(attribute.Name) {
			fields = append(fields, f)
		}
	}
	for k, phenotype := range source.Phenotypes {
		if slices.Contains(source.Guessed, phenotype.Name) && !mayDiffer(phenotype.Name) {
			attribute := ingest.Attribute{Name: phenotype.Name, Type: ingest.NumberAttribute}
			fields = append(fields, field{attribute, true, k})
		}
	}
	return fields
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
