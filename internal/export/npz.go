package export

import (
	"archive/zip"
	"bytes"
	"cmp"
	"encoding/binary"
	"fmt"
	"io"
	"maps"
	"os"
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/apache/arrow/go/v17/arrow/array"

	"tcbuild/ingest"
)

func (x *exporter) writeNPZ() error {
	nodes, edges := x.newArrays("nodes"), x.newArrays("edges")
	for _, table := range x.graph.NodeTables() {
		nodes.writeTexts(table.Type, table.IDs)
	}
	for _, table := range x.graph.Edges {
		edges.write(table.Type.String(), "<i4", slices.Concat(table.Src, table.Dst), 2, table.Len())
	}
	return cmp.Or(nodes.close(), edges.close(), x.writeColumns(), x.writeMatrices())
}

// writeColumns writes an array for each column of the samples but their genes.
func (x *exporter) writeColumns() error {
	a, columns := x.newArrays("samples"), x.dataset.Manifest.Columns()
	texts, numbers := map[string][]string{"sample_id": nil}, map[string][]float64{}
	err := x.dataset.EachSample(x.ctx, func(_ int, row *ingest.Sample) error {
		texts["sample_id"] = append(texts["sample_id"], string(row.ID))
		for k, value := range row.Phenotypes {
			name := columns.Phenotypes[k].Name
			numbers[name] = append(numbers[name], value)
		}
		for k, value := range row.Attributes {
			name := columns.Attributes[k].Name
			if columns.Attributes[k].Type == ingest.NumberAttribute {
				numbers[name] = append(numbers[name], value.Number)
			} else {
				texts[name] = append(texts[name], string(value.Text))
			}
		}
		return nil
	})
	for _, name := range slices.Sorted(maps.Keys(texts)) {
		a.writeTexts(name, texts[name])
	}
	for _, name := range slices.Sorted(maps.Keys(numbers)) {
		a.write(name, "<f8", numbers[name], len(numbers[name]))
	}
	return cmp.Or(err, a.close())
}

// writeMatrices writes a matrix for each mask, all at the same time, as scipy.sparse.load_npz reads
// it: a row per sample, a column per position, true where removed. A first pass over the samples
// counts, because arrays begin with their size.
func (x *exporter) writeMatrices() error {
	ends := make([][]int64, len(x.layout.Masks)) // of each sample's positions, by mask
	for mask := range ends {
		ends[mask] = []int64{0}
	}
	none := func(*span) error { return nil }
	err := x.eachSpan(none, func(s *span) error {
		for mask, list := range s.removed {
			before := ends[mask][len(ends[mask])-1]
			for _, end := range list.Offsets()[1:] {
				ends[mask] = append(ends[mask], before+int64(end))
			}
		}
		return nil
	})
	if err != nil {
		return err
	}
	var matrices []*arrays
	for mask, of := range x.layout.Masks {
		a, rows := x.newArrays("removed/"+of.Name), len(ends[mask])
		count := int(ends[mask][rows-1])
		a.write("format", "|S3", []byte("csr"))
		a.write("shape", "<i8", []int64{int64(rows - 1), int64(of.Size)}, 2)
		a.write("indptr", "<i8", ends[mask], rows)
		a.beginArray("data", "|b1", count)
		ones := bytes.Repeat([]byte{1}, 1<<20)
		for left := count; left > 0; left -= len(ones) {
			a.Write(ones[:min(left, len(ones))])
		}
		a.beginArray("indices", "<i4", count)
		matrices = append(matrices, a)
	}
	err = x.eachSpan(none, func(s *span) error {
		for mask, list := range s.removed {
			positions := list.ListValues().(*array.Uint32).Uint32Values()
			if err := binary.Write(matrices[mask], binary.LittleEndian, positions); err != nil {
				return err
			}
		}
		return nil
	})
	for _, a := range matrices {
		err = cmp.Or(err, a.close())
	}
	return err
}

// arrays are an .npz file: a .zip of .npy files. Writing appends to the last array.
type arrays struct {
	file *os.File
	zip  *zip.Writer
	last io.Writer
	err  error // the first one; nothing is written after it
}

func (x *exporter) newArrays(name string) *arrays {
	file, err := x.create(name + ".npz")
	return &arrays{file: file, zip: zip.NewWriter(file), err: err}
}

// close completes the file.
func (a *arrays) close() error {
	if a.err == nil {
		a.err = a.zip.Close()
	}
	return cmp.Or(a.err, a.file.Close())
}

// beginArray writes the header of an array of NumPy's type descr. Its values follow in C order.
func (a *arrays) beginArray(name, descr string, shape ...int) {
	lengths := ""
	for _, length := range shape {
		lengths += fmt.Sprintf("%d,", length)
	}
	header := fmt.Sprintf("{'descr': '%s', 'fortran_order': False, 'shape': (%s), }", descr,
		lengths)
	const before = 10 // bytes: magic, version, length of the header
	header += strings.Repeat(" ", 63-(before+len(header))%64) + "\n"
	method := zip.Deflate
	if descr == "<i4" { // deflate would take most of the time, and save a third
		method = zip.Store
	}
	if a.err == nil {
		a.last, a.err = a.zip.CreateHeader(&zip.FileHeader{Name: name + ".npy", Method: method})
	}
	begin := binary.LittleEndian.AppendUint16([]byte("\x93NUMPY\x01\x00"), uint16(len(header)))
	a.Write(append(begin, header...))
}

// write adds an array of a slice of numbers.
func (a *arrays) write(name, descr string, values any, shape ...int) {
	a.beginArray(name, descr, shape...)
	_ = binary.Write(a, binary.LittleEndian, values) // a keeps the error
}

// writeTexts adds an array of texts, in UTF-32, each as long as the longest.
func (a *arrays) writeTexts(name string, texts []string) {
	width := 1
	for _, text := range texts {
		width = max(width, utf8.RuneCountInString(text))
	}
	a.beginArray(name, fmt.Sprintf("<U%d", width), len(texts))
	padded := make([]rune, width)
	for _, text := range texts {
		clear(padded[copy(padded, []rune(text)):])
		_ = binary.Write(a, binary.LittleEndian, padded)
	}
}

func (a *arrays) Write(p []byte) (n int, err error) {
	if a.err == nil {
		n, a.err = a.last.Write(p)
	}
	return n, a.err
}
