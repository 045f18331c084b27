package sampletable

import (
	"crypto/sha256"
	"encoding/binary"
	"hash"
	"math"

	"tcbuild/ingest"
)

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
