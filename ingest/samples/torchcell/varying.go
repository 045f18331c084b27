package torchcell

import (
	"bytes"
	"cmp"
	"encoding/binary"
	"math"
	"slices"

	"github.com/cespare/xxhash/v2"
)

// varying finds the details in which experiments of the same genes, types and compounds differ.
// Details that are the same in all records, or follow from the gene, do not become attributes.
type varying struct {
	experiments int
	things      map[uint64]int // how many experiments have a gene of some type, or a compound
	fields      map[string]*field
	seen        []uint64
}

// field is what experiments have as the detail of one name.
type field struct {
	varies bool
	values map[uint64]*value // by what they are said of
}

// value is the value of a field for one thing: the hash of its first text, and how many experiments
// have it.
type value struct {
	hash  uint64
	times int
}

func newVarying() varying {
	return varying{things: make(map[uint64]int), fields: make(map[string]*field)}
}

// thing returns a hash of what the detail describes, 0 for the experiment.
func (d *detail) thing() uint64 {
	if d.of == nil {
		return 0
	}
	h := xxhash.New()
	var size [8]byte
	for _, text := range [][]byte{d.of, d.variant} {
		binary.LittleEndian.PutUint64(size[:], uint64(len(text)))
		_, _ = h.Write(size[:])
		_, _ = h.Write(text)
	}
	return max(h.Sum64(), 1)
}

// attributes notes an experiment's details, and adds them to its attributes.
func (v *varying) attributes(e *Experiment) {
	v.experiments++
	v.seen = v.seen[:0]
	for i := range e.things {
		v.seen = append(v.seen, e.things[i].thing())
	}
	slices.Sort(v.seen)
	for _, thing := range slices.Compact(v.seen) {
		v.things[thing]++
	}
	slices.SortFunc(e.details, func(a, b detail) int {
		return cmp.Or(bytes.Compare(a.name, b.name), bytes.Compare(a.of, b.of),
			bytes.Compare(a.variant, b.variant), bytes.Compare(a.text, b.text))
	})
	for i := 0; i < len(e.details); {
		end := i + 1
		for end < len(e.details) && bytes.Equal(e.details[end].name, e.details[i].name) {
			end++
		}
		v.note(e.details[i:end])
		e.Attributes = append(e.Attributes, asValue(e.details[i:end]))
		i = end
	}
}

// asValue joins the details of one name: GENE=TEXT of each gene or compound.
func asValue(details []detail) Value {
	first := &details[0]
	v := Value{Name: first.name, Number: math.NaN(), Detail: !first.always}
	if len(details) == 1 && first.of == nil && !math.IsNaN(first.number) {
		v.Number = first.number
		return v
	}
	if len(details) == 1 && first.of == nil {
		v.Text = first.text
		return v
	}
	for i := range details {
		if i > 0 {
			v.Text = append(v.Text, '|')
		}
		if details[i].of != nil {
			v.Text = append(append(v.Text, details[i].of...), '=')
		}
		v.Text = append(v.Text, details[i].text...)
	}
	return v
}

// note compares the details of one name with those of earlier experiments.
func (v *varying) note(details []detail) {
	name := details[0].name
	f := v.fields[string(name)]
	if f == nil {
		f = &field{values: make(map[uint64]*value)}
		v.fields[string(name)] = f
	}
	for i := 0; i < len(details) && !f.varies; {
		thing, text := details[i].thing(), details[i].text
		end := i + 1
		for ; end < len(details) && details[end].thing() == thing; end++ {
			text = slices.Concat(text, []byte{'|'}, details[end].text)
		}
		i = end
		hash := xxhash.Sum64(text)
		known := f.values[thing]
		if known == nil {
			known = &value{hash: hash}
			f.values[thing] = known
		}
		known.times++
		f.varies = known.hash != hash
	}
	if f.varies {
		f.values = nil
	}
}

// constant reports whether a field has one value for each thing, in every experiment with it.
func (v *varying) constant(name string) bool {
	f := v.fields[name]
	if f == nil || f.varies {
		return false
	}
	for thing, value := range f.values {
		times := v.things[thing]
		if thing == 0 {
			times = v.experiments
		}
		if value.times != times {
			return false
		}
	}
	return true
}
