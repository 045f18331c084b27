package torchcell

import (
	"bytes"
	"fmt"
	"slices"
	"strconv"

	"tcbuild/internal/lmdbfile"
)

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
	for target := []byte(nil); key != nil && err == nil && uint64(len(numbers)) <= f.Entries(); key, err = f.Seek(target) {
		text, prefixed := bytes.CutPrefix(key, prefix)
		number, bad := strconv.ParseInt(string(text), 10, 64)
		if !prefixed || bad != nil || number < 0 || strconv.FormatInt(number, 10) != string(text) {
			return nil, nil, fmt.Errorf("found the key %.40q, expected %s and a number as in the other keys", key, strconv.Quote(string(prefix)))
		}
		numbers = append(numbers, int(number))
		target = append(append(target[:0], key...), 0)
	}
	if err == nil && uint64(len(numbers)) != f.Entries() {
		err = fmt.Errorf("%w: found %d records, expected %d by its header", lmdbfile.ErrDamaged, len(numbers), f.Entries())
	}
	slices.Sort(numbers)
	return prefix, numbers, err
}
