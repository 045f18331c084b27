package samples

import (
	"context"
	"errors"
	"slices"

	"github.com/apache/arrow/go/v17/arrow"
	"github.com/apache/arrow/go/v17/arrow/array"
	"github.com/apache/arrow/go/v17/arrow/memory"

	"tcbuild/ingest"
	"tcbuild/ingest/table/arrowfile"
)

// Write writes a perturbation set as an Arrow IPC file with the columns sample_id and genes and one
// per phenotype and attribute. Open reads back the same samples. The bytes depend only on the
// samples, and memory does not depend on their number.
func Write(
	ctx context.Context, path string, source ingest.SampleSource, genes *ingest.Nodes,
) error {
	columns := source.Columns()
	w, err := arrowfile.Create(path, fieldsOf(columns))
	if err != nil {
		return err
	}
	for s, err := range source.Batches(ctx, new(ingest.Account)) {
		if err == nil && s.Len() > 0 {
			err = w.Write(arraysOf(s, columns, genes)...)
		}
		if err != nil {
			return errors.Join(err, w.Close())
		}
	}
	return w.Close()
}

// fieldsOf are the columns of the file.
func fieldsOf(columns ingest.Columns) []arrow.Field {
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

// arraysOf are the columns of a batch, as fieldsOf describes them.
func arraysOf(s *ingest.Samples, columns ingest.Columns,
	genes *ingest.Nodes) []arrow.Array {
	var builders []array.Builder
	for _, field := range fieldsOf(columns) {
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
