package table

import (
	"bytes"
	"encoding/binary"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/apache/arrow/go/v17/arrow"
	"github.com/apache/arrow/go/v17/arrow/array"
	"github.com/apache/arrow/go/v17/arrow/ipc"
	"github.com/apache/arrow/go/v17/arrow/memory"
	"github.com/klauspost/compress/gzip"
	"github.com/klauspost/compress/zstd"

	"tcbuild/internal/testing/testrun"
)

// TestEveryBit flips every bit of files whose compression has checksums: reading gives an error, or
// what is in the undamaged file.
func TestEveryBit(t *testing.T) {
	text := []byte(strings.Repeat("YAL001C\t0.5\tYPD\nYAL002W\t\t\n", 8))
	for name, wrap := range map[string]func(io.Writer) io.WriteCloser{
		"a.tsv.gz": func(out io.Writer) io.WriteCloser { return gzip.NewWriter(out) },
		"a.tsv.zst": func(out io.Writer) io.WriteCloser {
			w, err := zstd.NewWriter(out)
			check(t, err)
			return w
		},
	} {
		var compressed bytes.Buffer
		w := wrap(&compressed)
		_, err := w.Write(append([]byte("gene\tfitness\tmedium\n"), text...))
		check(t, err)
		check(t, w.Close())
		everyBit(t, name, compressed.Bytes(), 0, compressed.Len())
	}

	// The metadata of Arrow files has no checksum, so only what is compressed is damaged: the bodies
	// of messages, which follow each other.
	polars, err := os.ReadFile("testdata/polars-lz4.arrow")
	check(t, err)
	for name, whole := range map[string][]byte{"polars-lz4.arrow": polars, "zstd.arrow": zstdArrow(t)} {
		footer := len(whole) - 10 - int(binary.LittleEndian.Uint32(whole[len(whole)-10:]))
		for i, message := range bytes.Split(whole[:footer], []byte{0xff, 0xff, 0xff, 0xff}) {
			from := max(bytes.Index(message, []byte{0x04, 0x22, 0x4d, 0x18}), bytes.Index(message, []byte{0x28, 0xb5, 0x2f, 0xfd}))
			if from > 0 {
				start := bytes.Index(whole, message)
				everyBit(t, fmt.Sprint(i, name), whole, start+from-8, start+len(message))
			}
		}
	}
}

// zstdArrow is a file whose dictionary and record batch are compressed, in frames with checksums.
func zstdArrow(t *testing.T) []byte {
	mem := memory.NewGoAllocator()
	texts := array.NewDictionaryBuilder(mem, &arrow.DictionaryType{IndexType: arrow.PrimitiveTypes.Int8, ValueType: arrow.BinaryTypes.String}).(*array.BinaryDictionaryBuilder)
	numbers := array.NewFloat64Builder(mem)
	for i := range 40 {
		check(t, texts.AppendString([]string{"YPD", "SC", "YPG"}[i%3]))
		numbers.Append(float64(i % 7))
	}
	columns := []arrow.Array{texts.NewArray(), numbers.NewArray()}
	schema := arrow.NewSchema([]arrow.Field{{Name: "medium", Type: columns[0].DataType()}, {Name: "fitness", Type: columns[1].DataType()}}, nil)
	path := filepath.Join(t.TempDir(), "a.arrow")
	out, err := os.Create(path)
	check(t, err)
	defer out.Close()
	w, err := ipc.NewFileWriter(out, ipc.WithSchema(schema), ipc.WithZstd())
	check(t, err)
	check(t, w.Write(array.NewRecord(schema, columns, 40)))
	check(t, w.Close())
	content, err := os.ReadFile(path)
	check(t, err)
	return content
}

func everyBit(t *testing.T, name string, whole []byte, from, to int) {
	t.Run(name, func(t *testing.T) {
		t.Parallel()
		want, err := showTwice(name, whole)
		check(t, err)
		damaged := bytes.Clone(whole)
		refused := 0
		for bit := 8 * from; bit < 8*to; bit += testrun.Cases(1, 71) {
			damaged[bit/8] ^= 1 << (bit % 8)
			switch got, err := showTwice(name, damaged); {
			case err != nil:
				refused++
			case got != want:
				t.Errorf("bit %d of byte %d of %d: got\n%s\nwant\n%s", bit%8, bit/8, len(whole), got, want)
			}
			damaged[bit/8] ^= 1 << (bit % 8)
		}
		if bits := 8 * (to - from); refused*testrun.Cases(1, 71) < bits/3 {
			t.Errorf("%d of %d bits were refused", refused, bits)
		}
	})
}

// showTwice shows a file's columns and its values, those of a binary format as arrays of their own
// types, too.
func showTwice(path string, content []byte) (string, error) {
	values, err := showInMemory(path, content)
	if err != nil {
		return "", err
	}
	s, err := openSource(path, io.NewSectionReader(bytes.NewReader(content), 0, int64(len(content))))
	if err != nil {
		return "", err
	}
	r := &Reader{Source: s}
	text := strings.Builder{}
	fmt.Fprintln(&text, r.Columns(), values)
	kept := keepTypes(r)
	if len(kept) < len(r.Columns()) {
		return "", fmt.Errorf("%d columns have no type", len(r.Columns())-len(kept))
	}
	for {
		var b Batch
		if err := s.Fill(&b); err == io.EOF {
			return text.String(), nil
		} else if err != nil {
			return "", err
		}
		for _, column := range kept {
			fmt.Fprintln(&text, b.Array(column))
		}
	}
}
