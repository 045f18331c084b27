package main

import (
	"bufio"
	"context"
	"encoding/json"
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
	out := bufio.NewWriterSize(e.stdout, 1<<16)
	defer out.Flush()
	p := samplePrinter{out: out, genes: graph.Genes.IDs, columns: dataset.Manifest.Columns(), layout: dataset.Layout()}
	for number := first; number < next && ctx.Err() == nil; number++ {
		sample, removed, err := reader.Sample(number)
		if err != nil {
			return err
		}
		if asJSON {
			p.json(number, sample, removed)
		} else {
			p.text(number, sample, removed)
		}
	}
	return context.Cause(ctx)
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
	out     *bufio.Writer
	genes   []string // ids by index
	columns ingest.Columns
	layout  incidence.Layout
	line    []byte
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
	fmt.Fprintf(p.out, "sample %d (id %s)\n  deletes %s\n  phenotypes %s\n", number, oneName(string(sample.ID)),
		strings.Join(genes, ", "), strings.Join(phenotypes, ", "))
	if len(attributes) > 0 {
		fmt.Fprintf(p.out, "  attributes %s\n", strings.Join(attributes, ", "))
	}
	fmt.Fprintf(p.out, "  removes %s\n", strings.Join(masks, ", "))
}

// json prints a sample as one line, with masks in canonical order.
func (p *samplePrinter) json(number int, sample *store.Sample, removed []uint32) {
	line := append(p.line[:0], `{"sample":`...)
	line = strconv.AppendInt(line, int64(number), 10)
	line = append(append(line, `,"sample_id":`...), quoted(string(sample.ID))...)
	line = append(line, `,"genes":[`...)
	for i, gene := range sample.Genes {
		line = append(comma(line, i), quoted(p.genes[gene])...)
	}
	line = append(line, `],"perturbation_indices":`...)
	line = appendPositions(line, sample.Genes, 0)
	line = append(line, `,"phenotypes":{`...)
	for i, phenotype := range p.columns.Phenotypes {
		line = append(append(comma(line, i), quoted(phenotype.Name)...), ':')
		line = appendNumber(line, sample.Phenotypes[i])
	}
	line = append(line, `},"attributes":{`...)
	for i, attribute := range p.columns.Attributes {
		line = append(append(comma(line, i), quoted(attribute.Name)...), ':')
		switch value := sample.Attributes[i]; {
		case attribute.Type == ingest.NumberAttribute:
			line = appendNumber(line, value.Number)
		case value.Text == nil:
			line = append(line, "null"...)
		default:
			line = append(line, quoted(string(value.Text))...)
		}
	}
	line = append(line, `},"masks":{`...)
	i := 0
	for mask, part := range p.layout.Split(removed) {
		line = append(append(comma(line, i), quoted(mask.Name)...), `:{"size":`...)
		line = strconv.AppendInt(line, int64(mask.Size), 10)
		line = append(line, `,"removed":`...)
		line = append(appendPositions(line, part, mask.Start), '}')
		i++
	}
	p.line = append(line, "}}\n"...)
	p.out.Write(p.line)
}

func comma(line []byte, i int) []byte {
	if i > 0 {
		return append(line, ',')
	}
	return line
}

func quoted(text string) []byte {
	var out strings.Builder
	encoder := json.NewEncoder(&out)
	encoder.SetEscapeHTML(false)
	encoder.Encode(text) // a string cannot fail
	return []byte(strings.TrimSuffix(out.String(), "\n"))
}

func appendPositions(line []byte, positions []uint32, start int) []byte {
	line = append(line, '[')
	for i, position := range positions {
		line = strconv.AppendInt(comma(line, i), int64(position)-int64(start), 10)
	}
	return append(line, ']')
}

// appendNumber appends a phenotype so that it reads back the same. JSON has no NaN and no infinity.
func appendNumber(line []byte, value float64) []byte {
	switch {
	case math.IsNaN(value):
		return append(line, "null"...)
	case math.IsInf(value, 1):
		return append(line, "1e999"...)
	case math.IsInf(value, -1):
		return append(line, "-1e999"...)
	}
	return strconv.AppendFloat(line, value, 'g', -1, 64)
}
