package torchcell

import (
	"encoding/binary"
	"fmt"
	"math"
	"slices"

	"tcbuild/conf"
	"tcbuild/fault"
)

// maxColumns limits the memory for stores whose labels keep adding members.
const maxColumns = 1 << 16

// Columns arranges the values of a store's records in columns, in order of first appearance. A
// column is named by its label or statistic, followed by .PART for a member of an object or array,
// and by #2 and so on for further experiments of a record with the same label. If that name is
// taken, its label goes in front. A column without numbers, whose values are texts, lists or
// objects, is ignored. A column with both is an error, in whatever order they come.
type Columns struct {
	store   *Store
	index   map[string]int // by identity
	columns []column
	names   []string
	key     []byte // of the current value of each
}

type column struct {
	name   string
	number int // record of the first number, or -1
	other  int // record of the first value that is neither a number nor missing, or -1
	target int // index among the names, or -1
}

// NewColumns finds the columns of a store, and keeps none of them yet. It reads the whole store.
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

// note records what a record holds in the column.
func (c *column) note(record int, v *Value) {
	switch {
	case v.Other && c.other < 0:
		c.other = record
	case !v.Other && c.number < 0 && !math.IsNaN(v.Number):
		c.number = record
	}
}

// Names are the names of the kept columns, in order.
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

// Keep keeps the wanted columns, in their order. nil means all that hold a number or no value at
// all, except those of leftOut. Unknown and repeated names are errors, and so is keeping a column
// with other values than numbers.
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
			return fault.New(fault.Usage, "name it only once, in --phenotypes or --not-phenotypes",
				"read torchcell store %s: found phenotype %s named twice", c.store.dir, fault.Quote(name))
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
			return fault.New(fault.Input, "write the store again with torchcell, or exclude the phenotype with --not-phenotypes "+fault.List([]string{name}),
				"read torchcell store %s: record %d: phenotype %s: found a text, a list or an object, expected a number", c.store.dir, column.other, fault.Quote(name))
		}
	}
	return nil
}

// unknown is the error for a name that is not in the store.
func (c *Columns) unknown(name string) error {
	var names []string
	for _, column := range c.columns {
		names = append(names, column.name)
	}
	hint := "choose one of these"
	if nearest := conf.Nearest(name, names); nearest != "" {
		hint = "did you mean " + fault.Quote(nearest) + "?"
	}
	return fault.New(fault.Input, hint, "read torchcell store %s: found phenotypes %s, expected %s",
		c.store.dir, fault.List(names), fault.Quote(name))
}

// Fill sets one value per name to the record's value, or NaN if that is missing. An infinite value
// is not a measurement: it counts as missing, and Fill returns the number of those.
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

// each calls visit with each value of a record, with its column (-1 if that is new) and the number
// of its experiment, from 1, among those with its label.
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
