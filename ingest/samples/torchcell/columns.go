package torchcell

import (
	"bytes"
	"encoding/binary"
	"encoding/json"
	"fmt"
	"math"
	"slices"
	"unicode/utf8"

	"tcbuild/fault"
)

// maxColumns limits the memory for stores whose labels keep adding members.
const maxColumns = 1 << 16

// Column is what the records of a store say of one thing, with the records in which that is first
// of a kind; -1 for none.
type Column struct {
	Name string
	// Attribute is true for what is noted of an experiment, not measured.
	Attribute bool
	// Types is true for types of perturbations.
	Types bool
	// the first number (which may be infinite), the first text, and the first object or array
	Number, Text, Other int
	Unit                string // "" if no record says it
	// UnitDiffers is the first record with OtherUnit in place of Unit.
	UnitDiffers int
	OtherUnit   string
	Description string
	// StatisticOf is the column whose statistic this one is, or -1.
	StatisticOf int

	field   string
	detail  bool // left out if it is the same in all records
	label   string
	base    string // the name without the label
	labeled string // identity of the column of the label with this statistic, or ""
}

// columns collects the columns of a store, in order of first appearance.
//
// A column is named by its label or statistic, followed by .PART for a member of an object or
// array, and by #2 and so on for further experiments of a record with the same label. If that name
// is taken, its label goes in front.
//
// Attributes belong to their experiment, and their columns are named in the same way. As long as
// all experiments of each record have the same label, attributes of different labels share a
// column; otherwise all but the first label's attributes have their label in front.
type columns struct {
	dir   string
	index map[string]int // by identity
	found []Column
	mixed bool   // a record has several labels
	key   []byte // of the current value
	genes [][]byte

	varying varying
}

// each calls visit with each value of a record and its column. e is the number of its experiment.
func (c *columns) each(r *Record, visit func(column, e int, v *Value)) error {
	c.tellApart(r)
	for i := range r.Experiments {
		e := &r.Experiments[i]
		c.varying.attributes(e)
		nth := 1 // from 1, among those with its label
		for _, earlier := range r.Experiments[:i] {
			if string(earlier.Label) == string(e.Label) {
				nth++
			} else {
				c.mixed = true
			}
		}
		for k := range e.Values {
			v := &e.Values[k]
			at, err := c.column(r.Number, nth, e, v, false)
			if err != nil {
				return err
			}
			if string(v.Name) == string(e.Label) {
				c.found[at].describe(r.Number, e)
			}
			visit(at, i, v)
		}
		for k := range e.Attributes {
			at, err := c.column(r.Number, nth, e, &e.Attributes[k], true)
			if err != nil {
				return err
			}
			visit(at, i, &e.Attributes[k])
		}
	}
	return nil
}

// tellApart adds the attributes by which an experiment differs from the only one of a record with
// finite values: its number, if it is not the first, the number of its perturbations,
// unless it has one of each gene that the record names, and its values that are not finite, or that
// its label has none.
func (c *columns) tellApart(r *Record) {
	c.genes = c.genes[:0]
	for i := range r.Experiments {
		for _, p := range r.Experiments[i].Perturbations {
			c.genes = append(c.genes, p.Gene)
		}
	}
	slices.SortFunc(c.genes, bytes.Compare)
	genes := len(slices.CompactFunc(c.genes, bytes.Equal))
	for i := range r.Experiments {
		e := &r.Experiments[i]
		if i > 0 {
			e.Attributes = append(e.Attributes, Value{Name: experimentNumber, Number: float64(i)})
		}
		if n := len(e.Perturbations); n != genes {
			e.Attributes = append(e.Attributes, Value{Name: perturbationCount, Number: float64(n)})
		}
		if text := e.notFinite(); text != nil {
			e.Attributes = append(e.Attributes,
				Value{Name: notFinite, Number: math.NaN(), Text: text})
		}
	}
}

// notFinite returns the values of an experiment that are NaN or infinite as a JSON object, in which
// they are written as torchcell writes them, and its label as null if that has no number; nil if
// there is nothing to tell.
func (e *Experiment) notFinite() (text []byte) {
	add := func(name, token string) {
		quoted, _ := json.Marshal(name) // text, which JSON can write
		text = append(append(append(append(text, ','), quoted...), ':'), token...)
	}
	measured := false
	for _, v := range e.Values {
		measured = measured || string(v.Name) == string(e.Label) && (v.NaN || !math.IsNaN(v.Number))
		switch {
		case math.IsInf(v.Number, 1):
			add(v.column(), "Infinity")
		case math.IsInf(v.Number, -1):
			add(v.column(), "-Infinity")
		case v.NaN:
			add(v.column(), "NaN")
		}
	}
	if !measured {
		add(string(e.Label), "null")
	}
	if text != nil {
		text[0] = '{'
		text = append(text, '}')
	}
	return text
}

