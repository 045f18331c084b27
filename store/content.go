package store

import (
	"crypto/sha256"
	"encoding/binary"
	"encoding/hex"
	"hash"
	"math"

	"tcbuild/incidence"
	"tcbuild/ingest"
)

// ContentDigest computes a dataset's logical content: a SHA-256 over everything that determines its
// masks and labels. It is the same for every variant, codec and number of shards. Strings and lists
// are preceded by their length as u32, numbers are little-endian:
//
//	"tcbuild logical content 1" | graph digest | reaction rule | phenotype names
//	and per sample, in order: id | perturbation indices u32… | phenotypes f64…
//
// The masks are a function of graph, rule and genotype; `tcbuild verify` proves that the stored
// masks are its values.
type ContentDigest struct {
	hash    hash.Hash
	scratch []byte
}

// NewContentDigest starts a digest.
func NewContentDigest(graphDigest string, rule incidence.ReactionRule, phenotypes []string) *ContentDigest {
	d := &ContentDigest{hash: sha256.New()}
	for _, text := range []string{"tcbuild logical content 1", graphDigest, string(rule)} {
		d.text([]byte(text))
	}
	d.scratch = binary.LittleEndian.AppendUint32(d.scratch, uint32(len(phenotypes)))
	for _, name := range phenotypes {
		d.text([]byte(name))
	}
	return d
}

func (d *ContentDigest) text(text []byte) {
	d.scratch = binary.LittleEndian.AppendUint32(d.scratch, uint32(len(text)))
	d.scratch = append(d.scratch, text...)
}

// Add adds the next sample. All NaNs count as the same missing value.
func (d *ContentDigest) Add(id []byte, genes []uint32, phenotypes []float64) {
	d.text(id)
	d.scratch = binary.LittleEndian.AppendUint32(d.scratch, uint32(len(genes)))
	for _, gene := range genes {
		d.scratch = binary.LittleEndian.AppendUint32(d.scratch, gene)
	}
	for _, value := range phenotypes {
		if math.IsNaN(value) {
			value = math.NaN()
		}
		d.scratch = binary.LittleEndian.AppendUint64(d.scratch, math.Float64bits(value))
	}
	if len(d.scratch) >= 1<<15 {
		d.drain()
	}
}

// AddAll adds a batch.
func (d *ContentDigest) AddAll(samples *ingest.Samples) {
	for i := range samples.Len() {
		d.Add(samples.ID(i), samples.Genes(i), samples.Phenotypes(i))
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
