package table

import (
	"bytes"
	"cmp"
	"fmt"
	"io"
	"math"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"tcbuild/fault"
	"tcbuild/ingest/inputfile"
	"tcbuild/ingest/table/arrowfile"
	"tcbuild/ingest/table/rows"
	"tcbuild/internal/testing/rowstest"

	"github.com/apache/arrow/go/v17/arrow"
)

// Open opens a table, whose file is closed when nobody has it any more.
func Open(path string) (*Reader, error) {
	file, err := inputfile.Open(path)
	if err != nil {
		return nil, err
	}
	return OpenFile(file)
}

// show reads a table into one line per row, with the accessor for each column's kind.
func show(r *Reader) (lines []string, err error) {
	for {
		b, err := r.Next()
		if err == io.EOF {
			return lines, nil
		}
		if err != nil {
			return lines, err
		}
		for i := range b.Len {
			lines = append(lines, showRow(r, b, i))
		}
	}
}

func showRow(r *Reader, b *Batch, i int) string {
	var fields []string
	for column := range r.Columns() {
		switch r.Kind(column) {
		case Number:
			value, missing, err := b.Number(column, i)
			field := fmt.Sprint(value)
			if err != nil {
				field = err.Error()
			}
			if missing != math.IsNaN(value) {
				panic(fmt.Sprintf("value %v, missing %v", value, missing))
			}
			fields = append(fields, field+"="+string(b.Text(column, i)))
		case Text, Unknown:
			fields = append(fields, fmt.Sprintf("%q", b.Text(column, i)))
		case List:
			fields = append(fields, fmt.Sprintf("%q", b.List(column, i)))
		default:
			fields = append(fields, "-")
		}
	}
	return strings.Join(fields, " ")
}

// TestPyArrowFiles reads files from pyarrow: see testdata/make.py.
func TestPyArrowFiles(t *testing.T) {
	want := []string{
		`1=1 255=255 -1.5=-1.5 0.25=0.25 1=1 "é" "a" "x" ["a" "b"] - NaN=`,
		`NaN= NaN= NaN= NaN= NaN= "" "" "" [] - NaN=`,
		`-3=-3 0=0 NaN= +Inf=+Inf 0=0 "" "bc" "y" [] - NaN=`,
		`4=4 7=7 0=0 1e-300=1e-300 1=1 "plain" "" "x" ["" "c" ""] - NaN=`,
	}
	files, err := filepath.Glob("testdata/types-*")
	if err != nil || len(files) != 5 {
		t.Fatalf("found %d files, expected 5: %v", len(files), err)
	}
	for _, path := range files {
		r, err := Open(path)
		if err != nil {
			t.Fatal(err)
		}
		got, err := show(r)
		if err != nil {
			t.Fatal(err)
		}
		if strings.Join(got, "\n") != strings.Join(want, "\n") {
			t.Errorf("%s:\n%s\nwant\n%s", path, strings.Join(got, "\n"), strings.Join(want, "\n"))
		}
		if place := r.Where(3); place != path+" row 3" {
			t.Errorf("row 3 is %q", place)
		}
		r.Close()
	}
}

// Durations are of one kind and type.
func TestDurations(t *testing.T) {
	for _, path := range []string{"testdata/durations.arrow"} {
		r, err := Open(path)
		check(t, err)
		for column, want := range []string{"duration[s]", "duration[ms]", "duration[us]", "duration[ns]"} {
			if kind, typed := r.Kind(column), fmt.Sprint(r.Type(column)); kind != Other || typed != want {
				t.Errorf("%s: column %s is %s of type %s, want %s of type %s", path, r.Columns()[column], kind, typed, Other, want)
			}
		}
		if number := r.Kind(4); number != Number {
			t.Errorf("%s: integers are %s", path, number)
		}
		keepTypes(r)
		b, err := r.Next()
		check(t, err)
		if got := fmt.Sprint(b.Array(0), b.Array(3)); got != "[7 (null)] [-7 7]" {
			t.Errorf("%s: got %s", path, got)
		}
		r.Close()
	}
}

// TestDamagedFiles truncates binary files and flips their bytes everywhere: the result is an error
// or other values, never a crash or a hang.
func TestDamagedFiles(t *testing.T) {
	if testing.Short() {
		t.Skip("-short: it reads each file once per damaged byte")
	}
	files, _ := filepath.Glob("testdata/[nt]*")
	for _, path := range files {
		whole, err := os.ReadFile(path)
		if err != nil {
			t.Fatal(err)
		}
		name := filepath.Base(path)
		for length := range whole {
			if length%23 != 0 && length < len(whole)-16 {
				continue
			}
			if err := readDamaged(t, name, whole[:length]); err == nil {
				t.Fatalf("%s cut to %d of %d bytes: no error", name, length, len(whole))
			}
		}
		random := rand.New(rand.NewPCG(1, uint64(len(whole))))
		for range 100 {
			damaged := bytes.Clone(whole)
			for range 1 + random.IntN(3) {
				damaged[random.IntN(len(damaged))] ^= byte(1 << random.IntN(8))
			}
			readDamaged(t, name, damaged)
		}
	}
}

