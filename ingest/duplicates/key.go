package duplicates

import (
	"crypto/sha256"
	"encoding/binary"
	"math"

	"tcbuild/ingest"
)

// key stands for a genotype, a condition, or both. It is the genotype itself if that has up to five
// genes, each below 2^24: their number and 1, and 3 bytes for each. Otherwise it is 255 and 120
// bits of a SHA-256, of which no two different texts are known to have the same.
type key [16]byte

const (
	exactGenes = 5
	exactGene  = 1 << 24
)

// keyer makes keys of samples.
type keyer struct {
	groupBy    []int // attributes
	attributes []ingest.Attribute
	text       []byte
}

// genotype is the key of a set of genes.
func (k *keyer) genotype(genes []uint32) key {
	if n := len(genes); n <= exactGenes && (n == 0 || genes[n-1] < exactGene) {
		exact := key{byte(n + 1)}
		for i, gene := range genes {
			exact[3*i+1], exact[3*i+2], exact[3*i+3] = byte(gene), byte(gene>>8), byte(gene>>16)
		}
		return exact
	}
	k.text = k.text[:0]
	for _, gene := range genes {
		k.text = binary.LittleEndian.AppendUint32(k.text, gene)
	}
	return k.sum()
}

// condition is the key of a sample's values of the attributes that samples are grouped by.
func (k *keyer) condition(samples *ingest.Samples, i int) key {
	k.text = k.text[:0]
	for _, attribute := range k.groupBy {
		k.text = appendValue(k.text, k.attributes[attribute].Type, samples.Attribute(i, attribute))
	}
	return k.sum()
}

// pair is the key of a genotype under a condition.
func (k *keyer) pair(genotype, condition key) key {
	k.text = append(append(k.text[:0], genotype[:]...), condition[:]...)
	return k.sum()
}

func (k *keyer) sum() key {
	sum := sha256.Sum256(k.text)
	sum[0] = 255
	return key(sum[:])
}

// appendValue appends bytes that are equal for equal values alone. Missing is a value of its own.
func appendValue(dst []byte, values ingest.AttributeType, value ingest.Value) []byte {
	if values == ingest.NumberAttribute {
		return binary.LittleEndian.AppendUint64(dst, numberBits(value.Number))
	}
	if value.Text == nil {
		return binary.LittleEndian.AppendUint32(dst, math.MaxUint32)
	}
	return append(binary.LittleEndian.AppendUint32(dst, uint32(len(value.Text))), value.Text...)
}

// numberBits are equal for equal numbers, and for all NaNs, which are the missing number.
func numberBits(value float64) uint64 {
	switch {
	case math.IsNaN(value):
		return math.Float64bits(math.NaN())
	case value == 0:
		return 0 // -0 too
	}
	return math.Float64bits(value)
}
