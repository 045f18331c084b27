package duplicates

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"math"
	"slices"
	"strings"

	"tcbuild/fault"
	"tcbuild/ingest"
)

// clash is the error of two samples of one group, by their numbers: a genotype repeats, or they
// differ in a column in which merged samples must agree.
type clash struct{ earlier, later int32 }

func (*clash) Error() string { return "a genotype repeats" }

// explain names both samples, for which it reads the source again.
func (s *stage) explain(ctx context.Context, c *clash) error {
	var pair [2]ingest.Sample
	see := func(at int, sample *ingest.Sample) error {
		if pair[at] = sample.Clone(); at == 1 {
			return errStopped
		}
		return nil
	}
	err := s.readAgain(ctx, []int32{c.earlier, c.later}, int(c.later)+1, see)
	if !errors.Is(err, errStopped) {
		return err
	}
	under := ""
	if len(s.GroupBy) > 0 {
		under = " and have the same " + strings.Join(s.GroupBy, ", ")
	}
	if s.Merges() {
		return s.explainDifference(pair, under)
	}
	return fault.New(fault.Input, "set --duplicates to keep, first, last or mean, "+
		"or name attributes that distinguish them with --group-by",
		"read perturbations %s: samples %s and %s (numbers %d and %d, counted from 0) "+
			"delete the same genes%s, expected each genotype once",
		s.name, fault.Quote(pair[0].ID), fault.Quote(pair[1].ID), c.earlier, c.later, under)
}

// explainDifference returns the error for two samples of a group that differ in shared columns.
// under says what they were grouped by.
func (s *stage) explainDifference(pair [2]ingest.Sample, under string) error {
	var differing, unmeasured, found []string // names of columns; those that are no attributes
	for _, f := range s.compared() {
		a, b := f.value(&pair[0]), f.value(&pair[1])
		if bytes.Equal(appendValue(nil, f.Type, a), appendValue(nil, f.Type, b)) {
			continue
		}
		differing = append(differing, f.Name)
		if !slices.Contains(s.columns.AttributeNames(), f.Name) {
			unmeasured = append(unmeasured, f.Name)
		}
		found = append(found, fmt.Sprintf("column %s with %s and %s",
			fault.Quote(f.Name), describe(f.Type, a), describe(f.Type, b)))
	}
	var samples [2]string
	for i, sample := range pair {
		samples[i] = fault.Quote(sample.ID)
		if s.SampleSource.Columns().Compared == 0 { // a set in memory
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
		hint = "name it in --phenotypes if it was measured, in --group-by if it is a condition " +
			"(with --attributes " + s.attributesAnd(unmeasured) +
			"), or in --ignore if it may differ"
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
