package torchcell

import (
	"bufio"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"iter"
	"math"
	"os"
	"slices"
)

// Contents is what the records of a store say, in columns. They are found by one pass over the
// store, which keeps all values, a few dozen bytes per record and value, in an unnamed temporary
// file, as the last record may add a column. It must be closed.
type Contents struct {
	Columns []Column

	file    *os.File
	targets []int // columns, by the numbers that the file has; -1 for none
}

// Row is a record. It is valid until the next one is read.
type Row struct {
	Number int // in the record's key
	// Genotypes has the perturbations of each experiment.
	Genotypes [][]Perturbation
	Cells     []Cell
}

// Cell is a number or a text in a column. Those that a record lacks have no cell.
type Cell struct {
	Column int
	Number float64 // NaN if it is not a number
	Text   []byte  // nil if it is not text
	// PerturbationsOf is the experiment whose types of perturbations are the value, or -1.
	PerturbationsOf int
}

// Read reads a store.
func Read(s *Store) (*Contents, error) {
	c := &Contents{}
	if err := c.read(s); err != nil {
		c.Close()
		return nil, err
	}
	return c, nil
}

// Close drops the values, once.
func (c *Contents) Close() error {
	if err := c.file.Close(); !errors.Is(err, os.ErrClosed) && !errors.Is(err, os.ErrInvalid) {
		return err
	}
	return nil
}

func (c *Contents) read(s *Store) (err error) {
	// Removed at once, so that nobody has to clean up after a killed run.
	if c.file, err = os.CreateTemp("", "tcbuild-store-"); err == nil {
		err = os.Remove(c.file.Name())
	}
	if err != nil {
		return c.failed(s, err)
	}
	found := columns{dir: s.dir, index: make(map[string]int), varying: newVarying()}
	out := bufio.NewWriterSize(c.file, fileBuffer)
	var row, cells, framed []byte
	err = s.Records(func(r *Record) error {
		count := 0
		cells = cells[:0]
		err := found.each(r, func(column, experiment int, v *Value) {
			if tagged, ok := appendCell(cells, column, experiment, v); ok {
				cells = tagged
				count++
			}
		})
		if err != nil {
			return err
		}
		row = appendGenotypes(binary.AppendUvarint(row[:0], uint64(r.Number)), r)
		row = append(binary.AppendUvarint(row, uint64(count)), cells...)
		framed = appendText(framed[:0], row, 0)
		_, err = out.Write(framed)
		return c.failed(s, err)
	})
	if err == nil {
		err = c.failed(s, out.Flush())
	}
	c.Columns, c.targets = found.arrange()
	return err
}

// failed names the temporary file's folder in an error.
func (c *Contents) failed(s *Store, err error) error {
	if err == nil {
		return nil
	}
	return fmt.Errorf("keep the values of torchcell store %s in a temporary file in %s: %w", s.dir,
		os.TempDir(), err)
}

// fileBuffer is how much of the file is written or read at once.
const fileBuffer = 64 << 10

// A record in the file has its length, then its number, the number of its experiments, the
// perturbations of each, the number of its cells, and these. Numbers are varints, texts follow
// their length.
//
// The perturbations of an experiment are their number, and the gene and type of each, the length of
// the type plus one.
//
// A cell is the column's number times 4 plus the kind, and a float64, a text or an experiment.
const (
	numberCell = iota
	textCell
	typesCell
)

func appendGenotypes(to []byte, r *Record) []byte {
	to = binary.AppendUvarint(to, uint64(len(r.Experiments)))
	for i := range r.Experiments {
		perturbations := r.Experiments[i].Perturbations
		to = binary.AppendUvarint(to, uint64(len(perturbations)))
		for _, p := range perturbations {
			to = appendText(to, p.Gene, 0)
			if p.Type == nil {
				to = append(to, 0)
			} else {
				to = appendText(to, p.Type, 1)
			}
		}
	}
	return to
}

