package torchcell

import (
	"bytes"
	"cmp"
	"fmt"
	"slices"
	"strconv"

	"tcbuild/fault"
	"tcbuild/internal/lmdbfile"
)

// A Chunk is consecutive records, as they lie in the store.
type Chunk struct {
	numbers []int
	values  [][]byte
	size    int // of values
}

// Len is the number of records.
func (c *Chunk) Len() int { return len(c.numbers) }

const (
	chunkRecords = 1024
	chunkBytes   = 512 << 10
)

// Chunks sends all records, ascending by number. The store keeps the numbers, 8 bytes each.
func (s *Store) Chunks(send func(*Chunk) error) error {
	pages, err := s.pages()
	if err != nil {
		return err
	}
	keys, err := s.keys()
	if err != nil {
		return err
	}
	chunk := new(Chunk)
	for _, number := range keys.numbers {
		var value []byte
		if value, err = readValue(pages, keys.prefix, number); err != nil {
			break
		}
		chunk.numbers, chunk.values = append(chunk.numbers, number), append(chunk.values, value)
		if chunk.size += len(value); chunk.Len() == chunkRecords || chunk.size >= chunkBytes {
			if err := send(chunk); err != nil {
				return err
			}
			chunk = new(Chunk)
		}
	}
	if chunk.Len() > 0 {
		if err := send(chunk); err != nil {
			return err
		}
	}
	if err != nil {
		return s.wrong(err)
	}
	return nil
}

// keyPrefix precedes the numbers in the keys of earlier stages of a build.
const keyPrefix = "data_"

// keys are those of all records.
type keys struct {
	prefix  []byte
	numbers []int
}

// readKeys reads the keys.
func (s *Store) readKeys() (k keys, err error) {
	pages, err := s.pages()
	if err != nil {
		return k, err
	}
	if k.prefix, k.numbers, err = readKeys(pages); err != nil {
		err = s.wrong(err)
	}
	return k, err
}

// readKeys returns the records' numbers, ascending, and what precedes each in its key. LMDB has
// them in the order of their keys' text: 0, 1, 10, 100, 11.
func readKeys(f *lmdbfile.File) (prefix []byte, numbers []int, err error) {
	key, err := f.Seek(nil)
	if bytes.HasPrefix(key, []byte(keyPrefix)) {
		prefix = []byte(keyPrefix)
	}
	mayFollow := func() bool { return key != nil && uint64(len(numbers)) <= f.Entries() }
	for target := []byte(nil); err == nil && mayFollow(); key, err = f.Seek(target) {
		text, prefixed := bytes.CutPrefix(key, prefix)
		number, bad := strconv.ParseUint(string(text), 10, 63)
		isPlain := bad == nil && strconv.FormatUint(number, 10) == string(text)
		if !prefixed || !isPlain {
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

// readValue reads the value of a record.
func readValue(f *lmdbfile.File, prefix []byte, number int) ([]byte, error) {
	target := strconv.AppendInt(slices.Clip(prefix), int64(number), 10)
	key, err := f.Seek(target)
	if err == nil && !bytes.Equal(key, target) {
		err = fmt.Errorf("%w: found no record %d again", lmdbfile.ErrDamaged, number)
	}
	if err != nil {
		return nil, err
	}
	value, err := f.Value(nil)
	if err != nil {
		return nil, fmt.Errorf("record %d: %w", number, err)
	}
	return value, nil
}

// decode reads record i of a chunk into r, whose memory it reuses.
func (s *Store) decode(d *decoder, r *Record, c *Chunk, i int) error {
	r.Number = c.numbers[i]
	text, err := s.text(r.Number, c.values[i])
	if err == nil {
		err = d.decode(r, text)
	}
	if err != nil {
		return fault.New(fault.Input, cmp.Or(fault.HintOf(err), recordHint(c.values[i])), "%w", err)
	}
	return nil
}
