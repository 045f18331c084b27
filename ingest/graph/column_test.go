package graph

import (
	"fmt"
	"math"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/apache/arrow/go/v17/arrow"
	"github.com/apache/arrow/go/v17/arrow/array"
	"github.com/apache/arrow/go/v17/arrow/ipc"
	"github.com/apache/arrow/go/v17/arrow/memory"

	"tcbuild/ingest"
	_ "tcbuild/internal/testing/testrun"
)

// carriedArrays has an array of every type that a graph can store, with nulls and the type's edge
// cases.
func carriedArrays(t *testing.T) []arrow.Array {
	t.Helper()
	var arrays []arrow.Array
	for _, c := range []struct {
		values arrow.DataType
		json   string
	}{
		{arrow.Null, `[null, null, null]`},
		{arrow.FixedWidthTypes.Boolean, `[true, null, false]`},
		{arrow.PrimitiveTypes.Int8, `[-128, null, 127]`},
		{arrow.PrimitiveTypes.Int16, `[-32768, null, 7]`},
		{arrow.PrimitiveTypes.Int32, `[1, null, 2147483647]`},
		{arrow.PrimitiveTypes.Int64, `[9007199254740993, null, -1]`},
		{arrow.PrimitiveTypes.Uint8, `[255, null, 0]`},
		{arrow.PrimitiveTypes.Uint16, `[65535, null, 0]`},
		{arrow.PrimitiveTypes.Uint32, `[4294967295, null, 0]`},
		{arrow.PrimitiveTypes.Uint64, `[18446744073709551615, null, 0]`},
		{arrow.FixedWidthTypes.Float16, `[0.5, null, -2]`},
		{arrow.PrimitiveTypes.Float32, `[0.1, null, -0.0]`},
		{&arrow.Decimal128Type{Precision: 38, Scale: 2}, `["123456789012345678901234567890.12", null, "-0.05"]`},
		{&arrow.Decimal256Type{Precision: 60, Scale: 1}, `["12345678901234567890123456789012345678901234567890.1", null, "-0.5"]`},
		{arrow.FixedWidthTypes.Date32, `["2026-01-01", null, "1969-12-31"]`},
		{arrow.FixedWidthTypes.Date64, `["2026-01-01", null, "1969-12-31"]`},
		{arrow.FixedWidthTypes.Time32ms, `["12:30:01.5", null, "00:00:00"]`},
		{arrow.FixedWidthTypes.Time64ns, `["12:30:01.000000001", null, "00:00:00"]`},
		{arrow.FixedWidthTypes.Timestamp_us, `["2026-01-01 10:00:00.000001", null, "1969-12-31 00:00:00"]`},
		{&arrow.TimestampType{Unit: arrow.Nanosecond}, `["2026-01-01 10:00:00.000000001", null, "1969-12-31 00:00:00"]`},
		{arrow.FixedWidthTypes.Duration_s, `["5s", null, "0s"]`},
		{arrow.BinaryTypes.String, `["007", null, " x", "", "NA"]`},
		{arrow.BinaryTypes.LargeString, `["007", null, "日本"]`},
		{arrow.BinaryTypes.StringView, `["007", null, "a text that is longer than twelve bytes"]`},
		{arrow.BinaryTypes.Binary, `["/w==", null, ""]`},
		{arrow.BinaryTypes.LargeBinary, `["/w==", null, ""]`},
		{arrow.BinaryTypes.BinaryView, `["/w==", null, "YSB0ZXh0IHRoYXQgaXMgbG9uZ2VyIHRoYW4gdHdlbHZlIGJ5dGVz"]`},
		{&arrow.FixedSizeBinaryType{ByteWidth: 2}, `["//8=", null, "AAA="]`},
		{arrow.ListOf(arrow.PrimitiveTypes.Int64), `[[1, null], null, [], [9007199254740993]]`},
		{arrow.ListOf(arrow.ListOf(arrow.BinaryTypes.String)), `[[["a"], null, []], null, []]`},
		{arrow.LargeListOf(arrow.BinaryTypes.String), `[["a|b", ""], null, []]`},
		{arrow.FixedSizeListOf(2, arrow.PrimitiveTypes.Float32), `[[1, 2], null, [3, null]]`},
		{arrow.MapOf(arrow.BinaryTypes.String, arrow.PrimitiveTypes.Int8), `[[{"key": "a", "value": 1}], null, []]`},
		{arrow.StructOf(arrow.Field{Name: "a", Type: arrow.PrimitiveTypes.Int8, Nullable: true}, arrow.Field{Name: "b, c", Type: arrow.BinaryTypes.String, Nullable: true}),
			`[{"a": 1, "b, c": "x"}, null, {"a": null, "b, c": ""}]`},
		{&arrow.DictionaryType{IndexType: arrow.PrimitiveTypes.Int8, ValueType: arrow.BinaryTypes.String}, `["x", null, "y", "x"]`},
		{&arrow.DictionaryType{IndexType: arrow.PrimitiveTypes.Uint16, ValueType: arrow.BinaryTypes.String, Ordered: true}, `["low", null, "high"]`},
		{&arrow.DictionaryType{IndexType: arrow.PrimitiveTypes.Int32, ValueType: arrow.PrimitiveTypes.Int64}, `[7, null, 7]`},
	} {
		a, _, err := array.FromJSON(memory.DefaultAllocator, c.values, strings.NewReader(c.json))
		if err != nil {
			t.Fatalf("%s: %v", c.values, err)
		}
		arrays = append(arrays, a)
	}
	numbers := array.NewFloat64Builder(memory.DefaultAllocator)
	numbers.AppendValues([]float64{math.Copysign(0, -1), 0, math.NaN(), math.Float64frombits(0x7ff8000000000bad), math.Inf(1)}, nil)
	numbers.AppendNull()
	return append(append(arrays, numbers.NewArray()), dictionaries(t)...)
}

