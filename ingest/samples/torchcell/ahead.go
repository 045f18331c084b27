package torchcell

import (
	"bytes"
	"cmp"
	"context"
	"fmt"
	"runtime"
	"slices"
	"strconv"
	"sync"

	"tcbuild/fault"
	"tcbuild/internal/inorder"
	"tcbuild/internal/lmdbfile"
)

// chunk is consecutive records, which are read together and decoded together.
type chunk struct {
	numbers []int
	values  []byte // as they lie in the store
	ends    []int  // of each record's, in values
	records []Record
	bad     error // of the record after the last of records
	decoder decoder
	inflate inflater
}

const (
	chunkRecords = 256
	chunkBytes   = 256 << 10
)

// textFunc returns the text of a record's value, perhaps in the inflater's buffer.
type textFunc func(number int, value []byte, inflate *inflater) ([]byte, error)

// readAhead calls yield with every record by number, in this goroutine, while others read and
// decode those that follow. Memory is a few chunks, and the records' numbers. It stops at the first
// error, in the order of the records.
func readAhead(pages *lmdbfile.File, text textFunc, yield func(*Record) error) error {
	free := sync.Pool{New: func() any { return new(chunk) }}
	decode := func(c *chunk) { c.decode(text) }
	workers := slices.Repeat([]func(*chunk){decode}, runtime.GOMAXPROCS(0))
	chunks := inorder.Each(context.Background(), workers, func(full func(*chunk) error) error {
		return readChunks(pages, &free, full)
	})
	for c, err := range chunks {
		if err != nil {
			return err
		}
		for i := range c.records {
			if err := yield(&c.records[i]); err != nil {
				return err
			}
		}
		if c.bad != nil {
			return c.bad
		}
		free.Put(c)
	}
	return nil
}

// readChunks reads all records in order, into chunks that it takes from free and passes to full,
// those before an error too.
func readChunks(pages *lmdbfile.File, free *sync.Pool, full func(*chunk) error) error {
	var c *chunk
	err := inOrder(pages, func(number int, value []byte) error {
		if c == nil {
			c = free.Get().(*chunk)
			c.numbers, c.values, c.ends = c.numbers[:0], c.values[:0], c.ends[:0]
		}
		c.numbers, c.values = append(c.numbers, number), append(c.values, value...)
		c.ends = append(c.ends, len(c.values))
		if len(c.ends) < chunkRecords && len(c.values) < chunkBytes {
			return nil
		}
		whole := c
		c = nil
		return full(whole)
	})
	if c != nil {
		err = cmp.Or(err, full(c))
	}
	return err
}

// decode decodes the chunk's records, up to the first bad one.
func (c *chunk) decode(text textFunc) {
	c.records, c.bad = c.records[:0], nil
	c.inflate.buffer.Reset()
	for i, number := range c.numbers {
		start := 0
		if i > 0 {
			start = c.ends[i-1]
		}
		value := c.values[start:c.ends[i]:c.ends[i]]
		text, err := text(number, value, &c.inflate)
		if err == nil {
			c.records = slices.Grow(c.records, 1)[:i+1] // reuses the memory of an earlier record
			err = c.decoder.decode(&c.records[i], number, text)
		}
		if err != nil {
			c.records = c.records[:i]
			c.bad = fault.New(fault.Input, recordHint(value), "record %d: %w", number, err)
			return
		}
	}
}

// keyPrefix precedes the numbers in the keys of earlier stages of a build.
const keyPrefix = "data_"

// inOrder calls visit with every record by number. LMDB has them in the order of their keys' text:
// 0, 1, 10, 100, 11. It keeps the numbers, 8 bytes each.
func inOrder(f *lmdbfile.File, visit func(number int, value []byte) error) error {
	prefix, numbers, err := readKeys(f)
	if err != nil {
		return err
	}
	var target, value []byte
	for _, number := range numbers {
		target = strconv.AppendInt(append(target[:0], prefix...), int64(number), 10)
		key, err := f.Seek(target)
		if err == nil && !bytes.Equal(key, target) {
			err = fmt.Errorf("%w: found no record %d again", lmdbfile.ErrDamaged, number)
		}
		if err != nil {
			return err
		}
		if value, err = f.Value(value); err != nil {
			return fmt.Errorf("record %d: %w", number, err)
		}
		if err := visit(number, value); err != nil {
			return err
		}
	}
	return nil
}

// readKeys returns the records' numbers, ascending, and what precedes each in its key.
func readKeys(f *lmdbfile.File) (prefix []byte, numbers []int, err error) {
	key, err := f.Seek(nil)
	if bytes.HasPrefix(key, []byte(keyPrefix)) {
		prefix = []byte(keyPrefix)
	}
	mayFollow := func() bool { return key != nil && uint64(len(numbers)) <= f.Entries() }
	for target := []byte(nil); err == nil && mayFollow(); key, err = f.Seek(target) {
		text, prefixed := bytes.CutPrefix(key, prefix)
		number, bad := strconv.ParseInt(string(text), 10, 64)
		if !prefixed || bad != nil || number < 0 || strconv.FormatInt(number, 10) != string(text) {
			return nil, nil, fmt.Errorf(
				"found the key %.40q, expected %s and a number as in the other keys", key,
				strconv.Quote(string(prefix)))
		}
		numbers = append(numbers, int(number))
		target = append(append(target[:0], key...), 0)
	}
	if err == nil && uint64(len(numbers)) != f.Entries() {
		err = fmt.Errorf("%w: found %d records, expected %d by its header", lmdbfile.ErrDamaged,
			len(numbers), f.Entries())
	}
	slices.Sort(numbers)
	return prefix, numbers, err
}
