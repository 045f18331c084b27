package torchcell

import (
	"encoding/binary"
	"fmt"
	"math"
	"slices"

	"tcbuild/conf"
	"tcbuild/fault"
)

// maxColumns bounds the memory of stores whose labels name ever new members.
const maxColumns = 1 << 16

// Columns lays the values of a store's records out as columns, which are in the order in which the
// values first appear. A column is named by its label or statistic, behind which stand .PART for a
// member of an object or array, and #2 and so on for the second and further experiments of a record
// with the same label. A name that is taken gets its label in front. A column without numbers,
// whose values are texts, lists or objects, is ignored; one of both is an error, in whatever order
// they come.
type Columns struct {
	store   *Store
	index   map[string]int // by identity
	columns []column
	names   []string
	key     []byte // of the value that each is at
}

type column struct {
	name   string
	number int // record of the first number, -1 without one
	other  int // record of the first value that is neither a number nor missing, -1 without one
	target int // among the names; -1 for none
}

// NewColumns finds the columns of a store, and keeps none of them yet. It reads the store whole.
func NewColumns(s *Store) (*Columns, error) {
	c := &Columns{store: s, index: make(map[string]int)}
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
				c.columns = append(c.columns, column{name: columnName(taken, nth, e, v), number: -1, other: -1, target: -1})
			}
			c.columns[at].note(r.Number, v)
			return nil
		})
	})
	return c, err
}

// note takes down what a record holds in the column.
func (c *column) note(record int, v *Value) {
	switch {
	case v.Other && c.other < 0:
		c.other = record
	case !v.Other && c.number < 0 && !math.IsNaN(v.Number):
		c.number = record
	}
}

// Names are the names of the columns that are kept, in order.
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

// Keep keeps the wanted columns, in their order: nil are all that hold a number or no value at all,
// but for those of leftOut. A name that the store does not have, one that is named twice, and a
// column to be kept that holds anything but numbers are errors.
func (c *Columns) Keep(wanted, leftOut []string) error {
	at := make(map[string]int, len(c.columns))
	for i := range c.columns {
		at[c.columns[i].name] = i
	}
	named := make(map[string]bool)
	for _, name := range slices.Concat(wanted, leftOut) {
		if _, known := at[name]; !known {
			return c.unknown(name)
		}
		if named[name] {
			return fault.New(fault.Usage, "name it once in --phenotypes and --not-phenotypes together",
				"read torchcell store %s: phenotype %s is named twice", c.store.dir, fault.Quote(name))
		}
		named[name] = true
	}
	if wanted == nil {
		for _, column := range c.columns {
			if attribute := column.other >= 0 && column.number < 0; !attribute && !named[column.name] {
				wanted = append(wanted, column.name)
			}
		}
	}
	c.names = wanted
	for target, name := range wanted {
		column := &c.columns[at[name]]
		if column.target = target; column.other >= 0 {
			return fault.New(fault.Input, "have torchcell write the store anew, or leave the phenotype out with --not-phenotypes "+fault.List([]string{name}),
				"read torchcell store %s: record %d: phenotype %s: found a text, a list or an object, expected a number", c.store.dir, column.other, fault.Quote(name))
		}
	}
	return nil
}

// unknown is the error of a name that the store does not have.
func (c *Columns) unknown(name string) error {
	var names []string
	for _, column := range c.columns {
		names = append(names, column.name)
	}
	hint := "choose among these"
	if nearest := conf.Nearest(name, names); nearest != "" {
		hint = "did you mean " + fault.Quote(nearest) + "?"
	}
	return fault.New(fault.Input, hint, "read torchcell store %s: found phenotypes %s (expected %s)",
		c.store.dir, fault.List(names), fault.Quote(name))
}

// Fill sets one value per name to that of a record of the store, NaN if it is missing. An infinite
// value is no measurement: it counts as missing, and Fill returns how many there were.
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

// each calls visit with each value of a record: its column, -1 if that is new, and the number of
// its experiment, from 1, among those of its label.
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
