package graph

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/apache/arrow/go/v17/arrow"
	"github.com/apache/arrow/go/v17/arrow/array"
	"github.com/apache/arrow/go/v17/arrow/ipc"
	"github.com/apache/arrow/go/v17/arrow/memory"

	"tcbuild/fault"
	"tcbuild/ingest"
)

// indexRows is more than a window of an Arrow file's rows.
const indexRows = 9_000

// indexTable is a table of edges between genes and reactions, in batches of so many rows. change
// changes a column's values before they are written; "" is a null.
func indexTable(t *testing.T, path string, kind arrow.DataType, batch int, change func(column, row int) (string, bool)) {
	t.Helper()
	columns := make([]arrow.Array, 2)
	for column, nodes := range []int{200, 100} {
		values := array.NewBuilder(memory.DefaultAllocator, kind)
		for row := range indexRows {
			text := fmt.Sprint(row * 7919 % nodes)
			if changed, ok := change(column, row); ok {
				text = changed
			}
			if text == "" {
				values.AppendNull()
			} else if err := values.AppendValueFromString(text); err != nil {
				t.Fatal(err)
			}
		}
		columns[column] = values.NewArray()
	}
	schema := arrow.NewSchema([]arrow.Field{{Name: "src_index", Type: kind, Nullable: true}, {Name: "dst_index", Type: kind, Nullable: true}}, nil)
	file, err := os.Create(path)
	if err != nil {
		t.Fatal(err)
	}
	defer file.Close()
	w, err := ipc.NewFileWriter(file, ipc.WithSchema(schema))
	if err != nil {
		t.Fatal(err)
	}
	whole := array.NewRecord(schema, columns, indexRows)
	for from := 0; from < indexRows; from += batch {
		if err := w.Write(whole.NewSlice(int64(from), int64(min(from+batch, indexRows)))); err != nil {
			t.Fatal(err)
		}
	}
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
}

// TestIndexColumns reads indices of all integer types and divisions into batches, right
// and wrong ones. Those of int32 are read in another way than the others.
func TestIndexColumns(t *testing.T) {
	dir := folder(t, map[string]string{"nodes/gene.tsv": "id\n", "nodes/reaction.tsv": "id\n", "edges": "folder"})
	for name, count := range map[string]int{"gene": 200, "reaction": 100} {
		ids := "id\n"
		for i := range count {
			ids += fmt.Sprintln(name, i)
		}
		if err := os.WriteFile(filepath.Join(dir, "nodes", name+".tsv"), []byte(strings.ReplaceAll(ids, " ", "")), 0o666); err != nil {
			t.Fatal(err)
		}
	}
	for _, kind := range []arrow.DataType{
		arrow.PrimitiveTypes.Int16, arrow.PrimitiveTypes.Int32, arrow.PrimitiveTypes.Int64,
		arrow.PrimitiveTypes.Uint8, arrow.PrimitiveTypes.Uint16, arrow.PrimitiveTypes.Uint32, arrow.PrimitiveTypes.Uint64,
	} {
		for _, batch := range []int{indexRows, 5_000} {
			edges := filepath.Join(dir, "edges")
			path := filepath.Join(edges, "gene__gpr__reaction.arrow")
			if err := errors.Join(os.RemoveAll(edges), os.Mkdir(edges, 0o777)); err != nil {
				t.Fatal(err)
			}
			read := func(change func(column, row int) (string, bool)) (*ingest.Graph, error) {
				indexTable(t, path, kind, batch, change)
				g, _, err := Read(dir)
				return g, err
			}
			g, err := read(func(int, int) (string, bool) { return "", false })
			if err != nil {
				t.Fatalf("%s %d: %v", kind, batch, err)
			}
			src, dst := g.Edges[0].Src, g.Edges[0].Dst
			if len(src) != indexRows || len(dst) != indexRows {
				t.Fatalf("%s %d: got %d sources and %d targets", kind, batch, len(src), len(dst))
			}
			for row := range indexRows {
				if int(src[row]) != row*7919%200 || int(dst[row]) != row*7919%100 {
					t.Fatalf("%s %d: row %d is %d, %d", kind, batch, row, src[row], dst[row])
				}
			}
			if kind.ID() != arrow.INT32 && kind.ID() != arrow.INT64 {
				continue
			}
			for _, wrong := range []struct{ value, found string }{
				{"", "found no value, expected an integer"}, {"200", "found 200, expected an integer"}, {"-1", "found -1, expected an integer"},
				{"2147483647", "found 2147483647, expected an integer"}, {"-2147483648", "found -2147483648, expected an integer"},
			} {
				for column, name := range []string{"src_index", "dst_index"} {
					for _, at := range []int{0, 8192, indexRows - 1} {
						_, err := read(func(c, row int) (string, bool) { return wrong.value, c == column && row == at })
						want := fmt.Sprintf("read edges %s row %d: %s: %s from 0 to %d, the rows of nodes/", path, at, name, wrong.found, 199-100*column)
						if err == nil || !strings.HasPrefix(err.Error(), want) || fault.KindOf(err) != fault.Input {
							t.Errorf("%s %d: got  %v\nwant %s", kind, batch, err, want)
						}
					}
				}
			}
		}
	}
}
