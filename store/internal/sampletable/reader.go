package sampletable

import (
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"math"
	"os"

	"github.com/apache/arrow/go/v17/arrow"
	"github.com/apache/arrow/go/v17/arrow/array"
	"github.com/apache/arrow/go/v17/arrow/ipc"
	"github.com/cespare/xxhash/v2"
	"github.com/dustin/go-humanize/english"

	"tcbuild/fault"
	"tcbuild/ingest"
	"tcbuild/ingest/table/arrowfile"
)

// Files opens the files of a table.
type Files interface {
	// Open opens a file by its name in the table, and returns its size.
	Open(name string) (*os.File, int64, error)
	// Damaged is the error of a file that is not what it should be.
	Damaged(name string, err error) error
}

// Table is a table that can be read. It is safe for concurrent use.
type Table struct {
	files   Files
	columns ingest.Columns
	layout  Layout
	samples int
	parts   []part
}

// part is a file of the table, as ChecksumsName has it.
type part struct {
	size int64
	sums []byte // 8 bytes per block
}

// Open makes a table readable. checksums is the content of ChecksumsName, and logicalContent is
// what its Writer was closed with.
func Open(
	files Files, checksums []byte, columns ingest.Columns, samples int, logicalContent string,
) (*Table, error) {
	t := &Table{files: files, columns: columns, layout: LayoutOf(columns), samples: samples}
	var ok bool
	if t.parts, ok = parseChecksums(checksums, t.layout.parts(samples), logicalContent); !ok {
		return nil, files.Damaged(ChecksumsName, fmt.Errorf("found checksums of other files, "+
			"expected checksums of %s", english.Plural(samples, "sample", "")))
	}
	return t, nil
}

// parseChecksums parses the content of ChecksumsName, of so many files.
func parseChecksums(checksums []byte, files int, logicalContent string) (parts []part, ok bool) {
	for range files {
		if len(checksums) < 8 {
			return nil, false
		}
		size := binary.LittleEndian.Uint64(checksums)
		checksums = checksums[8:]
		blocks := (size + blockSize - 1) / blockSize
		if size > math.MaxInt64-blockSize || uint64(len(checksums)) < 8*blocks {
			return nil, false
		}
		parts = append(parts, part{int64(size), checksums[:8*blocks]})
		checksums = checksums[8*blocks:]
	}
	return parts, string(checksums) == logicalContent
}

// Reader reads a table. It is for one goroutine, and must be closed.
type Reader struct {
	table *Table
	files map[int]*partReader // by part
	first int                 // sample of the first row
	rows  arrow.Record        // the record batch read last; nil: none
	row   ingest.Sample
}

type partReader struct {
	*ipc.FileReader
	file *blockFile
}

// NewReader makes a reader; files are opened when they are first needed.
func (t *Table) NewReader() *Reader { return &Reader{table: t, files: make(map[int]*partReader)} }

// Row reads a sample, 0 <= sample < the table's. Its slices live until the next one is read.
// Reading samples in order costs about 0.1 µs each; another record batch takes its bytes, some 200
// kB with few columns. An error names all samples that cannot be read for the same reason.
func (r *Reader) Row(sample int) (_ *ingest.Sample, err error) {
	number := sample / r.table.layout.PartSamples
	defer func() {
		if trouble := recover(); trouble != nil { // the Arrow library's answer to some damage
			err = r.table.damagedPart(number, fault.Recovered(trouble))
		}
	}()
	if r.rows == nil || sample < r.first || sample >= r.first+int(r.rows.NumRows()) {
		if err := r.load(sample, number); err != nil {
			return nil, err
		}
	}
	r.fill(sample - r.first)
	return &r.row, nil
}

// ScanRange passes samples first to end-1 to yield, in batches of size samples; the last has the
// rest.
func (t *Table) ScanRange(first, end, size int, yield func(*ingest.Samples) error) error {
	r := t.NewReader()
	defer r.Close()
	for ; first < end; first += size {
		samples := ingest.NewSamples(first, t.columns, size)
		for sample := first; sample < min(first+size, end); sample++ {
			row, err := r.Row(sample)
			if err != nil {
				return err
			}
			samples.Append(row.ID, row.Genes, row.Phenotypes, row.Attributes)
		}
		if err := yield(samples); err != nil {
			return err
		}
	}
	return nil
}

// load reads the record batch of a sample, in a part.
func (r *Reader) load(sample, number int) error {
	r.rows = nil
	open, err := r.open(number)
	if err != nil {
		return err
	}
	batch := sample % r.table.layout.PartSamples / r.table.layout.BatchSamples
	first := sample - sample%r.table.layout.BatchSamples
	count := min(r.table.layout.BatchSamples, r.table.samples-first)
	wrong := func(err error) error { return r.table.damaged(number, first, first+count, err) }
	if batch >= open.NumRecords() {
		return wrong(fmt.Errorf("found %d record batches, expected more than %d",
			open.NumRecords(), batch))
	}
	rows, err := open.RecordAt(batch)
	switch err := open.file.failure(err); {
	case fault.System(err):
		return err
	case err != nil:
		return wrong(err)
	case int(rows.NumRows()) != count:
		return wrong(fmt.Errorf("found %s", english.Plural(int(rows.NumRows()), "row", "")))
	}
	r.rows, r.first = rows, first
	return nil
}

