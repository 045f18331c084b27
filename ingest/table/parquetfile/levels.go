package parquetfile

import (
	"fmt"
	"slices"

	"github.com/apache/arrow/go/v17/parquet"
	"github.com/apache/arrow/go/v17/parquet/file"

	"tcbuild/ingest/table/rows"
)

// check returns an error for levels that the schema does not allow. The library returns them, and a
// value would become a missing one.
func (l levelMeanings) check(definitions, repetitions []int16) error {
	for _, level := range definitions {
		if l.present > 0 && (level < 0 || level > l.present) {
			return fmt.Errorf("found definition level %d, expected at most %d", level, l.present)
		}
	}
	for _, level := range repetitions {
		if level < 0 || level > 1 {
			return fmt.Errorf("found repetition level %d, expected 0 or 1", level)
		}
	}
	return nil
}

// scalars loads a column with at most one value per row.
type scalars[T any] struct {
	reader chunkReader[T]
	levels levelMeanings
	add    func(v *rows.Vector, value T) error // of a missing value, the zero value

	values      []T
	definitions []int16
}

func (s *scalars[T]) load(v *rows.Vector, n int) error {
	s.values = slices.Grow(s.values[:0], n)[:n]
	s.definitions = slices.Grow(s.definitions[:0], n)[:n]
	levels, _, err := s.reader.ReadBatch(int64(n), s.values, s.definitions, nil)
	if err == nil {
		err = s.reader.Err()
	}
	if err == nil && levels != int64(n) {
		err = errShortChunk
	}
	if err == nil {
		err = s.levels.check(s.definitions, nil)
	}
	if err != nil {
		return err
	}
	// Only the present values were read, packed at the front.
	next := 0
	for _, definition := range s.definitions {
		var value T
		present := s.levels.present == 0 || definition == s.levels.present
		if present {
			value = s.values[next]
			next++
		}
		v.Valid = append(v.Valid, present)
		if err := s.add(v, value); err != nil {
			return err
		}
	}
	return nil
}

// lists loads a column of lists of texts.
type lists struct {
	reader *file.ByteArrayColumnChunkReader
	levels levelMeanings
	window int // levels to read at once

	// Levels and values from these positions on are read but not yet loaded.
	at, value   int
	definitions []int16 // one per element, empty list or missing list
	repetitions []int16 // 0 starts a row
	values      []parquet.ByteArray
}

// more reads more once all levels are loaded. It returns false at the end of the chunk.
func (l *lists) more() (bool, error) {
	if l.at < len(l.definitions) {
		return true, nil
	}
	if l.values == nil {
		l.values = make([]parquet.ByteArray, l.window)
		l.definitions, l.repetitions = make([]int16, l.window), make([]int16, l.window)
	}
	all := l.values[:cap(l.values)]
	levels, read, err := l.reader.ReadBatch(int64(l.window), all, l.definitions[:l.window], l.repetitions[:l.window])
	if err == nil {
		err = l.reader.Err()
	}
	l.at, l.value = 0, 0
	l.definitions, l.repetitions, l.values = l.definitions[:levels], l.repetitions[:levels], all[:read]
	if err == nil {
		err = l.levels.check(l.definitions, l.repetitions)
	}
	return levels > 0, err
}

func (l *lists) load(v *rows.Vector, n int) error {
	for range n {
		for first := true; ; first = false {
			ok, err := l.more()
			if err != nil {
				return err
			}
			if !ok && first {
				return errShortChunk
			}
			if !ok || !first && l.repetitions[l.at] == 0 {
				break
			}
			switch definition := l.definitions[l.at]; {
			case definition == l.levels.present:
				v.Texts = append(v.Texts, l.values[l.value])
				l.value++
			case definition >= l.levels.element:
				v.Texts = append(v.Texts, nil)
			}
			l.at++
		}
		v.Ends = append(v.Ends, len(v.Texts))
	}
	return nil
}
