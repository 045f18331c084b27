package table

import (
	"bytes"
	"encoding/binary"
	"io"
	"os"
	"testing"
)

// No flipped bit in a footer may make a file lose or repeat rows: the footer has the locations of
// the record batches.
func TestDamagedFooterLosesNoRows(t *testing.T) {
	whole, err := os.ReadFile("testdata/types-batches.arrow")
	check(t, err)
	want, err := countRows(whole)
	check(t, err)
	footer := len(whole) - trailerSize - int(binary.LittleEndian.Uint32(whole[len(whole)-trailerSize:]))
	damaged := bytes.Clone(whole)
	for bit := 8 * footer; bit < 8*len(whole); bit++ {
		damaged[bit/8] ^= 1 << (bit % 8)
		if rows, err := countRows(damaged); err == nil && rows != want {
			t.Errorf("bit %d of byte %d: %d rows, want %d or an error", bit%8, bit/8, rows, want)
		}
		damaged[bit/8] ^= 1 << (bit % 8)
	}
}

func countRows(content []byte) (rows int, err error) {
	s, err := openSource("types.arrow", io.NewSectionReader(bytes.NewReader(content), 0, int64(len(content))), TextOptions{})
	if err != nil {
		return 0, err
	}
	defer s.Close()
	var b Batch
	for {
		if err := s.fill(&b); err == io.EOF {
			return rows, nil
		} else if err != nil {
			return rows, err
		}
		rows += b.Len
	}
}