// dictionaries has arrays of dictionaries that the Arrow library has no builders for.
func dictionaries(t *testing.T) (arrays []arrow.Array) {
	t.Helper()
	from := func(values arrow.DataType, json string) arrow.Array {
		a, _, err := array.FromJSON(memory.DefaultAllocator, values, strings.NewReader(json))
		if err != nil {
			t.Fatalf("%s: %v", values, err)
		}
		return a
	}
	index := from(arrow.PrimitiveTypes.Int8, `[1, null, 0, 1]`)
	for _, entries := range []arrow.Array{
		from(arrow.BinaryTypes.LargeString, `["x", "y"]`), from(arrow.BinaryTypes.LargeBinary, `["/w==", ""]`),
		from(arrow.BinaryTypes.StringView, `["x", "a text that is longer than twelve bytes"]`),
		from(arrow.FixedWidthTypes.Boolean, `[true, false]`),
		from(arrow.FixedWidthTypes.Float16, `[0.5, 2]`), from(&arrow.Decimal128Type{Precision: 5, Scale: 2}, `["1.50", "2.25"]`),
		from(arrow.ListOf(arrow.BinaryTypes.String), `[["a"], []]`),
		from(arrow.StructOf(arrow.Field{Name: "a", Type: arrow.PrimitiveTypes.Int8, Nullable: true}), `[{"a": 1}, {"a": null}]`),
	} {
		arrays = append(arrays, array.NewDictionaryArray(&arrow.DictionaryType{IndexType: index.DataType(), ValueType: entries.DataType()}, index, entries))
	}
	// these inside a list, a list of fixed length, a struct and a map
	codes := array.NewDictionaryArray(&arrow.DictionaryType{IndexType: index.DataType(), ValueType: arrow.BinaryTypes.String}, index, from(arrow.BinaryTypes.String, `["x", "y"]`))
	nested := func(of arrow.DataType, length int, buffers []*memory.Buffer, children ...arrow.Array) {
		var all []arrow.ArrayData
		for _, child := range children {
			all = append(all, child.Data())
		}
		arrays = append(arrays, array.MakeFromData(array.NewData(of, length, buffers, all, 0, 0)))
	}
	offsets := memory.NewBufferBytes(arrow.Int32Traits.CastToBytes([]int32{0, 3, 3, 4}))
	nested(arrow.ListOf(codes.DataType()), 3, []*memory.Buffer{nil, offsets}, codes)
	nested(arrow.FixedSizeListOf(2, codes.DataType()), 2, []*memory.Buffer{nil}, codes)
	pair := arrow.StructOf(arrow.Field{Name: "key", Type: arrow.BinaryTypes.String}, arrow.Field{Name: "value", Type: codes.DataType(), Nullable: true})
	nested(pair, 4, []*memory.Buffer{nil}, from(arrow.BinaryTypes.String, `["a", "b", "c", "d"]`), codes)
	nested(arrow.MapOf(arrow.BinaryTypes.String, codes.DataType()), 3, []*memory.Buffer{nil, offsets}, arrays[len(arrays)-1])
	return arrays
}

// writeChunks writes a node table with a column x, in record batches of the given sizes.
func writeChunks(t *testing.T, dir string, x arrow.Array, rows int) {
	t.Helper()
	path := filepath.Join(dir, "nodes", "gene.arrow")
	if err := os.MkdirAll(filepath.Dir(path), 0o777); err != nil {
		t.Fatal(err)
	}
	if err := os.MkdirAll(filepath.Join(dir, "edges"), 0o777); err != nil {
		t.Fatal(err)
	}
	ids := array.NewStringBuilder(memory.DefaultAllocator)
	for i := range x.Len() {
		ids.Append(fmt.Sprint("G", i))
	}
	id := ids.NewArray()
	schema := arrow.NewSchema([]arrow.Field{{Name: "id", Type: id.DataType()}, {Name: "x", Type: x.DataType(), Nullable: true}}, nil)
	file, err := os.Create(path)
	if err != nil {
		t.Fatal(err)
	}
	w, err := ipc.NewFileWriter(file, ipc.WithSchema(schema))
	if err != nil {
		t.Fatal(err)
	}
	whole := array.NewRecord(schema, []arrow.Array{id, x}, int64(x.Len()))
	for from := 0; from < x.Len(); from += rows {
		if err := w.Write(whole.NewSlice(int64(from), int64(min(from+rows, x.Len())))); err != nil {
			t.Fatal(err)
		}
	}
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	file.Close()
}

