package table

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

	"tcbuild/fault"
	"tcbuild/ingest/table/arrowfile"
	"tcbuild/internal/testing/rowstest"
)

// writeArrays writes arrays as the columns c0, c1 and so on of an Arrow IPC file.
func writeArrays(t *testing.T, arrays ...arrow.Array) string {
	t.Helper()
	var fields []arrow.Field
	for i, a := range arrays {
		fields = append(fields,
			arrow.Field{Name: fmt.Sprint("c", i), Type: a.DataType(), Nullable: true})
	}
	s := arrow.NewSchema(fields, nil)
	path := filepath.Join(t.TempDir(), "a.arrow")
	f, err := os.Create(path)
	check(t, err)
	w, err := ipc.NewFileWriter(f, ipc.WithSchema(s))
	check(t, err)
	check(t, w.Write(array.NewRecord(s, arrays, -1)))
	check(t, w.Close())
	check(t, f.Close())
	return path
}

// TestValues reads a value, then null, of every type with numbers, and of others, by every
// accessor.
func TestValues(t *testing.T) {
	const exact = 1 << 53
	for _, test := range []struct {
		arrowType arrow.DataType
		value     string // as Arrow's builders parse it
		want      string // number, integer, text
	}{
		{arrow.PrimitiveTypes.Int8, "-128", "-128 -128 -128"},
		{arrow.PrimitiveTypes.Int16, "-32768", "-32768 -32768 -32768"},
		{arrow.PrimitiveTypes.Int32, "-5", "-5 -5 -5"},
		{arrow.PrimitiveTypes.Int64, fmt.Sprint(exact),
			"9.007199254740992e+15 9007199254740992 9007199254740992"},
		{arrow.PrimitiveTypes.Int64, fmt.Sprint(exact + 1),
			"(found integer 9007199254740993, which a 64-bit floating-point number cannot hold " +
				"exactly) 9007199254740993 9007199254740993"},
		{arrow.PrimitiveTypes.Int64, fmt.Sprint(math.MaxInt64),
			"(found integer 9223372036854775807, which a 64-bit floating-point number cannot " +
				"hold exactly) 9223372036854775807 9223372036854775807"},
		{arrow.PrimitiveTypes.Uint8, "255", "255 255 255"},
		{arrow.PrimitiveTypes.Uint16, "65535", "65535 65535 65535"},
		{arrow.PrimitiveTypes.Uint32, "4294967295", "4.294967295e+09 4294967295 4294967295"},
		{arrow.PrimitiveTypes.Uint64, "7", "7 7 7"},
		{arrow.PrimitiveTypes.Uint64, "9223372036854775808",
			"9.223372036854776e+18 (found 9.223372036854776e+18, expected an integer) " +
				"9223372036854775808"},
		{arrow.PrimitiveTypes.Float32, "0.5", "0.5 (found 0.5, expected an integer) 0.5"},
		{arrow.PrimitiveTypes.Float64, "3", "3 3 3"},
		{arrow.PrimitiveTypes.Float64, "1000000", "1e+06 1000000 1000000"},
		{arrow.PrimitiveTypes.Float64, "1e300",
			"1e+300 (found 1e+300, expected an integer) 1e+300"},
		{arrow.PrimitiveTypes.Float64, "NaN", "missing missing "},
		{arrow.FixedWidthTypes.Boolean, "true", "1 1 1"},
		{arrow.BinaryTypes.String, "12", "12 12 12"},
		{arrow.BinaryTypes.LargeString, "x",
			`(found "x", expected a number) (found "x", expected an integer) x`},
		{arrow.FixedWidthTypes.Date32, "2026-01-01",
			"(found a value of unsupported type, expected a number) (found a value of " +
				"unsupported type, expected a number) "},
	} {
		b := array.NewBuilder(memory.NewGoAllocator(), test.arrowType)
		check(t, b.AppendValueFromString(test.value))
		b.AppendNull()
		r, err := Open(writeArrays(t, b.NewArray()))
		check(t, err)
		batch, err := r.Next()
		check(t, err)
		if got := accessors(batch, 0); got != test.want {
			t.Errorf("%s %s: got %s, want %s", test.arrowType, test.value, got, test.want)
		}
		if got := accessors(batch, 1); r.Kind(0) != Other && got != "missing missing " {
			t.Errorf("null %s: got %s", test.arrowType, got)
		}
		if batch.List(0, 0) != nil {
			t.Errorf("%s has a list", test.arrowType)
		}
		r.Close()
	}
}

func accessors(b *Batch, i int) string {
	outcome := func(value any, missing bool, err error) string {
		switch {
		case err != nil:
			return "(" + err.Error() + ")"
		case missing:
			return "missing"
		}
		return fmt.Sprint(value)
	}
	number, missing, err := b.Number(0, i)
	first := outcome(number, missing, err)
	integer, missing, err := b.Integer(0, i)
	return strings.Join([]string{first, outcome(integer, missing, err), string(b.Text(0, i))}, " ")
}

