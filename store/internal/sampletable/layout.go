// Package sampletable keeps samples as a table of Arrow files: ids, deleted genes, phenotypes and
// attributes, but no masks. Its bytes depend only on the samples, and every block of them is
// checked before it is used. docs/FORMAT.md, section samples, specifies the files.
package sampletable

import (
	"crypto/sha256"
	"encoding/binary"
	"fmt"
	"hash"
	"math"

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
	batch, rowBytes := batchSamples, 8*(len(columns.Phenotypes)+len(columns.Attributes))
	for batch > minBatchSamples && batch*rowBytes > batchBytes {
		batch /= 2
	}
	return Layout{PartSamples: partBatches * batch, BatchSamples: batch}
}

func partName(part int) string { return fmt.Sprintf("part-%05d.arrow", part) }

// parts is how many files hold that many samples.
func (l Layout) parts(samples int) int { return (samples + l.PartSamples - 1) / l.PartSamples }

// Names are the names of the files of a table of that many samples.
func (l Layout) Names(samples int) []string {
	names := []string{ChecksumsName}
	for part := range l.parts(samples) {
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
	add := func(name string, values arrow.DataType) {
		fields = append(fields, arrow.Field{Name: name, Type: values, Nullable: true})
	}
	for _, phenotype := range columns.Phenotypes {
		add(phenotype.Name, arrow.PrimitiveTypes.Float64)
	}
	for _, attribute := range columns.Attributes {
		if attribute.Type == ingest.TextAttribute {
			add(attribute.Name, &arrow.DictionaryType{
				IndexType: arrow.PrimitiveTypes.Int32, ValueType: arrow.BinaryTypes.String,
			})
		} else {
			add(attribute.Name, arrow.PrimitiveTypes.Float64)
		}
	}
	return arrow.NewSchema(fields, nil)
}

// Digest is a SHA-256 over samples, in order: for each its id, perturbation indices u32…,
// phenotypes f64… and attributes. Texts and lists are preceded by their length as u32, numbers are
// little-endian. An attribute is a number f64 or a text; the length of a missing text is 2^32-1.
// Every NaN is the same missing value.
type Digest struct {
	hash       hash.Hash
	attributes []ingest.Attribute
	scratch    []byte
}

// NewDigest makes the digest of no samples.
func NewDigest(columns ingest.Columns) *Digest {
	return &Digest{hash: sha256.New(), attributes: columns.Attributes}
}

// Add adds samples from to end-1 of a batch.
func (d *Digest) Add(samples *ingest.Samples, from, end int) {
	for i := from; i < end; i++ {
		d.text(samples.ID(i))
		genes := samples.Genes(i)
		d.scratch = binary.LittleEndian.AppendUint32(d.scratch, uint32(len(genes)))
		for _, gene := range genes {
			d.scratch = binary.LittleEndian.AppendUint32(d.scratch, gene)
		}
		for _, value := range samples.Phenotypes(i) {
			d.number(value)
		}
		for k, attribute := range d.attributes {
			switch value := samples.Attribute(i, k); {
			case attribute.Type == ingest.NumberAttribute:
				d.number(value.Number)
			case value.Text == nil:
				d.scratch = binary.LittleEndian.AppendUint32(d.scratch, math.MaxUint32)
			default:
				d.text(value.Text)
			}
		}
		if len(d.scratch) >= 1<<15 {
			d.drain()
		}
	}
}

func (d *Digest) text(text []byte) {
	d.scratch = binary.LittleEndian.AppendUint32(d.scratch, uint32(len(text)))
	d.scratch = append(d.scratch, text...)
}

func (d *Digest) number(value float64) {
	if math.IsNaN(value) {
		value = math.NaN()
	}
	d.scratch = binary.LittleEndian.AppendUint64(d.scratch, math.Float64bits(value))
}

func (d *Digest) drain() {
	d.hash.Write(d.scratch)
	d.scratch = d.scratch[:0]
}

// Sum returns the digest, and starts the next samples' digest.
func (d *Digest) Sum() (sum [sha256.Size]byte) {
	d.drain()
	d.hash.Sum(sum[:0])
	d.hash.Reset()
	return sum
}
