package sampletable

import (
	"context"
	"crypto/sha256"
	"encoding/binary"
	"errors"
	"fmt"
	"math"
	"os"
	"path/filepath"
	"runtime"
	"slices"

	"github.com/apache/arrow/go/v17/arrow"
	"github.com/apache/arrow/go/v17/arrow/array"
	"github.com/apache/arrow/go/v17/arrow/ipc"
	"github.com/apache/arrow/go/v17/arrow/memory"
	"github.com/cespare/xxhash/v2"
	"golang.org/x/sync/errgroup"
	"golang.org/x/sync/semaphore"

	"tcbuild/fault"
	"tcbuild/ingest"
)

// Writer writes a table, its files side by side. It holds the samples of a few of them in memory,
// about 8 MB each with few columns.
type Writer struct {
	dir     string // "": only digests are made
	schema  *arrow.Schema
	columns ingest.Columns
	layout  Layout
	rows    []span // of the file that is being collected
	count   int    // of samples in it
	texts   int    // bytes of their ids and texts
	parts   []*writtenPart
	bytes   int                 // memory of a file's samples, without texts
	waiting *semaphore.Weighted // bytes of the files that are being written
	group   *errgroup.Group     // writes parts
	failed  context.Context     // done when one cannot be written
}

// span is samples from to end-1 of a batch.
type span struct {
	samples   *ingest.Samples
	from, end int
}

// writtenPart is a file that is written, or will be.
type writtenPart struct {
	digest    [sha256.Size]byte
	checksums []byte // of the file, as ChecksumsName has them
}

// waitingBytes is about how much memory the samples of all files take that are written at a time.
const waitingBytes = 256 << 20

// Create makes the folder of a table, whose parent must exist. A Writer without a folder, "", makes
// only the digests of the samples.
func Create(dir string, columns ingest.Columns) (*Writer, error) {
	if dir != "" {
		if err := os.Mkdir(dir, 0o777); err != nil {
			return nil, err
		}
	}
	w := &Writer{dir: dir, schema: schema(columns), columns: columns, layout: LayoutOf(columns)}
	w.bytes = 8 * w.layout.PartSamples * (8 + len(columns.Phenotypes) + 3*len(columns.Attributes))
	w.waiting = semaphore.NewWeighted(waitingBytes)
	w.group, w.failed = errgroup.WithContext(context.Background())
	w.group.SetLimit(runtime.GOMAXPROCS(0))
	return w, nil
}

// partTexts is the most bytes of ids and texts in a file: 4 KiB for each of 65,536 samples. The
// writer holds them several times, and reading one text decodes those of the whole file.
const partTexts = 256 << 20

// Add appends samples, which must not change afterwards. It fails if earlier ones cannot be
// written, or if texts are too long.
func (w *Writer) Add(samples *ingest.Samples) error {
	for from := 0; from < samples.Len(); {
		end := min(from+w.layout.PartSamples-w.count, samples.Len())
		w.rows, w.count = append(w.rows, span{samples, from, end}), w.count+end-from
		if w.texts += samples.TextBytes(from, end); w.texts > partTexts {
			return w.tooLong()
		}
		if from = end; w.count == w.layout.PartSamples {
			w.write()
		}
	}
	return context.Cause(w.failed)
}

// tooLong returns the error for more texts than a file can hold. It names the column with most of
// them.
func (w *Writer) tooLong() error {
	ids, texts := 0, make([]int, len(w.columns.Attributes))
	for _, r := range w.rows {
		for i := r.from; i < r.end; i++ {
			ids += len(r.samples.ID(i))
			for k := range texts {
				texts[k] += len(r.samples.Attribute(i, k).Text)
			}
		}
	}
	column, hint := "sample_id", "use shorter ids"
	if len(texts) > 0 && slices.Max(texts) >= ids {
		column = w.columns.Attributes[slices.Index(texts, slices.Max(texts))].Name
		hint = "leave the column out: --attributes names those to keep"
	}
	return fault.New(fault.Input, hint,
		"write samples: found more than %d MiB of texts in %d samples, "+
			"most of them in column %s, expected at most that in %d samples",
		partTexts>>20, w.count, fault.Quote(column), w.layout.PartSamples)
}

