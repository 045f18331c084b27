package torchcell

import (
	"errors"
	"runtime"
	"slices"

	"golang.org/x/sync/errgroup"

	"tcbuild/fault"
	"tcbuild/internal/lmdbfile"
)

// chunk is consecutive records, which are read together and decoded together.
type chunk struct {
	numbers []int
	values  []byte // as they lie in the store
	ends    []int  // of each record's, in values
	records []Record
	bad     error         // of the record after the last of records
	decoded chan struct{} // receives when records and bad are there
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
// decode those that follow. Memory is that of a few chunks, whatever the number of records. It
// stops at the first error, in the order of the records.
func readAhead(pages *lmdbfile.File, text textFunc, yield func(*Record) error) error {
	workers := runtime.GOMAXPROCS(0)
	window := 2*workers + 2 // so no send below waits
	free, work, sequence := make(chan *chunk, window), make(chan *chunk, window), make(chan *chunk, window)
	for range window {
		free <- &chunk{decoded: make(chan struct{}, 1)}
	}
	stop := make(chan struct{})
	var group errgroup.Group
	group.Go(func() error {
		defer close(sequence)
		defer close(work)
		return readChunks(pages, free, stop, func(c *chunk) {
			work <- c
			sequence <- c
		})
	})
	for range workers {
		group.Go(func() error {
			for c := range work {
				c.decode(text)
				c.decoded <- struct{}{}
			}
			return nil
		})
	}
	err := inSequence(sequence, free, yield)
	close(stop)
	if readErr := group.Wait(); err == nil {
		err = readErr
	}
	return err
}

// inSequence calls yield with the records of each chunk, and gives the chunk back.
func inSequence(sequence, free chan *chunk, yield func(*Record) error) error {
	for c := range sequence {
		<-c.decoded
		for i := range c.records {
			if err := yield(&c.records[i]); err != nil {
				return err
			}
		}
		if c.bad != nil {
			return c.bad
		}
		free <- c
	}
	return nil
}

// readChunks reads all records in order, into chunks that it takes from free and passes to full.
func readChunks(pages *lmdbfile.File, free <-chan *chunk, stop <-chan struct{}, full func(*chunk)) error {
	var c *chunk
	err := inOrder(pages, func(number int, value []byte) error {
		if c == nil {
			select {
			case c = <-free:
				c.numbers, c.values, c.ends = c.numbers[:0], c.values[:0], c.ends[:0]
			case <-stop:
				return errStopped
			}
		}
		c.numbers, c.values = append(c.numbers, number), append(c.values, value...)
		c.ends = append(c.ends, len(c.values))
		if len(c.ends) == chunkRecords || len(c.values) >= chunkBytes {
			full(c)
			c = nil
		}
		return nil
	})
	if c != nil {
		full(c)
	}
	return err
}

// errStopped ends the reading when nobody wants its records any more.
var errStopped = errors.New("stopped")

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
