package parquetfile

import (
	"bytes"
	"encoding/binary"
	"os"
	"slices"
	"strings"
	"testing"

	"tcbuild/fault"
	"tcbuild/internal/testing/rowstest"
)

func FuzzParquet(f *testing.F) { rowstest.Fuzz(f, Open) }

// An unbounded number of rows in a file whose columns are all of types that are not read: reading
// them would never end.
func TestRowsOfUnreadColumns(t *testing.T) {
	content, err := os.ReadFile("../testdata/struct.parquet")
	if err != nil {
		t.Fatal(err)
	}
	const three, many = "\x16\x06", "\x16\x80\x80\x80\x80\x80\x80\x01" // 3 and 2^41 as Thrift's i64
	footer := len(content) - 8 - int(binary.LittleEndian.Uint32(content[len(content)-8:]))
	damaged := slices.Concat(content[:footer], bytes.ReplaceAll(content[footer:len(content)-8], []byte(three), []byte(many)))
	damaged = binary.LittleEndian.AppendUint32(damaged, uint32(len(damaged)-footer))
	err = rowstest.Read(Open, "rows.parquet", append(damaged, "PAR1"...), false)
	if fault.KindOf(err) != fault.Input || !strings.Contains(err.Error(), "has 2199023255552 rows, expected at most") {
		t.Errorf("got %v", err)
	}
}

func TestBigEndian(t *testing.T) {
	for stored, want := range map[string]int64{"": 0, "\x00": 0, "\x7f": 127, "\x80": -128, "\xff": -1, "\xff\x00": -256, "\x00\xff": 255} {
		if got := bigEndian([]byte(stored)); got.Int64() != want {
			t.Errorf("%q: got %v, want %d", stored, got, want)
		}
	}
}