// damaged is the error of the samples first to end-1 of a part, which cannot be read.
func (t *Table) damaged(number, first, end int, err error) error {
	return t.files.Damaged(partName(number), fmt.Errorf("samples %d to %d: %w", first, end-1, err))
}

// damagedPart is the error of a part of which nothing can be read.
func (t *Table) damagedPart(number int, err error) error {
	first := number * t.layout.PartSamples
	return t.damaged(number, first, min(first+t.layout.PartSamples, t.samples), err)
}

// openParts is how many files a reader keeps open: enough to read tables of any size in random
// order.
const openParts = 8

func (r *Reader) open(number int) (*partReader, error) {
	if open := r.files[number]; open != nil {
		return open, nil
	}
	for other, open := range r.files {
		if len(r.files) < openParts {
			break
		}
		open.file.Close()
		delete(r.files, other)
	}
	file, size, err := r.table.files.Open(partName(number))
	if err != nil {
		return nil, err
	}
	open := &partReader{file: &blockFile{File: file, part: r.table.parts[number]}}
	if err := open.begin(size, r.table.columns); err != nil {
		file.Close()
		if err = open.file.failure(err); fault.System(err) {
			return nil, err
		}
		return nil, r.table.damagedPart(number, err)
	}
	r.files[number] = open
	return open, nil
}

func (p *partReader) begin(size int64, columns ingest.Columns) (err error) {
	if size != p.file.size {
		return fmt.Errorf("found %d bytes, expected %d", size, p.file.size)
	}
	p.FileReader, err = arrowfile.NewReader(p.file, size)
	if err == nil && !p.Schema().Equal(schema(columns)) {
		err = errors.New("its columns do not match the manifest")
	}
	return err
}

func (r *Reader) fill(i int) {
	row, columns := &r.row, r.table.columns
	row.ID = append(row.ID[:0], r.rows.Column(0).(*array.String).Value(i)...)
	lists := r.rows.Column(1).(*array.List)
	start, end := lists.ValueOffsets(i)
	row.Genes = row.Genes[:0]
	for _, gene := range lists.ListValues().(*array.Int32).Int32Values()[start:end] {
		row.Genes = append(row.Genes, uint32(gene))
	}
	row.Phenotypes = row.Phenotypes[:0]
	for k := range columns.Phenotypes {
		row.Phenotypes = append(row.Phenotypes, number(r.rows.Column(firstPhenotype+k), i))
	}
	row.Attributes = row.Attributes[:0]
	for k, attribute := range columns.Attributes {
		value, column := ingest.Value{}, r.rows.Column(firstPhenotype+len(columns.Phenotypes)+k)
		switch {
		case attribute.Type == ingest.NumberAttribute:
			value.Number = number(column, i)
		case column.IsValid(i):
			numbers := column.(*array.Dictionary)
			text := numbers.Dictionary().(*array.String).Value(numbers.GetValueIndex(i))
			value.Text = []byte(text)
		}
		row.Attributes = append(row.Attributes, value)
	}
}

func number(column arrow.Array, i int) float64 {
	if column.IsNull(i) {
		return math.NaN()
	}
	return column.(*array.Float64).Value(i)
}

// Close closes the reader's files.
func (r *Reader) Close() {
	for _, open := range r.files {
		open.file.Close()
	}
}

// blockFile is a file whose blocks are compared with their checksums before they are used.
type blockFile struct {
	*os.File
	part
	failed error  // of the first read that failed
	buffer []byte // whole blocks
}

// ReadAt reads the blocks that the bytes lie in.
func (f *blockFile) ReadAt(p []byte, at int64) (n int, err error) {
	end := min(at+int64(len(p)), f.size)
	if at < 0 || at >= end {
		return 0, io.EOF
	}
	first := at / blockSize * blockSize
	whole := int(min((end+blockSize-1)/blockSize*blockSize, f.size) - first)
	if cap(f.buffer) < whole {
		f.buffer = make([]byte, whole)
	}
	blocks := f.buffer[:whole]
	if _, err := f.File.ReadAt(blocks, first); err != nil {
		return 0, f.fail(err)
	}
	for block := first / blockSize; len(blocks) > 0; block++ {
		content := blocks[:min(len(blocks), blockSize)]
		found, want := xxhash.Sum64(content), binary.LittleEndian.Uint64(f.sums[8*block:])
		if found != want {
			return 0, f.fail(fmt.Errorf("the block from byte %d has checksum %016x, expected %016x",
				block*blockSize, found, want))
		}
		blocks = blocks[len(content):]
	}
	n = copy(p, f.buffer[at-first:end-first])
	if n < len(p) {
		return n, io.EOF
	}
	return n, nil
}

// failure is the first error of reading, or err: the Arrow library may not wrap it.
func (f *blockFile) failure(err error) error {
	if err != nil && f.failed != nil {
		return f.failed
	}
	return err
}

func (f *blockFile) fail(err error) error {
	if f.failed == nil {
		f.failed = err
	}
	return err
}
