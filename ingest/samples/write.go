package samples

import (
	"bufio"
	"bytes"
	"context"
	"errors"
	"fmt"
	"iter"
	"math"
	"os"
	"slices"
	"strconv"
	"strings"

	"github.com/apache/arrow/go/v17/arrow"
	"github.com/apache/arrow/go/v17/arrow/array"
	"github.com/apache/arrow/go/v17/arrow/memory"

	"tcbuild/fault"
	"tcbuild/ingest"
	"tcbuild/ingest/table"
	"tcbuild/ingest/table/arrowfile"
	"tcbuild/ingest/table/rows"
)

// Write writes a perturbation set with the columns sample_id and genes and one per
// phenotype and attribute: an Arrow IPC file if path ends in .arrow, tab-separated text if it ends
// in .tsv. OpenFile reads back the same samples; of text, if Spec.Attributes names
// the numeric attributes, which look like phenotypes there. The bytes depend only on the samples,
// and memory does not depend on their number.
func Write(
	ctx context.Context, path string, source ingest.SampleSource, genes *ingest.Nodes,
) error {
	format, compression := table.Format(path)
	switch format + compression {
	case ".arrow":
		return writePerturbationsArrow(ctx, path, source, genes)
	case ".tsv":
		return writePerturbationsTSV(ctx, path, source, genes)
	}
	return fault.New(fault.Usage, "name the file .arrow or .tsv",
		"write perturbations %s: found ending %q, expected .arrow or .tsv", path,
		format+compression)
}

func writePerturbationsArrow(
	ctx context.Context, path string, source ingest.SampleSource, genes *ingest.Nodes,
) error {
	columns := source.Columns()
	w, err := arrowfile.Create(path, Fields(columns))
	if err != nil {
		return err
	}
	for s, err := range source.Batches(ctx, new(ingest.Account)) {
		if err == nil && s.Len() > 0 {
			err = w.Write(Values(s, columns, genes)...)
		}
		if err != nil {
			return errors.Join(err, w.Close())
		}
	}
	return w.Close()
}

// Fields are the columns of a binary perturbation set.
func Fields(columns ingest.Columns) []arrow.Field {
	text := arrow.BinaryTypes.String
	fields := []arrow.Field{{Name: defaultIDColumn, Type: text},
		{Name: defaultGenesColumn, Type: arrow.ListOf(text)}}
	for _, phenotype := range columns.Phenotypes {
		field := arrow.Field{Name: phenotype.Name, Type: arrow.PrimitiveTypes.Float64}
		if !slices.Contains(columns.Guessed, phenotype.Name) {
			field.Metadata = arrow.NewMetadata([]string{roleKey}, []string{measured})
		}
		fields = append(fields, field)
	}
	for _, attribute := range columns.Attributes {
		field := arrow.Field{Name: attribute.Name, Type: text, Nullable: true}
		if attribute.Type == ingest.NumberAttribute {
			field = arrow.Field{Name: attribute.Name, Type: arrow.PrimitiveTypes.Float64,
				Metadata: arrow.NewMetadata([]string{roleKey}, []string{noted})}
		}
		fields = append(fields, field)
	}
	return fields
}

// Values are the columns of a batch, as Fields describes them.
func Values(s *ingest.Samples, columns ingest.Columns,
	genes *ingest.Nodes) []arrow.Array {
	var builders []array.Builder
	for _, field := range Fields(columns) {
		builders = append(builders, array.NewBuilder(memory.DefaultAllocator, field.Type))
	}
	ids, lists := builders[0].(*array.StringBuilder), builders[1].(*array.ListBuilder)
	phenotypes, attributes := builders[2:2+len(columns.Phenotypes)],
		builders[2+len(columns.Phenotypes):]
	for i := range s.Len() {
		ids.BinaryBuilder.Append(s.ID(i))
		lists.Append(true)
		for _, gene := range s.Genes(i) {
			lists.ValueBuilder().(*array.StringBuilder).Append(genes.IDs[gene])
		}
		for k, value := range s.Phenotypes(i) {
			phenotypes[k].(*array.Float64Builder).Append(value)
		}
		for k, builder := range attributes {
			value := s.Attribute(i, k)
			switch builder := builder.(type) {
			case *array.Float64Builder:
				builder.Append(value.Number)
			case *array.StringBuilder:
				if value.Text == nil {
					builder.AppendNull()
				} else {
					builder.BinaryBuilder.Append(value.Text)
				}
			}
		}
	}
	values := make([]arrow.Array, len(builders))
	for k, builder := range builders {
		values[k] = builder.NewArray()
	}
	return values
}