// readDamaged reads a file and checks the error, if any.
func readDamaged(t testing.TB, name string, content []byte) error {
	t.Helper()
	path := write(t, name, content)
	r, err := Open(path)
	if err == nil {
		_, err = show(r)
		r.Close()
	}
	if typed, typedErr := Open(path); typedErr == nil {
		typedErr = touchArrays(typed)
		typed.Close()
		err = cmp.Or(err, typedErr)
	}
	if err != nil && (fault.KindOf(err) != fault.Input || !strings.Contains(err.Error(), path)) {
		t.Fatalf("%s: kind %d, expected bad input that names the file: %v", name, fault.KindOf(err), err)
	}
	return err
}

// showInMemory reads a file in memory into one line per row.
func showInMemory(path string, content []byte) (string, error) {
	s, err := openSource(path, io.NewSectionReader(bytes.NewReader(content), 0, int64(len(content))))
	if err != nil {
		return "", err
	}
	defer s.Close()
	r := &Reader{Source: s}
	var b Batch
	var lines []string
	for {
		if err := s.Fill(&b); err == io.EOF {
			return strings.Join(lines, "\n"), nil
		} else if err != nil {
			return "", err
		}
		for i := range b.Len {
			lines = append(lines, showRow(r, &b, i))
		}
	}
}

// TestRareNumbers reads half-precision numbers, decimals and dictionary-encoded numbers.
func TestRareNumbers(t *testing.T) {
	want := []string{
		`1.5=1.5 1.5=1.50 9.007199254740992e+15=9007199254740992 0.1=0.100000000000000000000000000000 7=7 0.5=0.5`,
		`NaN= NaN= NaN= NaN= NaN= NaN=`,
		`-0.25=-0.25 -0.07=-0.07 found integer "-9007199254740993", which a 64-bit floating-point number cannot hold exactly=-9007199254740993 -1e-20=-0.000000000000000000010000000000 -9=-9 NaN=`,
		`5.960464477539063e-08=5.960464477539063e-08 12345.67=12345.67 0=0 3=3.000000000000000000000000000000 7=7 0.5=0.5`,
	}
	for _, name := range []string{"numbers.arrow"} {
		r, err := Open(filepath.Join("testdata", name))
		check(t, err)
		defer r.Close()
		got, err := show(r)
		check(t, err)
		if strings.Join(got, "\n") != strings.Join(want, "\n") {
			t.Errorf("%s: got\n%s\nwant\n%s", name, strings.Join(got, "\n"), strings.Join(want, "\n"))
		}
	}
}

// TestPolars reads files from Polars compressed with LZ4, whose frames have a checksum per block:
// DataFrame.write_ipc(…, compression="lz4", compat_level=CompatLevel.oldest()).
func TestPolars(t *testing.T) {
	const path = "testdata/polars-lz4.arrow"
	content, err := os.ReadFile(path)
	check(t, err)
	got, err := showInMemory(path, content)
	check(t, err)
	if want := "\"a\" 0.5=0.5\n\"b\" NaN=\n\"c\" -1.25=-1.25\n\"d\" 3=3"; got != want {
		t.Errorf("got\n%s\nwant\n%s", got, want)
	}
}

// TestWindows reads record batches and row groups whose sizes are not multiples of a batch.
func TestWindows(t *testing.T) {
	for _, n := range []int{0, 1, rows.BatchRows - 1, rows.BatchRows, rows.BatchRows + 1, 3*rows.BatchRows + 5} {
		var numbers []float64
		var lists [][]string
		for i := range n {
			numbers = append(numbers, float64(i))
			lists = append(lists, make([]string, i%4))
			for k := range i % 4 {
				lists[i][k] = fmt.Sprint(i, k)
			}
		}
		half := n / 2
		arrowPath := filepath.Join(t.TempDir(), "a.arrow")
		w, err := arrowfile.Create(arrowPath, []arrow.Field{
			rowstest.Field("number", rowstest.Numbers(nil), false), rowstest.Field("list", rowstest.Lists(nil), false)})
		if err != nil {
			t.Fatal(err)
		}
		for _, r := range [][2]int{{0, half}, {half, n}} {
			if err := w.Write(rowstest.Numbers(numbers[r[0]:r[1]]), rowstest.Lists(lists[r[0]:r[1]])); err != nil {
				t.Fatal(err)
			}
		}
		if err := w.Close(); err != nil {
			t.Fatal(err)
		}
		for _, path := range []string{arrowPath} {
			r, err := Open(path)
			if err != nil {
				t.Fatal(err)
			}
			lines, err := show(r)
			if err != nil {
				t.Fatal(err)
			}
			if len(lines) != n {
				t.Fatalf("%s: read %d rows, wrote %d", path, len(lines), n)
			}
			for i, line := range lines {
				if want := fmt.Sprintf("%d=%d %q", i, i, lists[i]); line != want {
					t.Fatalf("%s row %d: got %s, want %s", path, i, line, want)
				}
			}
			r.Close()
		}
	}
}

func check(t testing.TB, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}
