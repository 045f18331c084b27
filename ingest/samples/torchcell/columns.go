package torchcell

import (
	"fmt"
	"math"
	"strconv"
	"unicode/utf8"

	"tcbuild/fault"
)

// maxColumns limits the memory for stores whose labels keep adding members.
const maxColumns = 1 << 16

// Column is what the records of a store say of one thing.
type Column struct {
	Name string
	// Attribute is true for what is noted of an experiment, not measured.
	Attribute bool
	// Types is true for types of perturbations.
	Types bool
	// the first number (which may be infinite), the first text, and the first object or array
	Number, Text, Other First
	Unit                string // "" if no record says it
	// UnitDiffers is the first record with OtherUnit in place of Unit.
	UnitDiffers First
	OtherUnit   string
	Description string
	// StatisticOf is the name of the column whose statistic this one is; "" for others.
	StatisticOf string

	field  string
	detail bool // left out if it is the same in all records
	label  string
	base   string   // the name without the label
	of     identity // of the column of the label, for a statistic
}

// First is the first record in which something is found, if there is one.
type First struct {
	Record int
	Found  bool
}

func (f *First) note(record int) {
	if !f.Found {
		*f = First{record, true}
	}
}

// Or returns the earlier one of two.
func (f First) Or(other First) First {
	if !f.Found || other.Found && other.Record < f.Record {
		return other
	}
	return f
}

// String is the record's number; "" if there is none.
func (f First) String() string {
	if !f.Found {
		return ""
	}
	return strconv.Itoa(f.Record)
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
	index      map[identity]int // in found
	found      []Column
	identities []identity // of found
	mixed      bool       // a record has several labels
	hints      hints

	varying varying
}

// identity tells columns apart before they have names.
type identity struct {
	nth               int // experiment of its label
	attribute         bool
	label, name, part string
}

func newColumns() *columns {
	return &columns{index: make(map[identity]int), varying: newVarying()}
}

// hints are the columns of the values of the record before, in their order: most records have the
// same ones.
type hints struct {
	columns []int
	place   int // of the next value
}

// find returns the number of a value's column, which is the next one if it is not known. It is
// called for each value of a record in order.
func (c *columns) find(h *hints, e *Experiment, v *Value) (at int, known bool) {
	if h.place == len(h.columns) {
		h.columns = append(h.columns, 0)
	}
	hint := &h.columns[h.place]
	h.place++
	if *hint < len(c.identities) && c.identities[*hint].isOf(e, v) {
		return *hint, true
	}
	if at, known = c.index[identityOf(e, v)]; !known {
		at = len(c.found)
	}
	*hint = at
	return at, known
}

func identityOf(e *Experiment, v *Value) identity {
	return identity{e.nth, v.Attribute, string(e.Label), string(v.Name), string(v.Part)}
}

// isOf compares without making texts.
func (i *identity) isOf(e *Experiment, v *Value) bool {
	return i.nth == e.nth && i.attribute == v.Attribute && i.name == string(v.Name) &&
		i.label == string(e.Label) && i.part == string(v.Part)
}

// note notes the values of a record, and adds the columns that it has first.
func (c *columns) note(r *Record) error {
	c.hints.place = 0
	for i := range r.Experiments {
		e := &r.Experiments[i]
		c.varying.note(e)
		c.mixed = c.mixed || string(e.Label) != string(r.Experiments[0].Label)
		for k := range e.Values {
			v := &e.Values[k]
			at, known := c.find(&c.hints, e, v)
			if !known {
				if err := c.add(e, v); err != nil {
					return err
				}
			}
			c.found[at].note(r.Number, v)
			if !v.Attribute && string(v.Name) == string(e.Label) {
				c.found[at].describe(r.Number, e)
			}
		}
	}
	return nil
}

// add adds the column of a value.
func (c *columns) add(e *Experiment, v *Value) error {
	if len(c.found) == maxColumns {
		return fault.New(fault.Input, "give a store whose labels have fewer members",
			"found more than %d phenotypes", maxColumns)
	}
	label, name := string(e.Label), string(v.Name)
	column := Column{
		Attribute: v.Attribute, Types: v.Types, detail: v.Detail,
		field: name, label: label, base: v.column(),
	}
	if e.nth > 1 {
		column.base += fmt.Sprintf("#%d", e.nth)
	}
	for _, name := range []string{column.label, column.base} {
		if !utf8.ValidString(name) {
			return fault.New(fault.Input, "copy or build the store again",
				"found text %s, expected UTF-8", fault.Quote(name))
		}
	}
	if !v.Attribute && name != label {
		column.of = identity{nth: e.nth, label: label, name: label, part: string(v.Part)}
	}
	c.index[identityOf(e, v)] = len(c.found)
	c.found, c.identities = append(c.found, column), append(c.identities, identityOf(e, v))
	return nil
}

// note records what a value is.
func (c *Column) note(record int, v *Value) {
	switch {
	case v.Other:
		c.Other.note(record)
	case v.Text != nil || v.Types:
		c.Text.note(record)
	case !math.IsNaN(v.Number):
		c.Number.note(record)
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
	case !c.UnitDiffers.Found:
		c.UnitDiffers.note(record)
		c.OtherUnit = string(e.Unit)
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
// for each column that was found its number among the arranged ones, if it is one of them.
func (c *columns) arrange() (arranged []Column, targets map[int]int) {
	taken := make(map[string]bool)
	for i := range c.found {
		if !c.found[i].Attribute { // phenotypes have the first choice of names
			c.found[i].name(taken)
		}
	}
	targets = make(map[int]int)
	shared := make(map[string]int)
	for i, column := range c.found {
		if column.detail && c.varying.constant(column.field) {
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
		targets[i] = at
	}
	for i := range arranged {
		if of, known := c.index[arranged[i].of]; known {
			arranged[i].StatisticOf = c.found[of].Name
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
	c.Number, c.Text = c.Number.Or(other.Number), c.Text.Or(other.Text)
	c.Other = c.Other.Or(other.Other)
}
