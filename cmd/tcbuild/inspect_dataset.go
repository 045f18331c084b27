package main

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"math"
	"strconv"
	"strings"

	"github.com/dustin/go-humanize/english"

	"tcbuild/fault"
	"tcbuild/incidence"
	"tcbuild/ingest"
	"tcbuild/internal/inspect"
	"tcbuild/store"
)

func inspectDataset(ctx context.Context, e *env, path string, o inspectOptions) error {
	dataset, err := store.Open(path)
	if err != nil {
		return err
	}
	if o.samples != "" {
		if o.html != "" {
			return fault.New(fault.Usage, "omit --samples",
				"inspect %s: --html shows all samples, found --samples %s", path, o.samples)
		}
		return inspectSamples(ctx, e, dataset, o.samples, o.json)
	}
	summary, err := inspect.Dataset(ctx, dataset)
	if err != nil {
		return err
	}
	return show(e, summary, summary.Page(path), o)
}

func inspectSamples(ctx context.Context, e *env, dataset *store.Dataset, text string, asJSON bool) error {
	first, next, err := parseRange(text, dataset.Manifest.Samples)
	if err != nil {
		return err
	}
	graph, err := dataset.Graph()
	if err != nil {
		return err
	}
	reader, err := dataset.NewMaskReader()
	if err != nil {
		return err
	}
	defer reader.Close()
	p := samplePrinter{genes: graph.Genes.IDs, columns: dataset.Manifest.Columns(), layout: dataset.Layout()}
	for number := first; number < next && ctx.Err() == nil && err == nil; number++ {
		err = p.print(reader, number, asJSON)
		if p.out.Len() > 1<<16 { // at the end of a sample, not within a character
			err = errors.Join(err, p.flush(e))
		}
	}
	return errors.Join(err, p.flush(e), context.Cause(ctx))
}

// parseRange parses A:B, A:, :B or A like a Python slice, without negative numbers.
func parseRange(text string, samples int) (first, next int, err error) {
	from, to, isRange := strings.Cut(text, ":")
	first, next = 0, samples
	if from != "" {
		first, err = strconv.Atoi(from)
	}
	if to != "" && err == nil {
		next, err = strconv.Atoi(to)
	}
	if !isRange {
		next = first + 1
	}
	if err != nil || first < 0 || next < first || from == "" && to == "" && !isRange {
		return 0, 0, fault.New(fault.Usage, "for samples 10 to 19 write --samples 10:20",
			"read --samples: found %q, expected A:B with 0 <= A <= B", text)
	}
	if isRange {
		next = min(next, samples) // as slices are in Python
	}
	if first > samples || next > samples {
		return 0, 0, fault.New(fault.Usage, "samples are numbered from 0",
			"read --samples %s: the dataset has %s %s", text, humanCount(samples), english.PluralWord(samples, "sample", ""))
	}
	return first, next, nil
}

// samplePrinter prints samples.
type samplePrinter struct {
	out     bytes.Buffer
	genes   []string // ids by index
	columns ingest.Columns
	layout  incidence.Layout
}

func (p *samplePrinter) print(reader *store.MaskReader, number int, asJSON bool) error {
	sample, removed, err := reader.Sample(number)
	switch {
	case err != nil:
		return err
	case asJSON:
		return p.json(number, sample, removed)
	}
	p.text(number, sample, removed)
	return nil
}

func (p *samplePrinter) flush(e *env) error {
	_, err := p.out.WriteTo(e.stdout)
	return err
}

func (p *samplePrinter) text(number int, sample *store.Sample, removed []uint32) {
	var genes, phenotypes, attributes, masks []string
	for _, gene := range sample.Genes {
		genes = append(genes, oneName(p.genes[gene]))
	}
	for i, phenotype := range p.columns.Phenotypes {
		phenotypes = append(phenotypes, fmt.Sprintf("%s %g", oneName(phenotype.Name), sample.Phenotypes[i]))
	}
	for i, attribute := range p.columns.Attributes {
		value := sample.Attributes[i]
		text := fmt.Sprint(value.Number)
		if attribute.Type == ingest.TextAttribute {
			text = oneName(string(value.Text))
		}
		attributes = append(attributes, oneName(attribute.Name)+" "+text)
	}
	for mask, part := range p.layout.Split(removed) {
		if len(part) > 0 {
			masks = append(masks, fmt.Sprintf("%s %s of %s", oneName(mask.Name), humanCount(len(part)), humanCount(mask.Size)))
		}
	}
	fmt.Fprintf(&p.out, "sample %d (id %s)\n  deletes %s\n  phenotypes %s\n", number, oneName(string(sample.ID)),
		strings.Join(genes, ", "), strings.Join(phenotypes, ", "))
	if len(attributes) > 0 {
		fmt.Fprintf(&p.out, "  attributes %s\n", strings.Join(attributes, ", "))
	}
	fmt.Fprintf(&p.out, "  removes %s\n", strings.Join(masks, ", "))
}

// printedSample is a sample as JSON. What is missing is null.
type printedSample struct {
	Sample     int           `json:"sample"`
	ID         string        `json:"sample_id"`
	Genes      []string      `json:"genes"`
	Indices    []uint32      `json:"perturbation_indices"`
	Phenotypes orderedObject `json:"phenotypes"`
	Attributes orderedObject `json:"attributes"`
	Masks      orderedObject `json:"masks"`
}

// orderedObject is a JSON object whose keys stay in their order.
type orderedObject []struct {
	name  string
	value any
}

func (o *orderedObject) add(name string, value any) {
	*o = append(*o, struct {
		name  string
		value any
	}{name, value})
}

// MarshalJSON implements json.Marshaler.
func (o orderedObject) MarshalJSON() ([]byte, error) {
	out := []byte{'{'}
	for i, member := range o {
		name, err := json.Marshal(member.name)
		if err != nil {
			return nil, err
		}
		value, err := json.Marshal(member.value)
		if err != nil {
			return nil, err
		}
		if i > 0 {
			out = append(out, ',')
		}
		out = append(append(append(out, name...), ':'), value...)
	}
	return append(out, '}'), nil
}

type printedMask struct {
	Size    int      `json:"size"`
	Removed []uint32 `json:"removed"` // positions in the mask
}

// json prints a sample as one line.
func (p *samplePrinter) json(number int, sample *store.Sample, removed []uint32) error {
	s := printedSample{Sample: number, ID: string(sample.ID), Genes: []string{}, Indices: append([]uint32{}, sample.Genes...)}
	for _, gene := range sample.Genes {
		s.Genes = append(s.Genes, p.genes[gene])
	}
	for i, phenotype := range p.columns.Phenotypes {
		s.Phenotypes.add(phenotype.Name, numberOrNull(sample.Phenotypes[i]))
	}
	for i, attribute := range p.columns.Attributes {
		switch value := sample.Attributes[i]; {
		case attribute.Type == ingest.NumberAttribute:
			s.Attributes.add(attribute.Name, numberOrNull(value.Number))
		case value.Text == nil:
			s.Attributes.add(attribute.Name, nil)
		default:
			s.Attributes.add(attribute.Name, string(value.Text))
		}
	}
	for mask, part := range p.layout.Split(removed) {
		positions := make([]uint32, len(part))
		for i, position := range part {
			positions[i] = position - uint32(mask.Start)
		}
		s.Masks.add(mask.Name, printedMask{int(mask.Size), positions})
	}
	return json.NewEncoder(&p.out).Encode(s)
}

func numberOrNull(value float64) any {
	if math.IsNaN(value) {
		return nil
	}
	return value
}
