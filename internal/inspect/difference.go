package inspect

import (
	"bytes"
	"cmp"
	"context"
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"

	"tcbuild/ingest"
	"tcbuild/store"
)

// Differences lists, a line each, what differs between two datasets, A and B: what their manifests
// say of the graph, the rule and the columns of samples, then the first sample that differs. It is
// empty if the datasets have the same content; how they store masks does not count.
//
// It reads no masks: verify proves those of each dataset. Samples are read only if the digests of
// the logical content differ. Damage is an error of kind fault.Damaged.
func Differences(ctx context.Context, a, b *store.Dataset, progress Progress) ([]string, error) {
	lines := differingManifests(a.Manifest, b.Manifest)
	if a.Manifest.LogicalContent == b.Manifest.LogicalContent {
		return lines, nil
	}
	sample, err := firstDifferingSample(ctx, a, b, progress)
	if sample != "" {
		lines = append(lines, sample)
	}
	return lines, err
}

// Progress is told how many samples have been compared.
type Progress interface {
	Add(samples int, bytes int64)
}

func differingManifests(a, b *store.Manifest) (lines []string) {
	differ := func(what, ofA, ofB string) {
		if ofA != ofB {
			lines = append(lines, fmt.Sprintf("%s: %s in A, %s in B", what, ofA, ofB))
		}
	}
	sizes := func(m *store.Manifest) map[string]string {
		sizes := make(map[string]string)
		for _, mask := range m.Masks {
			sizes[mask.Name] = ingest.Grouped(mask.Size)
		}
		return sizes
	}
	sizesA, sizesB := sizes(a), sizes(b)
	for _, mask := range slices.Concat(a.Masks, b.Masks) {
		differ(mask.Name, cmp.Or(sizesA[mask.Name], "none"), cmp.Or(sizesB[mask.Name], "none"))
		delete(sizesA, mask.Name) // so that it is listed once
		delete(sizesB, mask.Name)
	}
	differ("digest of the graph's ids and edges", a.StructureDigest, b.StructureDigest)
	if a.StructureDigest == b.StructureDigest {
		differ("digest of the graph with names and other columns", a.GraphDigest, b.GraphDigest)
	}
	differ("reaction rule", string(a.Options.ReactionRule), string(b.Options.ReactionRule))
	differ("samples", ingest.Grouped(a.Samples), ingest.Grouped(b.Samples))
	names := func(names []string) string { return "[" + strings.Join(names, ", ") + "]" }
	differ("phenotypes", names(a.Columns().PhenotypeNames()), names(b.Columns().PhenotypeNames()))
	differ("attributes", names(a.Columns().AttributeNames()), names(b.Columns().AttributeNames()))
	return lines
}

// firstDifferingSample describes the first sample, by its number, that differs in its id, its
// deleted genes or the value of a column that both datasets have; "" if there is none.
func firstDifferingSample(
	ctx context.Context, a, b *store.Dataset, progress Progress,
) (string, error) {
	c := sampleComparison{columnsA: a.Manifest.Columns(), columnsB: b.Manifest.Columns()}
	for _, side := range []struct {
		dataset *store.Dataset
		reader  **store.Reader
		genes   **ingest.Nodes
	}{{a, &c.readerA, &c.genesA}, {b, &c.readerB, &c.genesB}} {
		cell, err := side.dataset.Graph()
		if err != nil {
			return "", err
		}
		*side.genes, *side.reader = cell.Genes, side.dataset.NewReader()
		defer (*side.reader).Close()
	}
	for number := range min(a.Manifest.Samples, b.Manifest.Samples) {
		if ctx.Err() != nil {
			return "", context.Cause(ctx)
		}
		line, err := c.compare(number)
		if line != "" || err != nil {
			return line, err
		}
		progress.Add(1, 0)
	}
	return "", nil
}

type sampleComparison struct {
	readerA, readerB   *store.Reader
	genesA, genesB     *ingest.Nodes
	columnsA, columnsB ingest.Columns
}

func (c *sampleComparison) compare(number int) (string, error) {
	a, err := c.readerA.Row(number)
	if err != nil {
		return "", err
	}
	b, err := c.readerB.Row(number)
	if err != nil {
		return "", err
	}
	differ := func(what, ofA, ofB string) (string, error) {
		return fmt.Sprintf("sample %d (id %s): %s: %s in A, %s in B", number, a.ID, what, ofA,
			ofB), nil
	}
	if !bytes.Equal(a.ID, b.ID) {
		return differ("id", string(a.ID), string(b.ID))
	}
	genesA, genesB := geneNames(c.genesA, a.Genes), geneNames(c.genesB, b.Genes)
	if genesA != genesB {
		return differ("deleted genes", genesA, genesB)
	}
	for k, name := range c.columnsA.PhenotypeNames() {
		at := slices.Index(c.columnsB.PhenotypeNames(), name)
		if at < 0 {
			continue
		}
		if ofA, ofB := exact(a.Phenotypes[k]), exact(b.Phenotypes[at]); ofA != ofB {
			return differ(name, ofA, ofB)
		}
	}
	for k, attribute := range c.columnsA.Attributes {
		at := slices.Index(c.columnsB.Attributes, attribute)
		if at < 0 {
			continue
		}
		ofA, ofB := valueText(a.Attributes[k], attribute), valueText(b.Attributes[at], attribute)
		if ofA != ofB {
			return differ(attribute.Name, ofA, ofB)
		}
	}
	return "", nil
}

func geneNames(genes *ingest.Nodes, deleted []uint32) string {
	var names []string
	for _, gene := range deleted {
		names = append(names, genes.IDs[gene])
	}
	if names == nil {
		return "none"
	}
	slices.Sort(names)
	return strings.Join(names, "|")
}

// exact writes all digits of a number: only equal ones have the same text.
func exact(x float64) string {
	if math.IsNaN(x) {
		return "missing"
	}
	return strconv.FormatFloat(x, 'g', -1, 64)
}

func valueText(value ingest.Value, attribute ingest.Attribute) string {
	switch {
	case attribute.Type == ingest.NumberAttribute:
		return exact(value.Number)
	case value.Text == nil:
		return "missing"
	}
	return fmt.Sprintf("%q", value.Text)
}
