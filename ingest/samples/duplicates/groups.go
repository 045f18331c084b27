package duplicates

import (
	"crypto/sha256"
	"encoding/binary"
	"math"

	"tcbuild/ingest"
	"tcbuild/ingest/samples/distinct"
)

// keyOf is the key of a text. Up to 15 bytes it is their number and the text itself, otherwise 255
// and 120 bits of its SHA-256, which no two different texts are known to share.
func keyOf(text []byte) distinct.Key {
	var k [16]byte
	if len(text) < len(k) {
		k[0] = byte(len(text))
		copy(k[1:], text)
	} else {
		sum := sha256.Sum256(text)
		copy(k[:], sum[:])
		k[0] = 255
	}
	return distinct.Key{binary.BigEndian.Uint64(k[:]), binary.BigEndian.Uint64(k[8:])}
}

// field is an attribute, or a phenotype as one.
type field struct {
	ingest.Attribute
	isPhenotype bool
	number      int
}

func (f field) value(sample *ingest.Sample) ingest.Value {
	if f.isPhenotype {
		return ingest.Value{Number: sample.Phenotypes[f.number]}
	}
	return sample.Attributes[f.number]
}

// groups numbers the groups of a set's samples, and counts genotypes and conditions.
type groups struct {
	groupBy    []field
	compared   []field
	kinds      []field // that are a part of genotypes: one, or none
	genotypes  distinct.Keys[distinct.Key]
	conditions distinct.Keys[distinct.Key] // of the attributes that samples are grouped by

	numbers map[distinct.Key]int // nil if all samples stay
	stands  []int32              // the sample that stands for each group
	firsts  []distinct.Key       // what is compared, in the first sample of each group

	text []byte
}

func (s *stage) newGroups() *groups {
	g := &groups{groupBy: s.groupBy, compared: s.compared(), kinds: s.kinds()}
	if s.Duplicates != Keep {
		g.numbers = make(map[distinct.Key]int)
	}
	return g
}

// add counts a sample. It returns the number of its group, and whether it is the first one there.
func (g *groups) add(number int, sample *ingest.Sample) (group int, first bool) {
	key := g.genotypeOf(sample)
	g.genotypes.Add(key)
	if len(g.groupBy) > 0 {
		condition := g.valuesOf(sample, g.groupBy)
		g.conditions.Add(condition)
		g.text = g.text[:0]
		for _, word := range []uint64{key[0], key[1], condition[0], condition[1]} {
			g.text = binary.BigEndian.AppendUint64(g.text, word)
		}
		key = keyOf(g.text)
	}
	if g.numbers == nil {
		return 0, true
	}
	group, known := g.numbers[key]
	if !known {
		group = len(g.stands)
		g.numbers[key], g.stands = group, append(g.stands, int32(number))
	}
	return group, !known
}

// agrees reports whether a sample has what the first one of its group has in the compared columns.
func (g *groups) agrees(group int, sample *ingest.Sample) bool {
	key := g.valuesOf(sample, g.compared)
	if group == len(g.firsts) {
		g.firsts = append(g.firsts, key)
	}
	return g.firsts[group] == key
}

// genotypeOf is the key of a sample's genotype.
func (g *groups) genotypeOf(sample *ingest.Sample) distinct.Key {
	g.text = g.text[:0]
	for _, gene := range sample.Genes {
		g.text = binary.AppendUvarint(g.text, uint64(gene)) // of most genes two bytes
	}
	for _, kinds := range g.kinds {
		g.text = binary.AppendUvarint(g.text, uint64(len(sample.Genes)))
		g.text = ingest.AppendWithoutCase(g.text, kinds.value(sample).Text)
	}
	return keyOf(g.text)
}

// valuesOf is the key of a sample's values of some fields.
func (g *groups) valuesOf(sample *ingest.Sample, fields []field) distinct.Key {
	g.text = g.text[:0]
	for _, f := range fields {
		g.text = appendValue(g.text, f.Type, f.value(sample))
	}
	return keyOf(g.text)
}

// repeats are the counts of what was added.
func (g *groups) repeats() (repeats ingest.Repeats) {
	for _, times := range g.genotypes.All() {
		repeats.Genotypes++
		if times > 1 {
			repeats.RepeatedGenotypes++
			repeats.RepeatedSamples += times
		}
	}
	for range g.conditions.All() {
		repeats.Conditions++
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
