package parquetfile

import (
	"fmt"

	"github.com/apache/arrow/go/v17/parquet"
	"github.com/apache/arrow/go/v17/parquet/file"
	"github.com/apache/arrow/go/v17/parquet/metadata"
	"github.com/apache/arrow/go/v17/parquet/schema"
)

// checkFooter returns an error for a footer that contradicts itself. A footer has no checksum, but it
// says most things twice, so that a flipped bit does not lose rows or columns, nor give values
// another type.
func checkFooter(r *file.Reader) error {
	all, rows := r.MetaData(), int64(0)
	if err := checkSchema(all); err != nil {
		return err
	}
	for i := range r.NumRowGroups() {
		group := r.RowGroup(i).MetaData()
		rows += group.NumRows()
		if group.NumColumns() != all.Schema.NumColumns() {
			return fmt.Errorf("row group %d: found %d columns, expected %d as in its schema", i, group.NumColumns(), all.Schema.NumColumns())
		}
		for k := range group.NumColumns() {
			chunk, err := group.ColumnChunk(k)
			if err != nil {
				return err
			}
			if err := checkChunk(chunk, all.Schema.Column(k), group.NumRows()); err != nil {
				return fmt.Errorf("row group %d: %w", i, err)
			}
		}
	}
	if rows != r.NumRows() {
		return fmt.Errorf("found row groups of %d rows, expected %d", rows, r.NumRows())
	}
	return nil
}

// checkSchema compares the fields as the Parquet reader understands them with the file's.
func checkSchema(all *metadata.FileMetaData) error {
	fields, stored := preorder(nil, all.Schema.Root()), all.FileMetaData.Schema
	if len(fields) != len(stored) {
		return fmt.Errorf("found a tree of %d fields, expected %d", len(fields), len(stored))
	}
	for i, field := range fields {
		logical, element := field.LogicalType(), stored[i]
		switch logical.(type) {
		case *schema.TimestampLogicalType, *schema.TimeLogicalType: // pyarrow's two types of a local time differ
		case schema.ListLogicalType:
			list, ok := field.(*schema.GroupNode)
			if !ok || list.NumFields() != 1 || list.Field(0).RepetitionType() != parquet.Repetitions.Repeated {
				return fmt.Errorf("field %q: found a list without elements", field.Name())
			}
		default:
			decimal := schema.DecimalMetadata{IsSet: element.IsSetScale() && element.IsSetPrecision(), Scale: element.GetScale(), Precision: element.GetPrecision()}
			if element.IsSetLogicalType() && element.IsSetConvertedType() &&
				!logical.IsCompatible(schema.ConvertedType(element.GetConvertedType()), decimal) {
				return fmt.Errorf("field %q: found types %s and %s, expected one", field.Name(), logical, element.GetConvertedType())
			}
		}
		if repetition := field.RepetitionType(); repetition < parquet.Repetitions.Required || repetition > parquet.Repetitions.Repeated {
			return fmt.Errorf("field %q: found repetition %d", field.Name(), repetition)
		}
	}
	return nil
}

// preorder appends a field and all below it, in the order of the file.
func preorder(fields []schema.Node, field schema.Node) []schema.Node {
	fields = append(fields, field)
	if group, ok := field.(*schema.GroupNode); ok {
		for i := range group.NumFields() {
			fields = preorder(fields, group.Field(i))
		}
	}
	return fields
}

// checkChunk compares what a row group says about a column with the schema.
func checkChunk(chunk *metadata.ColumnChunkMetaData, column *schema.Column, rows int64) error {
	if path := chunk.PathInSchema().String(); path != column.Path() || chunk.Type() != column.PhysicalType() {
		return fmt.Errorf("found values of %q as %s, expected %q as %s", path, chunk.Type(), column.Path(), column.PhysicalType())
	}
	if column.MaxRepetitionLevel() == 0 && chunk.NumValues() != rows {
		return fmt.Errorf("found %d values of %q, expected %d", chunk.NumValues(), column.Path(), rows)
	}
	return nil
}