// column is the name of a value within its experiment.
func (v *Value) column() string {
	if v.Part == nil {
		return string(v.Name)
	}
	return string(v.Name) + "." + string(v.Part)
}

// column returns the column of a value, perhaps a new one, and notes what the value is.
func (c *columns) column(record, nth int, e *Experiment, v *Value, attribute bool) (int, error) {
	at, known := c.index[string(c.identify(nth, e.Label, v.Name, v.Part, attribute))]
	if !known {
		if len(c.found) == maxColumns {
			return 0, fault.New(fault.Input, "give a store whose labels have fewer members",
				"read torchcell store %s: record %d: found more than %d phenotypes", c.dir, record,
				maxColumns)
		}
		at = len(c.found)
		c.index[string(c.key)] = at
		column := Column{
			Attribute: attribute, Types: v.Types, detail: v.Detail,
			field: string(v.Name), label: string(e.Label), base: v.column(),
			Number: -1, Text: -1, Other: -1, UnitDiffers: -1, StatisticOf: -1,
		}
		if nth > 1 {
			column.base += fmt.Sprintf("#%d", nth)
		}
		for _, name := range []string{column.label, column.base} {
			if !utf8.ValidString(name) {
				return 0, fault.New(fault.Input, "copy or build the store again",
					"read torchcell store %s: record %d: found text %s, expected UTF-8", c.dir,
					record, fault.Quote(name))
			}
		}
		if !attribute && string(v.Name) != string(e.Label) {
			column.labeled = string(c.identify(nth, e.Label, e.Label, v.Part, false))
		}
		c.found = append(c.found, column)
	}
	c.found[at].note(record, v)
	return at, nil
}

// identify makes the key of a column.
func (c *columns) identify(nth int, label, name, part []byte, attribute bool) []byte {
	kind := byte('p')
	if attribute {
		kind = 'a'
	}
	c.key = binary.AppendUvarint(append(c.key[:0], kind), uint64(nth))
	for _, text := range [...][]byte{label, name, part} {
		c.key = append(binary.AppendUvarint(c.key, uint64(len(text))), text...)
	}
	return c.key
}

// note records what a value is.
func (c *Column) note(record int, v *Value) {
	switch {
	case v.Other && c.Other < 0:
		c.Other = record
	case (v.Text != nil || v.Types) && c.Text < 0:
		c.Text = record
	case !math.IsNaN(v.Number) && c.Number < 0:
		c.Number = record
	}
}

// severalMeasurements describes a column whose records do not measure the same.
const severalMeasurements = "of several measurement types"

// describe records what an experiment says of the values of its label.
func (c *Column) describe(record int, e *Experiment) {
	switch {
	case e.Unit == nil || string(e.Unit) == c.Unit:
	case c.Unit == "":
		c.Unit = string(e.Unit)
	case c.UnitDiffers < 0:
		c.UnitDiffers, c.OtherUnit = record, string(e.Unit)
	}
	switch {
	case e.Measurement == nil || string(e.Measurement) == c.Description:
	case c.Description == "":
		c.Description = string(e.Measurement)
	default:
		c.Description = severalMeasurements
	}
}

// arrange names the columns when all are known, and merges those that attributes share. targets has
// for each column that was found its number among the arranged ones.
func (c *columns) arrange() (arranged []Column, targets []int) {
	taken := make(map[string]bool)
	for i := range c.found {
		if !c.found[i].Attribute { // phenotypes have the first choice of names
			c.found[i].name(taken)
		}
	}
	shared := make(map[string]int)
	for i, column := range c.found {
		if column.detail && c.varying.constant(column.field) {
			targets = append(targets, -1)
			continue
		}
		at, known := shared[column.base]
		if !column.Attribute || c.mixed || !known {
			at = len(arranged)
			if column.Attribute {
				shared[column.base] = at
				if c.mixed && column.label != c.found[0].label {
					column.base = column.label + "." + column.base
				}
				column.name(taken)
			}
			arranged = append(arranged, column)
		} else {
			arranged[at].merge(&c.found[i])
		}
		targets = append(targets, at)
	}
	for i := range arranged {
		if of, known := c.index[arranged[i].labeled]; known {
			arranged[i].StatisticOf = targets[of]
		}
	}
	return arranged, targets
}

func (c *Column) name(taken map[string]bool) {
	for c.Name = c.base; taken[c.Name]; {
		c.Name = c.label + "." + c.Name
	}
	taken[c.Name] = true
}

// merge adds what another column holds.
func (c *Column) merge(other *Column) {
	for _, both := range [][2]*int{{&c.Number, &other.Number}, {&c.Text, &other.Text},
		{&c.Other, &other.Other}} {
		if mine, theirs := both[0], *both[1]; *mine < 0 || theirs >= 0 && theirs < *mine {
			*mine = theirs
		}
	}
}
