package inspect

import (
	"bytes"
	"cmp"
	"context"
	"encoding/binary"
	"fmt"
	"math"
	"runtime"
	"slices"
	"strconv"
	"strings"

	"tcbuild/incidence"
	"tcbuild/ingest"
	"tcbuild/internal/inorder"
	"tcbuild/store"
)

type sampleComparison struct {
	graphComparison
	readers       [2]*store.MaskReader // of A and B
	layouts       [2]incidence.Layout
	pairs         []columnPair[*store.Sample]
	samePositions bool // a position of the mask space means the same in both
	samePayloads  bool // equal payloads mean equal masks
}

// stretchSamples is how many samples a goroutine compares at a time.
var stretchSamples = 512

type stretch struct {
	first, samples int
	report         *Differences
	err            error
}

// compare compares the samples of A with their counterparts in B, on all cores.
func (s *sampleComparison) compare(ctx context.Context, samplesA, samplesB int,
	progress Progress) error {
	paired, err := s.matchSamples(ctx, samplesA, samplesB)
	if err != nil {
		return err
	}
	workers := make([]func(*stretch), runtime.GOMAXPROCS(0))
	for i := range workers {
		worker := *s
		worker.pairs = slices.Clone(s.pairs)
		for k, reader := range s.readers {
			worker.readers[k] = reader.Clone()
			defer worker.readers[k].Close()
		}
		workers[i] = func(next *stretch) {
			worker.report = newDifferences(s.report.limit)
			for a := next.first; a < next.first+next.samples && next.err == nil; a++ {
				if b, found := paired.rowB(a); found {
					next.err = worker.pair(a, b)
				}
			}
			next.report = worker.report
		}
	}
	stretches := inorder.Each(ctx, workers, func(send func(*stretch) error) error {
		for first := 0; first < samplesA; first += stretchSamples {
			if err := send(&stretch{first: first,
				samples: min(stretchSamples, samplesA-first)}); err != nil {
				return err
			}
		}
		return nil
	})
	for next, err := range stretches {
		if err = cmp.Or(err, next.err); err != nil {
			return err
		}
		s.report.merge(next.report)
		progress.Add(next.samples, 0)
	}
	return s.reportUnpaired(paired)
}

// matchSamples pairs samples by id. Of several samples of one id, the first of A is paired with the
// first of B, and so on.
func (s *sampleComparison) matchSamples(ctx context.Context, samplesA,
	samplesB int) (match, error) {
	same := samplesA == samplesB
	for i := 0; same && i < samplesA; i++ {
		a, errA := s.readers[0].Row(i)
		b, errB := s.readers[1].Row(i)
		if err := cmp.Or(errA, errB, context.Cause(ctx)); err != nil {
			return match{}, err
		}
		same = bytes.Equal(a.ID, b.ID)
	}
	if same {
		return identical, nil
	}
	var ids [2][]string
	for k, samples := range []int{samplesA, samplesB} {
		for i := range samples {
			row, err := s.readers[k].Row(i)
			if err := cmp.Or(err, context.Cause(ctx)); err != nil {
				return match{}, err
			}
			ids[k] = append(ids[k], string(row.ID))
		}
	}
	return matchKeys(ids[0], ids[1]), nil
}

func (s *sampleComparison) reportUnpaired(paired match) error {
	var onlyA []int32
	for a, b := range paired.toB {
		if b < 0 {
			onlyA = append(onlyA, int32(a))
		}
	}
	for k, samples := range [][]int32{onlyA, paired.onlyB} {
		for _, sample := range samples {
			row, err := s.readers[k].Row(int(sample))
			if err != nil {
				return err
			}
			s.report.add(fmt.Sprintf("samples only in %s", []string{"A", "B"}[k]),
				func() string { return sampleName(row.ID, int(sample)) })
		}
	}
	return nil
}

func sampleName(id []byte, number int) string { return fmt.Sprintf("%s (number %d)", id, number) }

// pair compares sample a of A with its counterpart, sample b of B.
func (s *sampleComparison) pair(a, b int) error {
	storedA, err := s.readers[0].Stored(a)
	if err != nil {
		return err
	}
	storedB, err := s.readers[1].Stored(b)
	if err != nil {
		return err
	}
	name := sampleName(storedA.ID, a)
	s.genotypes(name, storedA, storedB)
	s.values(name, storedA, storedB)
	if s.samePayloads && bytes.Equal(storedA.Payload, storedB.Payload) {
		return nil
	}
	_, removedA, err := s.readers[0].Sample(a)
	if err != nil {
		return err
	}
	_, removedB, err := s.readers[1].Sample(b)
	if err != nil {
		return err
	}
	if !s.samePositions || !slices.Equal(removedA, removedB) {
		s.masks(name, removedA, removedB)
	}
	return nil
}

func (s *sampleComparison) genotypes(name string, a, b *store.Sample) {
	genes := s.matches[ingest.Gene].positions(a.Genes)
	if slices.Equal(genes, b.Genes) && len(genes) == len(a.Genes) {
		return
	}
	s.report.add("samples with other deleted genes", func() string {
		return fmt.Sprintf("%s: %s in A, %s in B", name, geneNames(s.a, a.Genes),
			geneNames(s.b, b.Genes))
	})
}