func writePerturbationsTSV(
	ctx context.Context, path string, source ingest.SampleSource, genes *ingest.Nodes,
) error {
	file, err := os.Create(path)
	if err != nil {
		return fmt.Errorf("write perturbations: %w", err)
	}
	columns := source.Columns()
	names := slices.Concat([]string{defaultIDColumn, defaultGenesColumn}, columns.PhenotypeNames(),
		columns.AttributeNames())
	w := tsvWriter{Writer: bufio.NewWriterSize(file, 256<<10), path: path, genes: genes,
		attributes: columns.Attributes}
	if err = w.header(names); err == nil {
		err = w.samples(source.Batches(ctx, new(ingest.Account)))
	}
	if err != nil {
		file.Close()
		return err
	}
	if err := errors.Join(w.Flush(), file.Close()); err != nil {
		return fmt.Errorf("write perturbations: %w", err)
	}
	return nil
}

// tsvWriter writes samples as lines. Write errors stay in the bufio.Writer until its Flush.
type tsvWriter struct {
	*bufio.Writer
	path       string
	genes      *ingest.Nodes
	attributes []ingest.Attribute
}

func (w tsvWriter) header(names []string) error {
	for i, name := range names {
		if err := checkTSV(name, "\t\r\n"); err != nil {
			return fmt.Errorf("write perturbations: column %d: %w", i+1, err)
		}
	}
	w.WriteString(strings.Join(names, "\t"))
	return w.WriteByte('\n')
}

func (w tsvWriter) samples(batches iter.Seq2[*ingest.Samples, error]) error {
	for s, err := range batches {
		if err != nil {
			return err
		}
		for i := range s.Len() {
			if err := w.sample(s, i); err != nil {
				return fmt.Errorf("write perturbations %s: sample %d: %w", w.path, s.First+i, err)
			}
		}
	}
	return nil
}

func (w tsvWriter) sample(s *ingest.Samples, i int) error {
	if err := checkTSV(string(s.ID(i)), "\t\r\n"); err != nil {
		return err
	}
	w.Write(s.ID(i))
	for k, gene := range s.Genes(i) {
		id := w.genes.IDs[gene]
		if err := checkTSV(id, "\t\r\n|"); err != nil {
			return err
		}
		if k == 0 {
			w.WriteByte('\t')
		} else {
			w.WriteByte('|')
		}
		w.WriteString(id)
	}
	if len(s.Genes(i)) == 0 {
		w.WriteByte('\t')
	}
	for _, value := range s.Phenotypes(i) {
		w.number(value)
	}
	for k, attribute := range w.attributes {
		value := s.Attribute(i, k)
		if attribute.Type == ingest.NumberAttribute {
			w.number(value.Number)
			continue
		}
		if err := checkTSV(string(value.Text), "\t\r\n"); err != nil {
			return err
		}
		if value.Text != nil && rows.IsMissing(bytes.TrimSpace(value.Text)) {
			return fault.New(fault.Input, "write .arrow instead",
				"attribute %s: found text %s, which means a missing value in text files",
				fault.Quote(attribute.Name), fault.Quote(value.Text))
		}
		w.WriteByte('\t')
		w.Write(value.Text)
	}
	return w.WriteByte('\n')
}

// number writes a field, empty if the value is missing.
func (w tsvWriter) number(value float64) {
	w.WriteByte('\t')
	if !math.IsNaN(value) {
		w.Write(strconv.AppendFloat(w.AvailableBuffer(), value, 'g', -1, 64))
	}
}

// checkTSV returns an error for a text that tab-separated text cannot hold.
func checkTSV(text, separators string) error {
	if strings.ContainsAny(text, separators) {
		return fault.New(fault.Input, "write .arrow instead",
			"found %s, expected text without any of %q", fault.Quote(text), separators)
	}
	return nil
}
