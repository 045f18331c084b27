package torchcell

import (
	"encoding/binary"
	"fmt"
	"math"
	"slices"

	"tcbuild/internal/fault"
)

// maxColumns bounds the memory of stores whose labels name ever new members.
const maxColumns = 1 << 16

// Columns lays the values of a store's records out as columns, which are in the order in which the values first appear. A
// column is named by its label or statistic, behind which stand .PART for a member of an object or array, and #2 and so on for
// the second and further experiments of a record with the same label. A name that is taken gets its label in front. Values
// that are neither numbers nor missing make no column, if they come first.
type Columns struct {
	index   map[string]int // by identity
	columns []column
	names   []string
	key     []byte // of the value that each is at
}

type column struct {
	name    string
	content content
	target  int // among the names; -1 for none
}

// content is what the first value is that is not missing.
type content int

const (
	unseen content = iota
	numbers
	others
)

// NewColumns finds the columns of a store. It reads the store whole.
func NewColumns(s *Store) (*Columns, error) {
	c := &Columns{index: make(map[string]int)}
	taken := make(map[string]bool)
	err := s.Records(func(r *Record) error {
		return c.each(r, func(at, nth int, e *Experiment, v *Value) error {
			if at < 0 {
				if len(c.columns) == maxColumns {
					return fault.New(fault.Input, "give a store whose labels have fewer members",
						"read torchcell store %s: record %d: found more than %d phenotypes", s.dir, r.Number, maxColumns)
				}
				at = len(c.columns)
				c.index[string(c.key)] = at
				c.columns = append(c.columns, column{name: columnName(taken, nth, e, v)})
			}
			column := &c.columns[at]
			switch {
			case v.Other && column.content == numbers:
				return fault.New(fault.Input, "have torchcell write the store anew",
					"read torchcell store %s: record %d: phenotype %q: found no number, expected one as in earlier records", s.dir, r.Number, column.name)
			case v.Other:
				column.content = others
			case column.content == unseen && !math.IsNaN(v.Number):
				column.content = numbers
			}
			return nil
		})
	})
	if err != nil {
		return nil, err
	}
	var names []string
	for _, column := range c.columns {
		if column.content != others {
			names = append(names, column.name)
		}
	}
	c.Select(names)
	return c, nil
}

// Names are the names of the columns of numbers that are kept, in order.
func (c *Columns) Names() []string { return c.names }

// Ignored are the names of the other columns.
func (c *Columns) Ignored() []string {
	var ignored []string
	for _, column := range c.columns {
		if column.target < 0 {
			ignored = append(ignored, column.name)
		}
	}
	return ignored
}

// Select keeps the columns with the given names, in their order; at first all are kept. It returns those names
// that no column of numbers has.
func (c *Columns) Select(names []string) (unknown []string) {
	c.names = names
	unknown = slices.Clone(names)
	for i := range c.columns {
		column := &c.columns[i]
		column.target = -1
		if column.content != others {
			column.target = slices.Index(names, column.name)
			unknown = slices.DeleteFunc(unknown, func(name string) bool { return name == column.name })
		}
	}
	return unknown
}

// Fill sets one value per name to that of a record of the store, NaN if it is missing. An infinite value is no
// measurement: it counts as missing, and Fill returns how many there were.
func (c *Columns) Fill(r *Record, values []float64) (infinite int) {
	for i := range values {
		values[i] = math.NaN()
	}
	_ = c.each(r, func(at, _ int, _ *Experiment, v *Value) error {
		switch target := c.columns[at].target; {
		case target < 0:
		case math.IsInf(v.Number, 0):
			infinite++
		default:
			values[target] = v.Number
		}
		return nil
	})
	return infinite
}

// columnName names a new column.
func columnName(taken map[string]bool, nth int, e *Experiment, v *Value) string {
	name := string(v.Name)
	if v.Part != nil {
		name += "." + string(v.Part)
	}
	if nth > 1 {
		name += fmt.Sprintf("#%d", nth)
	}
	for taken[name] {
		name = string(e.Label) + "." + name
	}
	taken[name] = true
	return name
}

// each calls visit with each value of a record: its column, -1 if that is new, and the number of its experiment, from 1,
// among those of its label.
func (c *Columns) each(r *Record, visit func(at, nth int, e *Experiment, v *Value) error) error {
	for i := range r.Experiments {
		e := &r.Experiments[i]
		nth := 1
		for _, earlier := range r.Experiments[:i] {
			if string(earlier.Label) == string(e.Label) {
				nth++
			}
		}
		for k := range e.Values {
			v := &e.Values[k]
			c.key = binary.AppendUvarint(c.key[:0], uint64(nth))
			for _, part := range [][]byte{e.Label, v.Name, v.Part} {
				c.key = append(binary.AppendUvarint(c.key, uint64(len(part))), part...)
			}
			at, known := c.index[string(c.key)]
			if !known {
				at = -1
			}
			if err := visit(at, nth, e, v); err != nil {
				return err
			}
		}
	}
	return nil
}