// TestTextsStayValid keeps texts that were made from numbers while others are made.
func TestTextsStayValid(t *testing.T) {
	b := array.NewInt64Builder(memory.NewGoAllocator())
	for i := range 1000 {
		b.Append(int64(i))
	}
	r, err := Open(writeArrays(t, b.NewArray()))
	check(t, err)
	defer r.Close()
	batch, err := r.Next()
	check(t, err)
	var texts [][]byte
	for i := range batch.Len {
		texts = append(texts, batch.Text(0, i))
	}
	for i, text := range texts {
		if string(text) != fmt.Sprint(i) {
			t.Fatalf("text %d became %q", i, text)
		}
	}
}

func TestEndings(t *testing.T) {
	for name, want := range map[string]string{
		"a.tsv":      "a .tsv",
		"a.CSV":      "a .csv",
		"a.csv.gz":   "a .csv .gz",
		"a.tsv.ZST":  "a .tsv .zst",
		"a.arrow":    "a .arrow",
		"a.b.tsv":    "a.b .tsv",
		"x/a.b.tsv":  "x/a.b .tsv",
		"a.txt.gz":   "",
		"a.parquet":  "",
		"a.feather":  "",
		"a.xlsx":     "",
		"a.arrow.gz": "",
		"a.gz":       "",
		"tsv":        "",
		"a.tsv.bak":  "",
		"a.tsv~":     "",
		"":           "",
	} {
		ending, compression, stem, ok := EndingOf(name)
		got := ""
		if ok {
			got = strings.TrimSpace(stem + " " + ending.Name + " " + compression)
		}
		if got != want {
			t.Errorf("%q: got %q, want %q", name, got, want)
		}
	}
}

// A file that is not read is one line that says how Python reads it. python/tests runs these lines.
func TestRefusedEndings(t *testing.T) {
	for name, want := range map[string]string{
		"s.XLSX":       `tcbuild.build(graph, pandas.read_excel("%s"), out=…)`,
		"s.csv.zip":    `tcbuild.build(graph, pandas.read_csv("%s"), out=…)`,
		"s.tsv.bz2":    `tcbuild.build(graph, pandas.read_csv("%s", sep="\t"), out=…)`,
		"s.zip":        `tcbuild.build(graph, pandas.read_csv("%s", sep="\t"), out=…)`,
		"m.xml.gz":     `tcbuild.sources.add_model(graph, "%s")`,
		"a.gaf":        `tcbuild.sources.gaf("%s")`,
		"s.parquet.gz": "save it in one of these formats",
		"a.bam":        "read it in Python",
	} {
		path := write(t, name, []byte("content"))
		_, err := Open(path)
		want = strings.ReplaceAll(want, "%s", path)
		if fault.KindOf(err) != fault.Input || !strings.Contains(fault.HintOf(err), want) {
			t.Errorf("%s: got %v with hint %q, want %s", name, err, fault.HintOf(err), want)
		}
	}
}

// TestCreateErrors writes where there is no folder, and no space.
func TestCreateErrors(t *testing.T) {
	_, err := arrowfile.Create(filepath.Join(t.TempDir(), "none", "a.arrow"), nil)
	if err == nil || !strings.Contains(err.Error(), "no such file") {
		t.Errorf("got %v", err)
	}
	column := rowstest.Numbers([]float64{1})
	w, err := arrowfile.Create("/dev/full", []arrow.Field{rowstest.Field("x", column, false)})
	check(t, err)
	if err := w.Write(column); err == nil || !strings.Contains(err.Error(), "/dev/full") {
		t.Errorf("got %v, expected a write error", err)
	}
	if err := w.Close(); err == nil || !strings.Contains(err.Error(), "/dev/full") {
		t.Errorf("got %v, expected a write error", err)
	}
}

// TestMissingListWithElements has a null list whose offsets still span an element.
func TestMissingListWithElements(t *testing.T) {
	elements := array.NewStringBuilder(memory.NewGoAllocator())
	elements.AppendValues([]string{"hidden", "shown"}, nil)
	buffers := []*memory.Buffer{
		memory.NewBufferBytes([]byte{0b10}),
		memory.NewBufferBytes(arrow.Int32Traits.CastToBytes([]int32{0, 1, 2})),
	}
	data := array.NewData(arrow.ListOf(arrow.BinaryTypes.String), 2, buffers,
		[]arrow.ArrayData{elements.NewArray().Data()}, 1, 0)
	r, err := Open(writeArrays(t, array.MakeFromData(data)))
	check(t, err)
	defer r.Close()
	lines, err := show(r)
	check(t, err)
	if got, want := strings.Join(lines, " "), `[] ["shown"]`; got != want {
		t.Errorf("got %s, want %s", got, want)
	}
}
