package store

import (
	"errors"
	"fmt"
	"os"

	"github.com/apache/arrow/go/v17/arrow"
	"github.com/apache/arrow/go/v17/arrow/array"
	"github.com/apache/arrow/go/v17/arrow/ipc"
	"github.com/apache/arrow/go/v17/arrow/memory"

	"tcbuild/encode"
	"tcbuild/ingest"
)

const samplesName = "samples.arrow"

// samplesBatch is the number of samples in a record batch of samples.arrow; the last batch has the
// rest. To read one sample, a reader loads its whole batch.
const samplesBatch = 4096

// samplesSchema is the fixed columns, followed by the phenotypes in manifest order.
func samplesSchema(phenotypes []string) *arrow.Schema {
	fields := []arrow.Field{
		{Name: "sample_id", Type: arrow.BinaryTypes.String},
		{Name: "perturbation_indices", Type: arrow.ListOf(arrow.PrimitiveTypes.Int32)},
		{Name: "checksum", Type: arrow.PrimitiveTypes.Uint32},
	}
	for _, name := range phenotypes {
		fields = append(fields, arrow.Field{Name: name, Type: arrow.PrimitiveTypes.Float64})
	}
	return arrow.NewSchema(fields, nil)
}

const firstPhenotype = 3 // column

// SamplesWriter writes samples.arrow.
type SamplesWriter struct {
	file    *os.File
	writer  *ipc.FileWriter
	builder *array.RecordBuilder
	seed    encode.Seed
	rows    int
	scratch []byte
}

// CreateSamples starts the samples of an incidence dataset.
func (b *Building) CreateSamples() (*SamplesWriter, error) {
	file, err := os.Create(b.path(samplesName))
	if err != nil {
		return nil, err
	}
	schema := samplesSchema(b.Manifest.Phenotypes)
	writer, err := ipc.NewFileWriter(file, ipc.WithSchema(schema))
	if err != nil {
		file.Close()
		return nil, err
	}
	return &SamplesWriter{file: file, seed: b.Manifest.Seed(), writer: writer,
		builder: array.NewRecordBuilder(memory.NewGoAllocator(), schema)}, nil
}

// Add appends samples.
func (w *SamplesWriter) Add(samples *ingest.Samples) error {
	ids := w.builder.Field(0).(*array.StringBuilder)
	genes := w.builder.Field(1).(*array.ListBuilder)
	indices := genes.ValueBuilder().(*array.Int32Builder)
	checksums := w.builder.Field(2).(*array.Uint32Builder)
	for i := range samples.Len() {
		record := encode.Record{Genes: samples.Genes(i), ID: samples.ID(i), Phenotypes: samples.Phenotypes(i)}
		ids.BinaryBuilder.Append(record.ID)
		genes.Append(true)
		for _, gene := range record.Genes {
			indices.Append(int32(gene))
		}
		w.scratch = record.AppendHead(w.scratch[:0])
		checksums.Append(w.seed.Checksum(w.scratch, samples.First+i))
		for k, value := range record.Phenotypes {
			w.builder.Field(firstPhenotype + k).(*array.Float64Builder).Append(value)
		}
		if w.rows++; w.rows == samplesBatch {
			if err := w.flush(); err != nil {
				return err
			}
		}
	}
	return nil
}

func (w *SamplesWriter) flush() error {
	record := w.builder.NewRecord()
	defer record.Release()
	w.rows = 0
	if err := w.writer.Write(record); err != nil {
		return fmt.Errorf("write %s: %w", w.file.Name(), err)
	}
	return nil
}

// Close completes the file.
func (w *SamplesWriter) Close() error {
	var err error
	if w.rows > 0 {
		err = w.flush()
	}
	if err = errors.Join(err, w.writer.Close(), w.file.Close()); err != nil {
		return fmt.Errorf("write %s: %w", w.file.Name(), err)
	}
	return nil
}

// samplesReader reads samples.arrow, a record batch at a time.
type samplesReader struct {
	dataset *Dataset
	file    *os.File
	reader  *ipc.FileReader
	batch   int // number of the record batch in rows; -1 for none
	rows    arrow.Record
	record  encode.Record
	scratch []byte
}

func (d *Dataset) openSamples() (r *samplesReader, err error) {
	defer d.guard(samplesName, &err)
	reader, file, err := d.openArrow(samplesName)
	if err != nil {
		return nil, err
	}
	if !reader.Schema().Equal(samplesSchema(d.Manifest.Phenotypes)) {
		file.Close()
		return nil, d.damaged(samplesName, "its columns do not match the manifest")
	}
	return &samplesReader{dataset: d, file: file, reader: reader, batch: -1}, nil
}

// read returns a sample, a view valid until the next call. If its checksum is wrong, it returns the
// sample and a fault.Damaged.
func (r *samplesReader) read(sample int) (_ *encode.Record, err error) {
	defer r.dataset.guard(samplesName, &err)
	if batch := sample / samplesBatch; batch != r.batch {
		r.batch = -1
		if r.rows, err = r.reader.RecordAt(batch); err != nil {
			return nil, r.dataset.damaged(samplesName, "record batch %d: %w", batch, err)
		}
		r.batch = batch
	}
	row := sample % samplesBatch
	if row >= int(r.rows.NumRows()) {
		return nil, r.dataset.damaged(samplesName, "sample %d is missing", sample)
	}
	record := &r.record
	record.ID = append(record.ID[:0], r.rows.Column(0).(*array.String).Value(row)...)
	lists := r.rows.Column(1).(*array.List)
	start, end := lists.ValueOffsets(row)
	record.Genes = record.Genes[:0]
	for _, gene := range lists.ListValues().(*array.Int32).Int32Values()[start:end] {
		record.Genes = append(record.Genes, uint32(gene))
	}
	record.Phenotypes = record.Phenotypes[:0]
	for column := firstPhenotype; column < int(r.rows.NumCols()); column++ {
		record.Phenotypes = append(record.Phenotypes, r.rows.Column(column).(*array.Float64).Value(row))
	}
	r.scratch = record.AppendHead(r.scratch[:0])
	stored := r.rows.Column(2).(*array.Uint32).Value(row)
	if computed := r.dataset.Manifest.Seed().Checksum(r.scratch, sample); computed != stored {
		return record, r.dataset.damaged(samplesName, "sample %d has checksum %08x, expected %08x", sample, computed, stored)
	}
	return record, nil
}

func (r *samplesReader) close() { r.file.Close() }