func appendText(to, text []byte, more int) []byte {
	return append(binary.AppendUvarint(to, uint64(len(text)+more)), text...)
}

// appendCell appends the cell of a value; ok is false if that is missing or is not kept.
func appendCell(to []byte, column, experiment int, v *Value) (cell []byte, ok bool) {
	tag := uint64(column) << 2
	switch {
	case v.Types:
		return binary.AppendUvarint(binary.AppendUvarint(to, tag+typesCell),
			uint64(experiment)), true
	case v.Text != nil:
		return appendText(binary.AppendUvarint(to, tag+textCell), v.Text, 0), true
	case !v.Other && !math.IsNaN(v.Number):
		return binary.LittleEndian.AppendUint64(binary.AppendUvarint(to, tag+numberCell),
			math.Float64bits(v.Number)), true
	}
	return to, false
}

// A Chunk is some consecutive records, as the file has them.
type Chunk struct{ Records [][]byte }

const chunkSize = 256 << 10

// Chunks reads all records, ascending by number.
func (c *Contents) Chunks() iter.Seq2[Chunk, error] {
	return func(yield func(Chunk, error) bool) {
		in := bufio.NewReaderSize(io.NewSectionReader(c.file, 0, math.MaxInt64), fileBuffer)
		var chunk Chunk
		for size := 0; ; {
			record, err := readFrame(in)
			ends := err == io.EOF
			if err != nil && !ends {
				yield(chunk, fmt.Errorf("read the temporary file of a torchcell store: %w", err))
				return
			}
			if !ends {
				chunk.Records = append(chunk.Records, record)
				size += len(record)
			}
			if isFull := size >= chunkSize; isFull || ends && len(chunk.Records) > 0 {
				if !yield(chunk, nil) {
					return
				}
				chunk, size = Chunk{}, 0
			}
			if ends {
				return
			}
		}
	}
}

func readFrame(in *bufio.Reader) (record []byte, err error) {
	size, err := binary.ReadUvarint(in)
	if err != nil {
		return nil, err
	}
	record = make([]byte, size)
	if _, err = io.ReadFull(in, record); err == io.EOF {
		err = io.ErrUnexpectedEOF
	}
	return record, err
}

// Decode reads record i of a chunk into a row, which is valid as long as the chunk. It can be
// called from several goroutines.
func (c *Contents) Decode(chunk Chunk, i int, r *Row) {
	(&reader{chunk.Records[i]}).row(r, c.targets)
}

// reader reads a record of the file.
type reader struct{ left []byte }

func (b *reader) row(r *Row, targets []int) {
	r.Number = b.number()
	experiments := b.number()
	r.Genotypes = slices.Grow(r.Genotypes[:0], experiments)[:experiments]
	for i := range r.Genotypes {
		r.Genotypes[i] = r.Genotypes[i][:0]
		for range b.number() {
			p := Perturbation{Gene: b.bytes(b.number())}
			if size := b.number() - 1; size >= 0 {
				p.Type = b.bytes(size)
			}
			r.Genotypes[i] = append(r.Genotypes[i], p)
		}
	}
	r.Cells = r.Cells[:0]
	for range b.number() {
		tag := b.number()
		cell := Cell{Column: targets[tag>>2], Number: math.NaN(), PerturbationsOf: -1}
		switch tag & 3 {
		case numberCell:
			cell.Number = math.Float64frombits(binary.LittleEndian.Uint64(b.bytes(8)))
		case textCell:
			cell.Text = b.bytes(b.number())
		case typesCell:
			cell.PerturbationsOf = b.number()
		}
		if cell.Column >= 0 {
			r.Cells = append(r.Cells, cell)
		}
	}
}

func (b *reader) number() int {
	number, size := binary.Uvarint(b.left)
	b.left = b.left[size:]
	return int(number)
}

func (b *reader) bytes(size int) []byte {
	bytes := b.left[:size:size]
	b.left = b.left[size:]
	return bytes
}
