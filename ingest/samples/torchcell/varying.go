package torchcell

import (
	"bytes"
	"slices"

	"github.com/cespare/xxhash/v2"
)

// varying finds the details in which experiments of the same genes, types and compounds differ.
// Details that are the same in all records, or follow from the gene, do not become attributes.
type varying struct {
	things map[thingKey]*seen
	fields map[string]*field
	now    []*seen // things of the experiment at hand
}

type thingKey struct{ of, variant string }

// seen is a thing, and how many experiments have it.
type seen struct{ times int }

// field is what experiments have as the detail of one name.
type field struct {
	varies bool
	values map[*seen]*told
}

// told is what a field says of a thing: the hash of its first text, and how many experiments have
// it.
type told struct {
	hash  uint64
	times int
}

func newVarying() varying {
	return varying{things: make(map[thingKey]*seen), fields: make(map[string]*field)}
}

func (v *varying) thing(t thing) *seen {
	found := v.things[thingKey{string(t.of), string(t.variant)}]
	if found == nil {
		found = new(seen)
		v.things[thingKey{string(t.of), string(t.variant)}] = found
	}
	return found
}

// note compares an experiment's details with those of earlier experiments.
func (v *varying) note(e *Experiment) {
	v.now = append(v.now[:0], v.thing(thing{})) // the experiment itself
	for _, t := range e.things {
		if at := v.thing(t); !slices.Contains(v.now, at) {
			v.now = append(v.now, at)
		}
	}
	for _, at := range v.now {
		at.times++
	}
	for details := range e.byName() {
		f := v.fields[string(details[0].name)]
		if f == nil {
			f = &field{values: make(map[*seen]*told)}
			v.fields[string(details[0].name)] = f
		}
		for len(details) > 0 && !f.varies {
			same := 1 // details of one thing
			text := details[0].text
			for ; same < len(details) && details[same].isOf(details[0].thing); same++ {
				text = slices.Concat(text, []byte{'|'}, details[same].text)
			}
			f.note(v.thing(details[0].thing), xxhash.Sum64(text))
			details = details[same:]
		}
	}
}

func (t thing) isOf(other thing) bool {
	return bytes.Equal(t.of, other.of) && bytes.Equal(t.variant, other.variant)
}

// note compares what is said of a thing with what was said before.
func (f *field) note(at *seen, hash uint64) {
	known := f.values[at]
	if known == nil {
		known = &told{hash: hash}
		f.values[at] = known
	}
	known.times++
	if f.varies = known.hash != hash; f.varies {
		f.values = nil
	}
}

// constant reports whether a field has one value for each thing, in every experiment with it.
func (v *varying) constant(name string) bool {
	f := v.fields[name]
	if f == nil || f.varies {
		return false
	}
	for at, value := range f.values {
		if value.times != at.times {
			return false
		}
	}
	return true
}
