package inspect

import (
	"context"
	"fmt"
	"slices"

	"tcbuild/incidence"
	"tcbuild/ingest"
	"tcbuild/store"
)

// Progress is told how many samples of A have been compared.
type Progress interface {
	Add(samples int, bytes int64)
}

// CompareDatasets compares two datasets: their graphs as CompareGraphs does, their reaction rules and
// phenotypes, and their samples, matched by id: genotypes, phenotypes and stored masks. Masks are
// compared at the nodes and edges that both graphs have. It keeps up to limit examples of each kind
// of difference, 0 for all.
//
// Damage is an error (fault.Damaged). Memory holds both graphs and, if the samples differ or are in
// another order in B, their ids.
func CompareDatasets(ctx context.Context, a, b *store.Dataset, limit int, progress Progress) (*Differences, error) {
	graphA, err := a.Graph()
	if err != nil {
		return nil, err
	}
	graphB, err := b.Graph()
	if err != nil {
		return nil, err
	}
	graphs := graphComparison{a: graphA, b: graphB, report: newDifferences(limit)}
	graphs.compare()
	if ruleA, ruleB := a.Manifest.Options.ReactionRule, b.Manifest.Options.ReactionRule; ruleA != ruleB {
		graphs.report.add("reaction rule", func() string { return fmt.Sprintf("%s in A, %s in B", ruleA, ruleB) })
	}
	s := &sampleComparison{graphComparison: graphs}
	s.compareColumns(a.Manifest.Columns(), b.Manifest.Columns())
	for i, dataset := range []*store.Dataset{a, b} {
		reader, err := dataset.NewMaskReader()
		if err != nil {
			return nil, err
		}
		defer reader.Close()
		s.readers[i], s.layouts[i] = reader, dataset.Layout()
	}
	s.samePositions = s.sameTables()
	s.samePayloads = s.samePositions && a.Manifest.Variant != store.Incidence &&
		a.Manifest.Variant == b.Manifest.Variant && a.Manifest.Codec == b.Manifest.Codec
	if err := s.compare(ctx, a.Manifest.Samples, b.Manifest.Samples, progress); err != nil {
		return nil, err
	}
	s.report.unless("logical content, such as the order of samples", a.Manifest.LogicalContent, b.Manifest.LogicalContent)
	return s.report, nil
}

// compareColumns reports phenotypes and attributes that only one dataset has or whose type differs,
// and finds those that both have.
func (s *sampleComparison) compareColumns(a, b ingest.Columns) {
	compareNames(s.report, "phenotypes", a.PhenotypeNames(), b.PhenotypeNames())
	compareNames(s.report, "attributes", a.AttributeNames(), b.AttributeNames())
	for i, name := range a.PhenotypeNames() {
		if other := slices.Index(b.PhenotypeNames(), name); other >= 0 {
			s.phenotypes = append(s.phenotypes, pairedColumn{name, i, other, ingest.NumberAttribute})
		}
	}
	for i, attribute := range a.Attributes {
		switch other := slices.Index(b.AttributeNames(), attribute.Name); {
		case other < 0:
		case b.Attributes[other].Type != attribute.Type:
			s.report.add("attributes of another type", func() string {
				return fmt.Sprintf("%s: %s in A, %s in B", attribute.Name, attribute.Type, b.Attributes[other].Type)
			})
		default:
			s.attributes = append(s.attributes, pairedColumn{attribute.Name, i, other, attribute.Type})
		}
	}
}

func compareNames(report *Differences, what string, a, b []string) {
	only := func(where side, names, others []string) {
		for _, name := range names {
			if !slices.Contains(others, name) {
				report.add(fmt.Sprintf("%s only in %s", what, where), func() string { return name })
			}
		}
	}
	only(inA, a, b)
	only(inB, b, a)
}

// sameTables reports whether both graphs have the same nodes and edges in the same order.
func (c *graphComparison) sameTables() bool {
	sameTypes := slices.Equal(incidence.NewLayout(c.a).Masks, incidence.NewLayout(c.b).Masks)
	for _, paired := range c.matches {
		sameTypes = sameTypes && paired.same
	}
	return sameTypes
}

// positionName names a position of a mask of a graph.
func positionName(graph *ingest.Graph, mask string, position int) string {
	if edgeType, err := ingest.ParseEdgeType(mask); err == nil {
		return fmt.Sprintf("%s (position %d)", edgeName(graph, graph.EdgesOf(edgeType), position), position)
	}
	return graph.NodesOf(mask).IDs[position]
}
