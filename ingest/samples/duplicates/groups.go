package duplicates

import (
	"bytes"
	"crypto/sha256"
	"encoding/binary"
	"math"
	"slices"

	"tcbuild/ingest"
)

// key stands for a text of bytes. Up to 15 bytes it is their number and the text itself, otherwise
// 255 and 120 bits of its SHA-256, which no two different texts are known to share.
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

// keyCounter counts different keys, in 16 bytes for each that was added. It sorts them in the end,
// which is much faster than a map.
type keyCounter []key

// count counts the different keys, those that were added more than once, and how often these were.
func (keys keyCounter) count() (different, repeated, times int) {
	slices.SortFunc(keys, func(a, b key) int { return bytes.Compare(a[:], b[:]) })
	for first, end := 0, 0; first < len(keys); first = end {
		for end = first + 1; end < len(keys) && keys[end] == keys[first]; end++ {
		}
		different++
		if end-first > 1 {
			repeated, times = repeated+1, times+end-first
		}
	}
	return different, repeated, times
}

// keeping counts the groups of a set all of whose samples stay.
type keeping struct {
	groups
	genotypes, conditions keyCounter
}

func (k *keeping) add(samples *ingest.Samples) {
	for i := range samples.Len() {
		k.genotypes = append(k.genotypes, k.genotypeOf(samples, i))
		if len(k.groupBy) > 0 {
			k.conditions = append(k.conditions, k.valuesOf(samples, i, k.groupBy))
		}
	}
}

func (k *keeping) repeats() (repeats ingest.Repeats) {
	repeats.Genotypes, repeats.RepeatedGenotypes, repeats.RepeatedSamples = k.genotypes.count()
	repeats.Conditions, _, _ = k.conditions.count()
	return repeats
}

// groups numbers the groups of a set's samples.
type groups struct {
	groupBy    []int // attributes
	kinds      int   // the attribute that is a part of genotypes; -1: none
	attributes []ingest.Attribute
	genotypes  numbering
	conditions numbering // empty if there are no attributes to group by
	both       numbering // so is this one: the groups are the genotypes
	text       []byte
}

// add counts a sample. It returns the number of its group, and whether it is the first one there.
func (g *groups) add(samples *ingest.Samples, i int) (group int, first bool) {
	genotype := g.genotypeOf(samples, i)
	if len(g.groupBy) == 0 {
		return g.genotypes.add(genotype)
	}
	g.genotypes.add(genotype)
	condition := g.valuesOf(samples, i, g.groupBy)
	g.conditions.add(condition)
	g.text = append(append(g.text[:0], genotype[:]...), condition[:]...)
	return g.both.add(keyOf(g.text))
}

// genotypeOf is the key of a sample's genotype.
func (g *groups) genotypeOf(samples *ingest.Samples, i int) key {
	g.text = g.text[:0]
	for _, gene := range samples.Genes(i) {
		g.text = binary.AppendUvarint(g.text, uint64(gene)) // of most genes two bytes
	}
	if g.kinds >= 0 {
		g.text = binary.AppendUvarint(g.text, uint64(len(samples.Genes(i))))
		g.text = ingest.AppendWithoutCase(g.text, samples.Attribute(i, g.kinds).Text)
	}
	return keyOf(g.text)
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

// appendValue appends bytes that are equal only for equal values. Missing is a value of its own.
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
