package export

import (
	"archive/zip"
	"bytes"
	"cmp"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"os"
	"slices"
	"strings"
	"unicode/utf8"

	"tcbuild/ingest"
	"tcbuild/store"
)

func (x *exporter) writeNPZ() error {
	nodes, edges := x.newArrays("nodes"), x.newArrays("edges")
	for _, table := range x.graph.NodeTables() {
		nodes.writeTexts(table.Type, table.IDs)
	}
	for _, table := range x.graph.Edges {
		edges.write(table.Type.String(), "<i4", slices.Concat(table.Src, table.Dst), 2, table.Len())
	}
	return errors.Join(nodes.close(), edges.close(), x.writeColumns(), x.writeMatrices())
}

// writeColumns writes an array for each column of the samples but their genes.
func (x *exporter) writeColumns() error {
	a, columns := x.newArrays("samples"), x.dataset.Manifest.Columns()
	text := func(name string, value func(*ingest.Sample) []byte) {
		texts := column(x, a, func(s *ingest.Sample) string { return string(value(s)) })
		a.writeTexts(name, texts)
	}
	number := func(name string, value func(*ingest.Sample) float64) {
		a.write(name, "<f8", column(x, a, value), x.dataset.Manifest.Samples)
	}
	text("sample_id", func(s *ingest.Sample) []byte { return s.ID })
	for k, phenotype := range columns.Phenotypes {
		number(phenotype.Name, func(s *ingest.Sample) float64 { return s.Phenotypes[k] })
	}
	for k, attribute := range columns.Attributes {
		if attribute.Type == ingest.NumberAttribute {
			number(attribute.Name, func(s *ingest.Sample) float64 { return s.Attributes[k].Number })
		} else {
			text(attribute.Name, func(s *ingest.Sample) []byte { return s.Attributes[k].Text })
		}
	}
	return a.close()
}

// column reads a value of each sample. An error becomes that of the arrays.
func column[T any](x *exporter, a *arrays, value func(*ingest.Sample) T) (values []T) {
	err := x.dataset.EachSample(x.ctx, func(_ int, row *ingest.Sample) error {
		values = append(values, value(row))
		return nil
	})
	if a.err == nil {
		a.err = err
	}
	return values
}

// writeMatrices writes a matrix for each mask, all at the same time, as scipy.sparse.load_npz reads
// it: a row per sample, a column per position, true where removed. A first pass over the samples
// counts, because arrays begin with their size.
func (x *exporter) writeMatrices() error {
	ends := make([][]int64, len(x.layout.Masks)) // of each sample's positions, by mask
	for mask := range ends {
		ends[mask] = []int64{0}
	}
	err := eachSpan(x, func(r *store.MaskReader, first, end int) (counts []int64, err error) {
		err = x.eachMask(r, first, end, func(_, _ int, positions []uint32) {
			counts = append(counts, int64(len(positions)))
		})
		return counts, err
	}, func(counts []int64) error {
		for i, count := range counts {
			of := &ends[i%len(ends)]
			*of = append(*of, (*of)[len(*of)-1]+count)
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
		a.begin("data", "|b1", count)
		ones := bytes.Repeat([]byte{1}, 1<<20)
		for left := count; left > 0; left -= len(ones) {
			a.Write(ones[:min(left, len(ones))])
		}
		a.begin("indices", "<i4", count)
		matrices = append(matrices, a)
	}
	err = eachSpan(x, func(r *store.MaskReader, first, end int) ([][]byte, error) {
		parts := make([][]byte, len(matrices))
		return parts, x.eachMask(r, first, end, func(mask, start int, positions []uint32) {
			for _, position := range positions {
				parts[mask] = binary.LittleEndian.AppendUint32(parts[mask], position-uint32(start))
			}
		})
	}, func(parts [][]byte) error {
		for mask, part := range parts {
			if _, err := matrices[mask].Write(part); err != nil {
				return err
			}
		}
		return nil
	})
	for _, a := range matrices {
		err = errors.Join(err, a.close())
	}
	return err
}

// eachMask passes on the positions that samples first to end-1 remove, mask by mask.
func (x *exporter) eachMask(r *store.MaskReader, first, end int,
	see func(mask, start int, positions []uint32)) error {
	for ; first < end; first++ {
		_, removed, err := r.Sample(first)
		if err != nil {
			return err
		}
		mask := 0
		for of, positions := range x.layout.Split(removed) {
			see(mask, of.Start, positions)
			mask++
		}
	}
	return nil
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

// begin begins an array of NumPy's type descr, whose values follow in C order.
func (a *arrays) begin(name, descr string, shape ...int) {
	lengths := ""
	for _, length := range shape {
		lengths += fmt.Sprintf("%d,", length)
	}
	header := fmt.Sprintf("{'descr': '%s', 'fortran_order': False, 'shape': (%s), }", descr, lengths)
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
	a.begin(name, descr, shape...)
	_ = binary.Write(a, binary.LittleEndian, values) // a keeps the error
}

// writeTexts adds an array of texts, in UTF-32, each as long as the longest.
func (a *arrays) writeTexts(name string, texts []string) {
	width := 1
	for _, text := range texts {
		width = max(width, utf8.RuneCountInString(text))
	}
	a.begin(name, fmt.Sprintf("<U%d", width), len(texts))
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
