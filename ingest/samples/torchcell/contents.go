package torchcell

import (
	"context"
	"iter"
	"runtime"
	"slices"
	"sync"

	"tcbuild/fault"
	"tcbuild/internal/inorder"
)

// Contents is what the records of a store say, in columns. They are found by one pass over the
// store, as the last record may add a column; another pass reads the values.
type Contents struct {
	Columns []Column

	store   *Store
	found   *columns
	targets map[int]int // Columns by their numbers in found; those that are left out have none
}

// Read finds the columns of a store.
func Read(s *Store) (*Contents, error) {
	found := newColumns()
	for record, err := range s.Records() {
		if err == nil {
			err = s.inRecord(record.Number, found.note(record))
		}
		if err != nil {
			return nil, err
		}
	}
	c := &Contents{store: s, found: found}
	c.Columns, c.targets = found.arrange()
	return c, nil
}

// Column returns the number of the column that has a value of the record that was read last, if one
// has. It is called for each value of the record in order.
func (r *Reader) Column(e *Experiment, v *Value) (column int, ok bool) {
	if at, known := r.contents.found.find(&r.hints, e, v); known {
		column, ok = r.contents.targets[at]
	}
	return column, ok
}

// A Reader reads records of chunks. Each goroutine needs its own.
type Reader struct {
	contents *Contents
	decoder  decoder
	record   Record
	hints    hints
}

// NewReader makes a reader of the store's records, without details that no column has.
func (c *Contents) NewReader() *Reader {
	return &Reader{contents: c, decoder: decoder{leftOut: c.leftOut()}}
}

// leftOut are the names of the details that no column has.
func (c *Contents) leftOut() map[string]bool {
	names := make(map[string]bool)
	for at, column := range c.found.found {
		if _, kept := c.targets[at]; !kept {
			names[column.field] = true
		}
	}
	for _, column := range c.Columns {
		delete(names, column.field)
	}
	return names
}

// Record reads record i of a chunk. It is valid until the next one is read.
func (r *Reader) Record(c *Chunk, i int) (*Record, error) {
	r.hints.place = 0
	return &r.record, r.contents.store.decode(&r.decoder, &r.record, c, i)
}

// decoded is a chunk with its records, up to the first bad one.
type decoded struct {
	*Chunk
	decoder decoder
	records []Record
	bad     error
}

func (d *decoded) decode(s *Store) {
	d.records = slices.Grow(d.records[:0], d.Len())[:d.Len()]
	for i := range d.records {
		if d.bad = s.decode(&d.decoder, &d.records[i], d.Chunk, i); d.bad != nil {
			d.records = d.records[:i]
			return
		}
	}
}

// Records yields every record, ascending by number, while other goroutines read and decode those
// that follow. Memory is a few chunks, and the records' numbers. It ends with the first error, in
// the order of the records. A bad store is a fault.Input that names the record.
func (s *Store) Records() iter.Seq2[*Record, error] {
	free := sync.Pool{New: func() any { return new(decoded) }}
	var workers []func(*decoded)
	for range runtime.GOMAXPROCS(0) {
		workers = append(workers, func(d *decoded) { d.decode(s) })
	}
	read := func(send func(*decoded) error) error {
		return s.Chunks(func(c *Chunk) error {
			d := free.Get().(*decoded)
			d.Chunk = c
			return send(d)
		})
	}
	return func(yield func(*Record, error) bool) {
		for d, err := range inorder.Each(context.Background(), workers, read) {
			if err != nil {
				yield(nil, err)
				return
			}
			for i := range d.records {
				if !yield(&d.records[i], nil) {
					return
				}
			}
			if d.bad != nil {
				yield(nil, s.inRecord(d.numbers[len(d.records)], d.bad))
				return
			}
			free.Put(d)
		}
		if err := s.Unchanged(); err != nil {
			yield(nil, err)
		}
	}
}

// inRecord is an error of a record, if there is one.
func (s *Store) inRecord(number int, err error) error {
	if err == nil {
		return nil
	}
	return s.wrong(fault.New(fault.Input, fault.HintOf(err), "record %d: %w", number, err))
}