// write begins to write the collected samples as a file, as soon as there is room.
func (w *Writer) write() {
	number, rows, p := len(w.parts), w.rows, &writtenPart{}
	weight := min(int64(w.bytes+w.texts), waitingBytes)
	w.parts, w.rows, w.count, w.texts = append(w.parts, p), nil, 0, 0
	if w.waiting.Acquire(w.failed, weight) != nil {
		return // an earlier file failed
	}
	w.group.Go(fault.Catch(func() error {
		defer w.waiting.Release(weight)
		digest := NewDigest(w.columns)
		for _, r := range rows {
			digest.Add(r.samples, r.from, r.end)
		}
		p.digest = digest.Sum()
		if w.dir == "" {
			return nil
		}
		builder := array.NewRecordBuilder(memory.NewGoAllocator(), w.schema)
		for _, r := range rows {
			for i := r.from; i < r.end; i++ {
				w.append(builder, r.samples, i)
			}
		}
		return w.writeFile(filepath.Join(w.dir, partName(number)), builder.NewRecord(), p)
	}))
}

// Wait waits until no file is being written.
func (w *Writer) Wait() error { return w.group.Wait() }

// Digests waits until all samples are written, and returns the digests of the files.
func (w *Writer) Digests() (digests [][sha256.Size]byte, err error) {
	if w.count > 0 {
		w.write()
	}
	err = w.Wait()
	for _, p := range w.parts {
		digests = append(digests, p.digest)
	}
	return digests, err
}

func (w *Writer) append(builder *array.RecordBuilder, samples *ingest.Samples, i int) {
	builder.Field(0).(*array.StringBuilder).BinaryBuilder.Append(samples.ID(i))
	genes := builder.Field(1).(*array.ListBuilder)
	genes.Append(true)
	indices := genes.ValueBuilder().(*array.Int32Builder)
	for _, gene := range samples.Genes(i) {
		indices.Append(int32(gene))
	}
	for k, value := range samples.Phenotypes(i) {
		appendNumber(builder.Field(firstPhenotype+k), value)
	}
	for k, attribute := range w.columns.Attributes {
		field := builder.Field(firstPhenotype + len(w.columns.Phenotypes) + k)
		value := samples.Attribute(i, k)
		switch {
		case attribute.Type == ingest.NumberAttribute:
			appendNumber(field, value.Number)
		case value.Text == nil:
			field.AppendNull()
		default:
			// fails for more texts than the dictionary's index can number; a part has none of them
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

// writeFile writes the rows of a file.
func (w *Writer) writeFile(path string, rows arrow.Record, p *writtenPart) error {
	file, err := os.Create(path)
	if err != nil {
		return err
	}
	writer, err := ipc.NewFileWriter(file, ipc.WithSchema(w.schema), ipc.WithZstd())
	batch := int64(w.layout.BatchSamples)
	for first := int64(0); err == nil && first < rows.NumRows(); first += batch {
		err = writer.Write(rows.NewSlice(first, min(first+batch, rows.NumRows())))
	}
	if err == nil {
		err = writer.Close()
	}
	if err = errors.Join(err, file.Close()); err != nil {
		return fmt.Errorf("write %s: %w", path, err)
	}
	content, err := os.ReadFile(path) // a few MB, which are in the page cache
	if err != nil {
		return err
	}
	p.checksums = binary.LittleEndian.AppendUint64(nil, uint64(len(content)))
	for block := range slices.Chunk(content, blockSize) {
		p.checksums = binary.LittleEndian.AppendUint64(p.checksums, xxhash.Sum64(block))
	}
	return nil
}

// Close completes the table. logicalContent is the digest of what the samples belong to, in
// hexadecimal: a table of the same samples in another graph is another table.
func (w *Writer) Close(logicalContent string) error {
	if _, err := w.Digests(); err != nil {
		return err
	}
	var checksums []byte
	for _, p := range w.parts {
		checksums = append(checksums, p.checksums...)
	}
	checksums = append(checksums, logicalContent...)
	return os.WriteFile(filepath.Join(w.dir, ChecksumsName), checksums, 0o666)
}
