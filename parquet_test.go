package tcbuild

// The types of Parquet columns, with files from pqarrow. It links gRPC and Arrow's compute kernels:
// in the packages that read Parquet, their coverage counters, which a fuzzer visits at each
// execution, would be half of all. This package links them anyway.

import (
	"bytes"
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/apache/arrow/go/v17/arrow"
	"github.com/apache/arrow/go/v17/arrow/array"
	"github.com/apache/arrow/go/v17/arrow/memory"
	"github.com/apache/arrow/go/v17/parquet"
	"github.com/apache/arrow/go/v17/parquet/pqarrow"

	"tcbuild/ingest/inputfile"
	"tcbuild/ingest/table"
)

func check(t *testing.T, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

// columnsOf reads a file's columns in their own types, whole.
func columnsOf(t *testing.T, path string) []arrow.Array {
	t.Helper()
	r, err := table.TextSpec{File: path}.Open(new(inputfile.Files))
	check(t, err)
	defer r.Close()
	chunks := make([][]arrow.Array, len(r.Columns()))
	var kept []int
	for column := range chunks {
		if r.Type(column) != nil {
			r.KeepType(column)
			kept = append(kept, column)
		}
	}
	for {
		b, err := r.Next()
		if err == io.EOF {
			break
		}
		check(t, err)
		for _, column := range kept {
			chunks[column] = append(chunks[column], b.Array(column))
		}
	}
	columns := make([]arrow.Array, len(chunks))
	for column := range chunks {
		if chunks[column] != nil {
			columns[column], err = array.Concatenate(chunks[column], memory.DefaultAllocator)
			check(t, err)
		}
	}
	return columns
}

// TestTypedParquet reads files from Arrow's own library: types, values and nulls must be the same.
func TestTypedParquet(t *testing.T) {
	for _, c := range []struct {
		values arrow.DataType
		json   string
	}{
		{arrow.FixedWidthTypes.Boolean, `[true, null, false]`},
		{arrow.PrimitiveTypes.Int8, `[-128, null, 127]`},
		{arrow.PrimitiveTypes.Int16, `[-32768, null, 7]`},
		{arrow.PrimitiveTypes.Int32, `[-2147483648, null, 2147483647]`},
		{arrow.PrimitiveTypes.Int64, `[9007199254740993, null, -1]`},
		{arrow.PrimitiveTypes.Uint8, `[255, null, 0]`},
		{arrow.PrimitiveTypes.Uint16, `[65535, null, 0]`},
		{arrow.PrimitiveTypes.Uint32, `[4294967295, null, 0]`},
		{arrow.PrimitiveTypes.Uint64, `[18446744073709551615, null, 0]`},
		{arrow.FixedWidthTypes.Float16, `[0.5, null, -2]`},
		{arrow.PrimitiveTypes.Float32, `[0.1, null, 16777217]`},
		{arrow.PrimitiveTypes.Float64, `[0.1, null, 1e300]`},
		{&arrow.Decimal128Type{Precision: 38, Scale: 2}, `["123456789012345678901234567890.12", null, "-0.05"]`},
		{&arrow.Decimal128Type{Precision: 5, Scale: 1}, `["12.5", null, "-0.5"]`},
		{arrow.FixedWidthTypes.Date32, `["2026-01-01", null, "1969-12-31"]`},
		{arrow.FixedWidthTypes.Time32ms, `["12:30:01.5", null, "00:00:00"]`},
		{arrow.FixedWidthTypes.Time64us, `["12:30:01.000001", null, "00:00:00"]`},
		{arrow.FixedWidthTypes.Timestamp_us, `["2026-01-01 10:00:00.000001", null, "1969-12-31 00:00:00"]`},
		{&arrow.TimestampType{Unit: arrow.Millisecond}, `["2026-01-01 10:00:00.001", null, "1969-12-31 00:00:00"]`},
		{arrow.BinaryTypes.String, `["007", null, " x", "", "NA"]`},
		{arrow.BinaryTypes.Binary, `["/w==", null, ""]`},
		{&arrow.FixedSizeBinaryType{ByteWidth: 2}, `["//8=", null, "AAA="]`},
		{arrow.ListOf(arrow.PrimitiveTypes.Int64), `[[1, null], null, [], [9007199254740993], []]`},
		{arrow.ListOf(arrow.BinaryTypes.String), `[[], ["a", null, ""], null]`},
		{arrow.ListOf(arrow.FixedWidthTypes.Boolean), `[[true], null, [null, false]]`},
	} {
		want, _, err := array.FromJSON(memory.DefaultAllocator, c.values, strings.NewReader(c.json))
		check(t, err)
		nullable := arrow.NewSchema([]arrow.Field{{Name: "x", Type: c.values, Nullable: true}}, nil)
		for _, group := range []int64{1, 2, 100} {
			var content bytes.Buffer
			w, err := pqarrow.NewFileWriter(nullable, &content, parquet.NewWriterProperties(parquet.WithMaxRowGroupLength(group), parquet.WithVersion(parquet.V2_LATEST)), pqarrow.DefaultWriterProps())
			check(t, err)
			check(t, w.Write(array.NewRecord(nullable, []arrow.Array{want}, -1)))
			check(t, w.Close())
			path := filepath.Join(t.TempDir(), "a.parquet")
			check(t, os.WriteFile(path, content.Bytes(), 0o666))
			got := columnsOf(t, path)[0]
			if got == nil || !arrow.TypeEqual(got.DataType(), want.DataType()) || !array.Equal(got, want) {
				t.Errorf("%s in row groups of %d: got %v, want %v", c.values, group, got, want)
			}
		}
	}
}

// TestTypedFiles reads files from pyarrow (testdata/make.py) in their own types.
func TestTypedFiles(t *testing.T) {
	files, _ := filepath.Glob("ingest/table/testdata/types-*")
	for _, path := range files {
		want := []string{
			`int16: [1 (null) -3 4]`, `uint8: [255 (null) 0 7]`, `float32: [-1.5 (null) NaN 0]`, `float64: [0.25 (null) +Inf 1e-300]`,
			`bool: [true (null) false true]`, `utf8: [é (null)  plain]`, `binary: [YQ== (null) YmM= ]`, `dictionary: [x (null) y x]`,
			`list: [["a","b"] (null) [] ["","c",null]]`, `date32: [2026-01-01 2026-01-01 2026-01-01 2026-01-01]`, `null: [(null) (null) (null) (null)]`,
		}
		if filepath.Ext(path) == ".parquet" {
			want[7] = `utf8: [x (null) y x]`
		}
		for i, column := range columnsOf(t, path) {
			var values []string
			for row := range column.Len() {
				values = append(values, column.ValueStr(row))
			}
			got := column.DataType().Name() + ": [" + strings.Join(values, " ") + "]"
			if strings.NewReplacer("string_view", "utf8", "large_", "").Replace(got) != want[i] {
				t.Errorf("%s column %d: got %s, want %s", path, i, got, want[i])
			}
		}
	}
}

// TestUntypedParquet has columns whose types Arrow does not have, or Batch.Array cannot return.
func TestUntypedParquet(t *testing.T) {
	for _, values := range []arrow.DataType{
		arrow.StructOf(arrow.Field{Name: "a", Type: arrow.PrimitiveTypes.Int8, Nullable: true}),
		arrow.ListOf(arrow.ListOf(arrow.PrimitiveTypes.Int8)),
		arrow.ListOf(arrow.StructOf(arrow.Field{Name: "a", Type: arrow.PrimitiveTypes.Int8, Nullable: true})),
		arrow.StructOf(arrow.Field{Name: "a", Type: arrow.ListOf(arrow.BinaryTypes.String), Nullable: true}),
		arrow.MapOf(arrow.BinaryTypes.String, arrow.PrimitiveTypes.Int8),
	} {
		s := arrow.NewSchema([]arrow.Field{{Name: "x", Type: values, Nullable: true}}, nil)
		var content bytes.Buffer
		w, err := pqarrow.NewFileWriter(s, &content, parquet.NewWriterProperties(), pqarrow.DefaultWriterProps())
		check(t, err)
		b := array.NewRecordBuilder(memory.DefaultAllocator, s)
		b.Field(0).AppendNull()
		check(t, w.Write(b.NewRecord()))
		check(t, w.Close())
		path := filepath.Join(t.TempDir(), "a.parquet")
		check(t, os.WriteFile(path, content.Bytes(), 0o666))
		r, err := table.TextSpec{File: path}.Open(new(inputfile.Files))
		check(t, err)
		if got := r.Type(0); got != nil {
			t.Errorf("%s has the type %s", values, got)
		}
		r.Close()
	}
}
