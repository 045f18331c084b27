package torchcell

import (
	"bytes"
	"fmt"
	"strconv"

	"tcbuild/internal/lmdbfile"
)

// maxDigits is the largest number of digits of a record's number, so that it fits an int.
const maxDigits = 18

// keyPrefix precedes the numbers in the keys of earlier stages of a build.
const keyPrefix = "data_"

// inOrder calls visit with every record by number. LMDB has them in the order of their keys' text:
// 0, 1, 10, 100, 11. For numbers with the same number of digits the two orders agree, so inOrder
// goes through the keys once per number of digits and seeks past keys of other lengths. It needs no
// memory, and its time does not depend on how many numbers the store omits.
func inOrder(f *lmdbfile.File, visit func(number int, value []byte) error) error {
	prefix, longest, err := checkKeys(f)
	if err != nil {
		return err
	}
	var value []byte
	found := uint64(0)
	target := make([]byte, 0, len(keyPrefix)+maxDigits)
	number, limit := 0, 10
	for digits := 1; digits <= longest; digits++ {
		for number < limit {
			target = strconv.AppendInt(append(target[:0], prefix...), int64(number), 10)
			key, err := f.Seek(target)
			if err != nil {
				return err
			}
			next, exact, ok := numberFrom(key, prefix, digits)
			if !ok {
				break
			}
			number = next
			if exact {
				if value, err = f.Value(value); err != nil {
					return fmt.Errorf("record %d: %w", number, err)
				}
				if err := visit(number, value); err != nil {
					return err
				}
				found++
				number++
			}
		}
		number, limit = limit, 10*limit
	}
	if found != f.Entries() {
		return fmt.Errorf("%w: found %d records, expected %d by its header", lmdbfile.ErrDamaged, found, f.Entries())
	}
	return nil
}

// checkKeys goes through all keys and checks that they are numbers, with or without the prefix.
// longest is the number of digits of the longest.
func checkKeys(f *lmdbfile.File) (prefix []byte, longest int, err error) {
	key, err := f.Seek(nil)
	if bytes.HasPrefix(key, []byte(keyPrefix)) {
		prefix = []byte(keyPrefix)
	}
	for target := []byte(nil); key != nil && err == nil; key, err = f.Seek(target) {
		text, prefixed := bytes.CutPrefix(key, prefix)
		number, bad := strconv.ParseUint(string(text), 10, 63)
		if !prefixed || bad != nil || len(text) > maxDigits || strconv.FormatUint(number, 10) != string(text) {
			return nil, 0, fmt.Errorf("found the key %.40q, expected %s and a number as in the other keys", key, strconv.Quote(string(prefix)))
		}
		longest = max(longest, len(text))
		target = append(append(target[:0], key...), 0)
	}
	return prefix, longest, err
}

// numberFrom returns the smallest number of the given digits whose key is not before key, and
// whether that is key's own. There may be none.
func numberFrom(key, prefix []byte, digits int) (number int, exact, ok bool) {
	text, ok := bytes.CutPrefix(key, prefix)
	if key == nil || !ok {
		return 0, false, false // all keys with the prefix come before it
	}
	read := 0
	for ; read < min(digits, len(text)) && '0' <= text[read] && text[read] <= '9'; read++ {
		number = 10*number + int(text[read]-'0')
	}
	exact = read == digits && len(text) == digits
	if !exact && read < len(text) && (read == digits || text[read] > '9') {
		number++ // all numbers that start with the digits read come before key
	}
	limit := 1
	for range read {
		limit *= 10
	}
	if number == limit {
		return 0, false, false
	}
	for ; read < digits; read++ {
		number *= 10
	}
	return number, exact, true
}
