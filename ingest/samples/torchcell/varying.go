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
	now    []*seen  // things of the experiment at hand: itself, then those of its list
	last   []*field // of the experiment before, in the order of its details
}

type thingKey struct{ of, variant string }

// seen is a thing, how many experiments have it, and what fields say of it, by their numbers.
type seen struct {
	times int
	told  []told
}

// field is what experiments have as the detail of one name.
type field struct {
	name   string
	number int
	varies bool
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
	v.now = append(v.now[:0], v.thing(thing{}))
	for _, t := range e.things {
		v.now = append(v.now, v.thing(t))
	}
	for i, at := range v.now {
		if !slices.Contains(v.now[:i], at) {
			at.times++
		}
	}
	place := 0
	for details := range e.byName() {
		f := v.field(place, details[0].name)
		place++
		for len(details) > 0 && !f.varies {
			same := 1 // details of one thing
			text := details[0].text
			for ; same < len(details) && details[same].isOf(details[0].thing); same++ {
				text = slices.Concat(text, []byte{'|'}, details[same].text)
			}
			f.note(v.thingNow(e, details[0].thing), xxhash.Sum64(text))
			details = details[same:]
		}
	}
}

// field returns the field of a name. Most experiments have the same ones, in the same places.
func (v *varying) field(place int, name []byte) *field {
	if place < len(v.last) && v.last[place].name == string(name) {
		return v.last[place]
	}
	f := v.fields[string(name)]
	if f == nil {
		f = &field{name: string(name), number: len(v.fields)}
		v.fields[f.name] = f
	}
	v.last = append(v.last[:min(place, len(v.last))], f)
	return f
}

// thingNow is thing for one that is probably in the list of the experiment at hand.
func (v *varying) thingNow(e *Experiment, t thing) *seen {
	if t.of == nil {
		return v.now[0]
	}
	if at := slices.IndexFunc(e.things, t.isOf); at >= 0 {
		return v.now[at+1]
	}
	return v.thing(t)
}

func (t thing) isOf(other thing) bool {
	return bytes.Equal(t.of, other.of) && bytes.Equal(t.variant, other.variant)
}

// note compares what is said of a thing with what was said before.
func (f *field) note(at *seen, hash uint64) {
	if missing := f.number + 1 - len(at.told); missing > 0 {
		at.told = append(at.told, make([]told, missing)...)
	}
	known := &at.told[f.number]
	if known.times == 0 {
		known.hash = hash
	}
	known.times++
	f.varies = known.hash != hash
}

// constant reports whether a field has one value for each thing, in every experiment with it.
func (v *varying) constant(name string) bool {
	f := v.fields[name]
	if f == nil || f.varies {
		return false
	}
	for _, at := range v.things {
		isTold := f.number < len(at.told) && at.told[f.number].times > 0
		if isTold && at.told[f.number].times != at.times {
			return false
		}
	}
	return true
}
