package parquetfile

import (
	"cmp"
	"fmt"

	"github.com/apache/arrow/go/v17/parquet"
	"github.com/apache/arrow/go/v17/parquet/metadata"
	"github.com/apache/arrow/go/v17/parquet/schema"
)

// A footer has no checksum, but it says most things twice, so that a flipped bit does not lose rows
// or columns, nor give values another type.

// checkFooter returns an error for a footer that contradicts itself, or the size of the file.
func checkFooter(all *metadata.FileMetaData, size int64) error {
	rows := int64(0)
	for i := range all.RowGroups {
		group := all.RowGroup(i)
		rows += group.NumRows()
		if group.NumColumns() != all.Schema.NumColumns() {
			return fmt.Errorf("row group %d: found %d columns, expected %d as in its schema", i,
				group.NumColumns(), all.Schema.NumColumns())
		}
		for k := range group.NumColumns() {
			chunk, err := group.ColumnChunk(k)
			if err == nil {
				err = checkChunk(chunk, all.Schema.Column(k), group.NumRows())
			}
			if err != nil {
				return fmt.Errorf("row group %d: %w", i, err)
			}
		}
	}
	if rows != all.NumRows {
		return fmt.Errorf("found row groups of %d rows, expected %d", rows, all.NumRows)
	}
	return cmp.Or(checkTypes(all), checkEnd(all, size))
}

// checkChunk compares what a row group says about a column with the schema.
func checkChunk(chunk *metadata.ColumnChunkMetaData, column *schema.Column, rows int64) error {
	if path := chunk.PathInSchema().String(); path != column.Path() ||
		chunk.Type() != column.PhysicalType() {
		return fmt.Errorf("found values of %q as %s, expected %q as %s", path, chunk.Type(),
			column.Path(), column.PhysicalType())
	}
	if column.MaxRepetitionLevel() == 0 && chunk.NumValues() != rows {
		return fmt.Errorf("found %d values of %q, expected %d", chunk.NumValues(), column.Path(),
			rows)
	}
	return nil
}

// checkTypes compares the two forms in which the schema has the type of a column.
func checkTypes(all *metadata.FileMetaData) error {
	leaf := 0
	for _, element := range all.FileMetaData.Schema {
		if repetition := int(element.GetRepetitionType()); repetition < 0 ||
			repetition > int(parquet.Repetitions.Repeated) {
			return fmt.Errorf("field %q: found repetition %d", element.Name, repetition)
		}
		if element.GetNumChildren() > 0 {
			continue
		}
		if leaf == all.Schema.NumColumns() {
			break
		}
		column := all.Schema.Column(leaf)
		leaf++
		switch column.LogicalType().(type) {
		// pyarrow's two types of a local time differ
		case *schema.TimestampLogicalType, *schema.TimeLogicalType:
			continue
		}
		decimal := schema.DecimalMetadata{
			IsSet: element.IsSetScale() && element.IsSetPrecision(),
			Scale: element.GetScale(), Precision: element.GetPrecision(),
		}
		if element.IsSetLogicalType() && element.IsSetConvertedType() &&
			!column.LogicalType().IsCompatible(
				schema.ConvertedType(element.GetConvertedType()), decimal) {
			return fmt.Errorf("column %q: found types %s and %s, expected one", column.Path(),
				column.LogicalType(), element.GetConvertedType())
		}
	}
	return nil
}

// checkEnd returns an error for a gap between the last column and the footer. Two files may have
// been joined: the footer of the second would then point into the first.
func checkEnd(all *metadata.FileMetaData, size int64) error {
	const trailer, largestGap = 8, 64 // the footer's length and magic; more than writers leave
	end := int64(len("PAR1"))
	for _, group := range all.RowGroups {
		for _, column := range group.Columns {
			chunk := column.GetMetaData()
			if chunk == nil || chunk.IsSetBloomFilterOffset() { // whose length may not be known
				return nil
			}
			start := chunk.GetDataPageOffset()
			if chunk.IsSetDictionaryPageOffset() && chunk.GetDictionaryPageOffset() > 0 {
				start = min(start, chunk.GetDictionaryPageOffset())
			}
			end = max(end, start+chunk.GetTotalCompressedSize(),
				column.GetOffsetIndexOffset()+int64(column.GetOffsetIndexLength()),
				column.GetColumnIndexOffset()+int64(column.GetColumnIndexLength()))
		}
	}
	if rest := size - trailer - int64(all.Size()) - end; rest > largestGap {
		return fmt.Errorf("found %d bytes between the last column and the footer, "+
			"such as another file's", rest)
	}
	return nil
}
