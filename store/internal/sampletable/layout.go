// Package sampletable keeps samples as a table of Arrow files: ids, deleted genes, phenotypes and
// attributes, but no masks. Its bytes depend only on the samples, and every block of them is
// checked before it is used. store/FORMAT.md, section samples, specifies the files.
package sampletable

import (
	"fmt"

	"github.com/apache/arrow/go/v17/arrow"

	"tcbuild/ingest"
)

// ChecksumsName is the name of the file with the checksums of the table's blocks.
const ChecksumsName = "_checksums"

// blockSize is how many bytes one checksum covers: a reader of one sample in a large table reads
// little more than that.
const blockSize = 64 << 10

const (
	batchSamples    = 4096    // at most in a record batch
	minBatchSamples = 64      // so that the metadata of batches stays small beside them
	batchBytes      = 1 << 20 // of numbers in a record batch
	partBatches     = 16
)

// Layout says how a table is cut into files and record batches.
type Layout struct {
	PartSamples  int // samples in a file; the last has the rest
	BatchSamples int // samples in a record batch; the last of the table has the rest
}

// LayoutOf depends only on the columns, so that the same samples always make the same files.
func LayoutOf(columns ingest.Columns) Layout {
	batch := batchSamples
	for batch > minBatchSamples && 8*batch*(len(columns.Phenotypes)+len(columns.Attributes)) > batchBytes {
		batch /= 2
	}
	return Layout{PartSamples: partBatches * batch, BatchSamples: batch}
}

func partName(part int) string { return fmt.Sprintf("part-%05d.arrow", part) }

// Names are the names of the files of a table of that many samples.
func (l Layout) Names(samples int) []string {
	names := []string{ChecksumsName}
	for part := range (samples + l.PartSamples - 1) / l.PartSamples {
		names = append(names, partName(part))
	}
	return names
}

const firstPhenotype = 2 // column

// schema is the fixed columns, followed by the phenotypes and the attributes.
func schema(columns ingest.Columns) *arrow.Schema {
	fields := []arrow.Field{
		{Name: "sample_id", Type: arrow.BinaryTypes.String},
		{Name: "perturbation_indices", Type: arrow.ListOf(arrow.PrimitiveTypes.Int32)},
	}
	for _, phenotype := range columns.Phenotypes {
		fields = append(fields, arrow.Field{Name: phenotype.Name, Type: arrow.PrimitiveTypes.Float64, Nullable: true})
	}
	for _, attribute := range columns.Attributes {
		field := arrow.Field{Name: attribute.Name, Type: arrow.PrimitiveTypes.Float64, Nullable: true}
		if attribute.Type == ingest.TextAttribute {
			field.Type = &arrow.DictionaryType{IndexType: arrow.PrimitiveTypes.Int32, ValueType: arrow.BinaryTypes.String}
		}
		fields = append(fields, field)
	}
	return arrow.NewSchema(fields, nil)
}
