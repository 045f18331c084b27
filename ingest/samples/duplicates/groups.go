package duplicates

import (
	"crypto/sha256"
	"encoding/binary"
	"math"

	"tcbuild/ingest"
)

// key stands for a text of bytes. Up to 15 bytes it is their number and the text itself, otherwise
// 255 and 120 bits of its SHA-256, of which no two different texts are known to have the same.
type key [16]byte

func keyOf(text []byte) (k key) {
	if len(text) < len(k) {
		k[0] = byte(len(text))
		copy(k[1:], text)
		return k
	}
	sum := sha256.Sum256(text)
	sum[0] = 255
	return key(sum[:])
}

// numbering numbers different keys in the order in which they appear, and counts each of them.
type numbering struct {
	numbers map[key]int32
	counts  []int32
}

func (n *numbering) add(k key) (number int, first bool) {
	known, ok := n.numbers[k]
	if !ok {
		if n.numbers == nil {
			n.numbers = make(map[key]int32)
		}
		known = int32(len(n.counts))
		n.numbers[k], n.counts = known, append(n.counts, 0)
	}
	n.counts[known]++
	return int(known), !ok
}

// groups numbers the groups of a set's samples.
type groups struct {
	groupBy    []int // attributes
	attributes []ingest.Attribute
	genotypes  numbering
	conditions numbering // empty if there are no attributes to group by
	both       numbering // so is this one: the groups are the genotypes
	text       []byte
}

// add counts a sample. It returns the number of its group, and whether it is the first one there.
func (g *groups) add(samples *ingest.Samples, i int) (group int, first bool) {
	g.text = g.text[:0]
	for _, gene := range samples.Genes(i) {
		g.text = binary.AppendUvarint(g.text, uint64(gene)) // of most genes two bytes
	}
	genotype := keyOf(g.text)
	if len(g.groupBy) == 0 {
		return g.genotypes.add(genotype)
	}
	g.genotypes.add(genotype)
	condition := g.valuesOf(samples, i, g.groupBy)
	g.conditions.add(condition)
	g.text = append(append(g.text[:0], genotype[:]...), condition[:]...)
	return g.both.add(keyOf(g.text))
}

// valuesOf is the key of a sample's values of some attributes.
func (g *groups) valuesOf(samples *ingest.Samples, i int, attributes []int) key {
	g.text = g.text[:0]
	for _, k := range attributes {
		g.text = appendValue(g.text, g.attributes[k].Type, samples.Attribute(i, k))
	}
	return keyOf(g.text)
}

// repeats are the counts of what was added.
func (g *groups) repeats() ingest.Repeats {
	repeats := ingest.Repeats{Genotypes: len(g.genotypes.counts), Conditions: len(g.conditions.counts)}
	for _, samples := range g.genotypes.counts {
		if samples > 1 {
			repeats.RepeatedGenotypes++
			repeats.RepeatedSamples += int(samples)
		}
	}
	return repeats
}

// appendValue appends bytes that are equal for equal values alone. Missing is a value of its own.
func appendValue(dst []byte, values ingest.AttributeType, value ingest.Value) []byte {
	switch {
	case values == ingest.TextAttribute && value.Text == nil:
		return append(dst, 0)
	case values == ingest.TextAttribute:
		return append(binary.AppendUvarint(dst, uint64(len(value.Text))+1), value.Text...)
	case math.IsNaN(value.Number):
		value.Number = math.NaN() // of many NaNs
	case value.Number == 0:
		value.Number = 0 // -0 too
	}
	return binary.LittleEndian.AppendUint64(dst, math.Float64bits(value.Number))
}
