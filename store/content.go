package store

import (
	"crypto/sha256"
	"encoding/binary"
	"encoding/hex"
	"hash"
	"math"
	"strconv"

	"tcbuild/encode"
	"tcbuild/incidence"
	"tcbuild/ingest"
)

// ContentDigest computes a dataset's logical content: a SHA-256 over everything that determines its
// masks and labels. It is the same for every variant, codec and number of shards. Strings and lists
// are preceded by their length as u32, numbers are little-endian:
//
//	"tcbuild logical content 2" | graph digest | reaction rule | phenotype names | attribute names and types
//	and per sample, in order: id | perturbation indices u32… | phenotypes f64… | attributes
//
// An attribute is a number f64 or a text; the length of a missing text is 2^32-1.
//
// The masks are a function of graph, rule and genotype; `tcbuild verify` proves that the stored
// masks are its values.
type ContentDigest struct {
	hash       hash.Hash
	attributes []ingest.Attribute
	scratch    []byte
}

// NewContentDigest starts a digest.
func NewContentDigest(graphDigest string, rule incidence.ReactionRule, columns ingest.Columns) *ContentDigest {
	d := &ContentDigest{hash: sha256.New(), attributes: columns.Attributes}
	for _, text := range []string{"tcbuild logical content 2", graphDigest, string(rule)} {
		d.text([]byte(text))
	}
	d.scratch = binary.LittleEndian.AppendUint32(d.scratch, uint32(len(columns.Phenotypes)))
	for _, phenotype := range columns.Phenotypes {
		d.text([]byte(phenotype.Name))
	}
	d.scratch = binary.LittleEndian.AppendUint32(d.scratch, uint32(len(columns.Attributes)))
	for _, attribute := range columns.Attributes {
		d.text([]byte(attribute.Name))
		d.text([]byte(attribute.Type))
	}
	return d
}

func (d *ContentDigest) text(text []byte) {
	d.scratch = binary.LittleEndian.AppendUint32(d.scratch, uint32(len(text)))
	d.scratch = append(d.scratch, text...)
}

func (d *ContentDigest) number(value float64) {
	if math.IsNaN(value) {
		value = math.NaN()
	}
	d.scratch = binary.LittleEndian.AppendUint64(d.scratch, math.Float64bits(value))
}

// Add adds the next samples. All NaNs count as the same missing value.
func (d *ContentDigest) Add(samples *ingest.Samples) {
	for i := range samples.Len() {
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

func (d *ContentDigest) drain() {
	d.hash.Write(d.scratch)
	d.scratch = d.scratch[:0]
}

// Sum returns the digest in hexadecimal. More samples may be added afterwards.
func (d *ContentDigest) Sum() string {
	d.drain()
	return hex.EncodeToString(d.hash.Sum(nil))
}

// Identify sets the manifest's identity, a SHA-256 of what makes this dataset differ from any
// other: variant, codec and logical content. All samples' checksums are bound to it, so that a
// shard of another dataset, or a value in the wrong place, is detected.
func (m *Manifest) Identify() {
	sum := sha256.Sum256(marshal(struct {
		FormatVersion  int
		Variant        Variant
		Codec          string
		LogicalContent string
		// not used since the logical content is always known; their zero values are in identities
		GraphDigest   string
		Options       Options
		Columns       ingest.Columns
		Perturbations []ingest.Input
	}{FormatVersion: m.FormatVersion, Variant: m.Variant, Codec: m.Codec, LogicalContent: m.LogicalContent}))
	m.Identity = hex.EncodeToString(sum[:])
}

// Seed is the seed of sample 0's checksums: the first 16 digits of the identity as a number, or 0
// without an identity.
func (m *Manifest) Seed() encode.Seed {
	seed, _ := strconv.ParseUint(m.Identity[:min(16, len(m.Identity))], 16, 64)
	return encode.Seed(seed)
}