// TestColumnsKeepTheirTypes reads every type, whole and in batches, writes it and reads it again:
// type, values, nulls and digest stay the same.
func TestColumnsKeepTheirTypes(t *testing.T) {
	seen := make(map[string]arrow.DataType)
	for _, x := range carriedArrays(t) {
		t.Run(x.DataType().String(), func(t *testing.T) {
			digest := ""
			// all rows, and none
			for _, part := range []struct{ from, to int }{{0, x.Len()}, {0, 0}} {
				x := array.NewSlice(x, int64(part.from), int64(part.to))
				digest = ""
				for _, rows := range []int{2, max(x.Len(), 1)} {
					dir, again := t.TempDir(), t.TempDir()
					writeChunks(t, dir, x, rows)
					for _, from := range []string{dir, again} {
						g, _, err := Read(from)
						if err != nil {
							t.Fatal(err)
						}
						got := g.Genes.Columns[0].Values
						checkSame(t, got, x)
						if digest == "" {
							digest = g.Digest()
						}
						if g.Digest() != digest {
							t.Errorf("the digest depends on the file")
						}
						if from == dir {
							if err := Write(again, g); err != nil {
								t.Fatal(err)
							}
						}
					}
				}
				if other, same := seen[digest]; same {
					t.Errorf("%s and %s have the same digest", other, x.DataType())
				}
				seen[digest] = x.DataType()
			}
		})
	}
}

// checkSame compares types, and values by their text and by their bits.
func checkSame(t *testing.T, got, want arrow.Array) {
	t.Helper()
	if !arrow.TypeEqual(got.DataType(), want.DataType()) || got.Len() != want.Len() {
		t.Fatalf("got %d of %s, want %d of %s", got.Len(), got.DataType(), want.Len(), want.DataType())
	}
	appendGot, appendWant := ingest.Column{Name: "x", Values: got}.Encoder(), ingest.Column{Name: "x", Values: want}.Encoder()
	for row := range want.Len() {
		if got.IsNull(row) != want.IsNull(row) || got.ValueStr(row) != want.ValueStr(row) {
			t.Fatalf("row %d: got %s, want %s", row, got.ValueStr(row), want.ValueStr(row))
		}
		if g, w := appendGot(nil, row), appendWant(nil, row); string(g) != string(w) {
			t.Fatalf("row %d: got the bytes %x, want %x", row, g, w)
		}
	}
}

// TestEncoder checks that the bytes of a value are as documented, and that they differ for values
// that are printed alike.
func TestEncoder(t *testing.T) {
	for _, c := range []struct {
		values arrow.DataType
		json   string
		want   []string // per row
	}{
		{arrow.PrimitiveTypes.Int16, `[258, null]`, []string{"\x01\x02\x01", "\x00"}},
		{arrow.FixedWidthTypes.Boolean, `[true, false, null]`, []string{"\x01\x01", "\x01\x00", "\x00"}},
		{arrow.BinaryTypes.String, `["", null, "é"]`, []string{"\x01\x00\x00\x00\x00\x00\x00\x00\x00", "\x00", "\x01\x02\x00\x00\x00\x00\x00\x00\x00é"}},
		{arrow.ListOf(arrow.PrimitiveTypes.Int8), `[[], null, [null, 5]]`, []string{"\x01\x00\x00\x00\x00\x00\x00\x00\x00", "\x00", "\x01\x02\x00\x00\x00\x00\x00\x00\x00\x00\x01\x05"}},
		{&arrow.DictionaryType{IndexType: arrow.PrimitiveTypes.Int8, ValueType: arrow.PrimitiveTypes.Uint8}, `[9, null]`, []string{"\x01\x09", "\x00"}},
		{arrow.StructOf(arrow.Field{Name: "a", Type: arrow.PrimitiveTypes.Int8, Nullable: true}), `[{"a": 3}, {"a": null}, null]`, []string{"\x01\x01\x03", "\x01\x00", "\x00"}},
	} {
		a, _, err := array.FromJSON(memory.DefaultAllocator, c.values, strings.NewReader(c.json))
		if err != nil {
			t.Fatal(err)
		}
		for row, want := range c.want {
			for from := range row + 1 { // also of a slice
				if got := (ingest.Column{Name: "x", Values: array.NewSlice(a, int64(from), int64(a.Len()))}).Encoder()(nil, row-from); string(got) != want {
					t.Errorf("%s row %d of a slice from %d: got %q, want %q", c.values, row, from, got, want)
				}
			}
		}
	}
}
