package sampletable

import (
	"encoding/binary"
	"errors"
	"fmt"
	"math"
	"os"
	"path/filepath"

	"github.com/apache/arrow/go/v17/arrow"
	"github.com/apache/arrow/go/v17/arrow/array"
	"github.com/apache/arrow/go/v17/arrow/ipc"
	"github.com/apache/arrow/go/v17/arrow/memory"
	"github.com/cespare/xxhash/v2"

	"tcbuild/ingest"
)

// Writer writes a table. It holds the samples of one file in memory, about 3 MB with few columns.
type Writer struct {
	dir       string
	schema    *arrow.Schema
	columns   ingest.Columns
	layout    Layout
	builder   *array.RecordBuilder // of the part that is being collected; nil: no sample yet
	rows      int                  // in builder
	parts     int                  // written
	checksums []byte               // of the written parts
}

// Create makes the folder of a table, whose parent must exist.
func Create(dir string, columns ingest.Columns) (*Writer, error) {
	if err := os.Mkdir(dir, 0o777); err != nil {
		return nil, err
	}
	return &Writer{dir: dir, schema: schema(columns), columns: columns, layout: LayoutOf(columns)}, nil
}

// Add appends samples.
func (w *Writer) Add(samples *ingest.Samples) error {
	for i := range samples.Len() {
		if w.builder == nil {
			w.builder = array.NewRecordBuilder(memory.NewGoAllocator(), w.schema)
		}
		w.append(samples, i)
		if w.rows++; w.rows == w.layout.PartSamples {
			if err := w.flush(); err != nil {
				return err
			}
		}
	}
	return nil
}

func (w *Writer) append(samples *ingest.Samples, i int) {
	w.builder.Field(0).(*array.StringBuilder).BinaryBuilder.Append(samples.ID(i))
	genes := w.builder.Field(1).(*array.ListBuilder)
	genes.Append(true)
	indices := genes.ValueBuilder().(*array.Int32Builder)
	for _, gene := range samples.Genes(i) {
		indices.Append(int32(gene))
	}
	for k, value := range samples.Phenotypes(i) {
		appendNumber(w.builder.Field(firstPhenotype+k), value)
	}
	for k, attribute := range w.columns.Attributes {
		field, value := w.builder.Field(firstPhenotype+len(w.columns.Phenotypes)+k), samples.Attribute(i, k)
		switch {
		case attribute.Type == ingest.NumberAttribute:
			appendNumber(field, value.Number)
		case value.Text == nil:
			field.AppendNull()
		default:
			// fails for more texts than the dictionary's index can number, of which a part has none
			_ = field.(*array.BinaryDictionaryBuilder).Append(value.Text)
		}
	}
}

func appendNumber(builder array.Builder, value float64) {
	if math.IsNaN(value) {
		builder.AppendNull()
		return
	}
	builder.(*array.Float64Builder).Append(value)
}

// flush writes the collected samples as a file.
func (w *Writer) flush() (err error) {
	rows := w.builder.NewRecord()
	w.builder, w.rows = nil, 0
	path := filepath.Join(w.dir, partName(w.parts))
	file, err := os.Create(path)
	if err != nil {
		return err
	}
	sums := &blockSums{file: file}
	writer, err := ipc.NewFileWriter(sums, ipc.WithSchema(w.schema))
	for first := int64(0); err == nil && first < rows.NumRows(); first += int64(w.layout.BatchSamples) {
		err = writer.Write(rows.NewSlice(first, min(first+int64(w.layout.BatchSamples), rows.NumRows())))
	}
	if err == nil {
		err = writer.Close()
	}
	if err = errors.Join(err, file.Close()); err != nil {
		return fmt.Errorf("write %s: %w", path, err)
	}
	w.parts++
	w.checksums = sums.append(w.checksums)
	return nil
}

// Close completes the table. logicalContent is the digest of what the samples belong to, in
// hexadecimal: a table of the same samples in another graph is another table.
func (w *Writer) Close(logicalContent string) error {
	if w.rows > 0 {
		if err := w.flush(); err != nil {
			return err
		}
	}
	return os.WriteFile(filepath.Join(w.dir, ChecksumsName), append(w.checksums, logicalContent...), 0o666)
}

// blockSums computes the checksums of a file's blocks while the file is written.
type blockSums struct {
	file  *os.File
	size  uint64
	sums  []byte
	block xxhash.Digest
	begun bool
}

func (b *blockSums) Write(p []byte) (int, error) {
	n, err := b.file.Write(p)
	for rest := p[:n]; len(rest) > 0; {
		if b.size%blockSize == 0 {
			b.endBlock()
			b.block.Reset()
			b.begun = true
		}
		part := rest[:min(uint64(len(rest)), blockSize-b.size%blockSize)]
		b.block.Write(part)
		b.size += uint64(len(part))
		rest = rest[len(part):]
	}
	return n, err
}

// Seek is for the Arrow library, which asks where the file begins.
func (b *blockSums) Seek(offset int64, whence int) (int64, error) { return b.file.Seek(offset, whence) }

func (b *blockSums) endBlock() {
	if b.begun {
		b.sums = binary.LittleEndian.AppendUint64(b.sums, b.block.Sum64())
	}
}

// append appends the file's size and checksums, as ChecksumsName has them.
func (b *blockSums) append(dst []byte) []byte {
	b.endBlock()
	return append(binary.LittleEndian.AppendUint64(dst, b.size), b.sums...)
}