func geneNames(graph *ingest.Graph, genes []uint32) string {
	var names []string
	for _, gene := range genes {
		names = append(names, graph.Genes.IDs[gene])
	}
	if names == nil {
		return "none"
	}
	return strings.Join(names, "|")
}

func (s *sampleComparison) values(name string, a, b *store.Sample) {
	for i := range s.pairs {
		if c := &s.pairs[i]; !c.same(a, b) {
			s.report.add("samples with another "+c.a.name,
				func() string { return name + ": " + c.texts(a, b) })
		}
	}
}

// sampleColumns are the phenotypes and the attributes of samples.
func sampleColumns(
	columns ingest.Columns,
) (phenotypes, attributes []column[*store.Sample]) {
	for i, name := range columns.PhenotypeNames() {
		phenotypes = append(phenotypes, valueColumn(name, ingest.NumberAttribute,
			func(s *store.Sample) ingest.Value { return ingest.Value{Number: s.Phenotypes[i]} }))
	}
	for i, attribute := range columns.Attributes {
		attributes = append(attributes, valueColumn(attribute.Name, attribute.Type,
			func(s *store.Sample) ingest.Value { return s.Attributes[i] }))
	}
	return phenotypes, attributes
}

// valueColumn is a column of numbers or texts. Numbers are different if -0 is not 0, and all
// missing ones (NaN) are equal.
func valueColumn(name string, values ingest.AttributeType,
	of func(*store.Sample) ingest.Value) column[*store.Sample] {
	c := column[*store.Sample]{name: name, values: string(values)}
	if values == ingest.NumberAttribute {
		c.key = func(dst []byte, s *store.Sample) []byte {
			number := of(s).Number
			if math.IsNaN(number) {
				number = math.NaN()
			}
			return binary.LittleEndian.AppendUint64(dst, math.Float64bits(number))
		}
		c.text = func(s *store.Sample) string { return exact(of(s).Number) }
		return c
	}
	c.key = func(dst []byte, s *store.Sample) []byte {
		if text := of(s).Text; text != nil {
			dst = append(append(dst, 1), text...)
		}
		return dst
	}
	c.text = func(s *store.Sample) string {
		if text := of(s).Text; text != nil {
			return string(text)
		}
		return "missing"
	}
	return c
}

// exact writes all digits of a number.
func exact(x float64) string {
	if math.IsNaN(x) {
		return "missing"
	}
	return strconv.FormatFloat(x, 'g', -1, 64)
}

// Progress is told how many samples of A have been compared.
type Progress interface {
	Add(samples int, bytes int64)
}

// CompareDatasets compares two datasets: their graphs as CompareGraphs does, their reaction rules
// and phenotypes, and their samples, matched by id: genotypes, phenotypes and stored masks. Masks
// are compared at the nodes and edges that both graphs have. It keeps up to limit examples of each
// kind of difference, 0 for all.
//
// Damage is an error (fault.Damaged). Memory holds both graphs and, if the samples differ or are in
// another order in B, their ids.
func CompareDatasets(ctx context.Context, a, b *store.Dataset, limit int,
	progress Progress) (*Differences, error) {
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
	ruleA, ruleB := a.Manifest.Options.ReactionRule, b.Manifest.Options.ReactionRule
	if ruleA != ruleB {
		graphs.report.add("reaction rule",
			func() string { return fmt.Sprintf("%s in A, %s in B", ruleA, ruleB) })
	}
	s := &sampleComparison{graphComparison: graphs}
	phenotypesA, attributesA := sampleColumns(a.Manifest.Columns())
	phenotypesB, attributesB := sampleColumns(b.Manifest.Columns())
	collect := func(pair columnPair[*store.Sample]) { s.pairs = append(s.pairs, pair) }
	pairColumns(s.report, "phenotypes", phenotypesA, phenotypesB, collect)
	pairColumns(s.report, "attributes", attributesA, attributesB, collect)
	for i, dataset := range []*store.Dataset{a, b} {
		reader, err := dataset.NewMaskReader()
		if err != nil {
			return nil, err
		}
		defer reader.Close()
		s.readers[i], s.layouts[i] = reader, dataset.Layout()
	}
	s.samePositions = s.sameTables()
	sameForm := a.Manifest.Variant == b.Manifest.Variant && a.Manifest.Codec == b.Manifest.Codec
	hasPayloads := a.Manifest.Variant != store.Incidence
	s.samePayloads = s.samePositions && sameForm && hasPayloads
	if err := s.compare(ctx, a.Manifest.Samples, b.Manifest.Samples, progress); err != nil {
		return nil, err
	}
	s.report.unless("logical content, such as the order of samples", a.Manifest.LogicalContent,
		b.Manifest.LogicalContent)
	return s.report, nil
}

// sameTables reports whether both graphs have the same nodes and edges in the same order.
func (c *graphComparison) sameTables() bool {
	sameTypes := slices.Equal(incidence.NewLayout(c.a).Masks, incidence.NewLayout(c.b).Masks)
	for _, paired := range c.matches {
		sameTypes = sameTypes && paired.same
	}
	return sameTypes
}
