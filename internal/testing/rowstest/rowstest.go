// Package rowstest tests the readers of binary table formats.
package rowstest

import (
	"bytes"
	"io"
	"os"
	"path/filepath"
	"runtime/debug"
	"strings"
	"testing"

	"tcbuild/fault"
	"tcbuild/ingest/table/rows"
)

// Fuzz reads the files of testdata/seeds, which are from pyarrow, with up to three bytes changed:
// as values, or as arrays in their own types. An execution costs some 100 µs, about as much as the
// fuzzer's own work for it. Measurements show what keeps it there:
//   - The damage is given as numbers. With bytes, the fuzzer shortens each find, at tens of executions
//     and two messages with all coverage counters per find.
//   - Each file has one column.
//   - The tests of a format link nothing large, because the fuzzer visits all coverage counters after
//     each execution; see also FUZZED in the Makefile, and parquet_test.go at the root.
func Fuzz[S rows.Source](f *testing.F, open func(path string, in *io.SectionReader) (S, error)) {
	// a buffer of 1 GiB takes a second to clear, and 16 million rows as long to read
	rows.UsualBuffer, rows.MaxEmptyRows = 1<<20, 1<<16
	// the heap is small: collecting garbage took half of an execution
	debug.SetGCPercent(2000)
	paths, _ := filepath.Glob("testdata/seeds/*")
	var files [][]byte
	for i, path := range paths {
		content, err := os.ReadFile(path)
		if err != nil {
			f.Fatal(err)
		}
		files = append(files, content)
		for k := range 2 {
			at := uint16(len(content) * k / 2)
			f.Add(uint8(i), k%2 == 0, at, uint8(k), at, uint8(0), at, uint8(0))
		}
	}
	buffer := make([]byte, 1<<16)
	f.Fuzz(func(t *testing.T, file uint8, typed bool, at1 uint16, with1 uint8, at2 uint16, with2 uint8, at3 uint16, with3 uint8) {
		k := int(file) % len(files)
		content := buffer[:copy(buffer, files[k])]
		content[int(at1)%len(content)] ^= with1
		content[int(at2)%len(content)] ^= with2
		content[int(at3)%len(content)] ^= with3
		err := Read(open, paths[k], content, typed)
		if err != nil && (fault.KindOf(err) != fault.Input || !strings.Contains(err.Error(), paths[k]) || strings.Contains(err.Error(), "runtime error")) {
			t.Fatalf("kind %d, expected bad input that names the file, without words of Go: %v", fault.KindOf(err), err)
		}
		if err != nil && bytes.Equal(content, files[k]) {
			t.Fatalf("the file is not damaged: %v", err)
		}
	})
}

// Read reads every value of a file in memory, or each column in its own type if it has one. Without
// a file on disk, a pass takes microseconds.
func Read[S rows.Source](open func(path string, in *io.SectionReader) (S, error), path string, content []byte, typed bool) error {
	s, err := open(path, io.NewSectionReader(bytes.NewReader(content), 0, int64(len(content))))
	if err != nil {
		return err
	}
	defer s.Close()
	kept := make([]bool, len(s.Columns()))
	for column := range kept {
		if kept[column] = typed && s.Type(column) != nil; kept[column] {
			s.KeepType(column)
		}
	}
	var b rows.Batch
	for {
		if err := s.Fill(&b); err != nil {
			if err == io.EOF {
				return nil
			}
			return err
		}
		for column := range kept {
			if kept[column] {
				values := b.Array(column)
				for i := range values.Len() {
					values.ValueStr(i)
				}
				continue
			}
			for i := range b.Len {
				switch s.Kind(column) {
				case rows.Number:
					b.Number(column, i)
					b.Integer(column, i)
					b.Text(column, i)
				case rows.Text:
					b.Text(column, i)
				case rows.List:
					b.List(column, i)
				}
			}
		}
	}
}
