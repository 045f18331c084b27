package duplicates

import (
	"crypto/sha256"
	"encoding/binary"
	"fmt"
	"math"
	"os"
	"path/filepath"
	"slices"

	"tcbuild/fault"
	"tcbuild/ingest"
	"tcbuild/ingest/sampletable"
)

// records are the values of samples in groups of several, in a file, group by group:
//
//	sample u32 | phenotypes f64… | attributes
//
// Attributes are those by which samples are not grouped: a number is 8 bytes, a text 16 of its
// SHA-256.
type records struct {
	*os.File
	plan   *plan
	record []byte

	// the open group: records start to end-1
	start, end int
	buffer     []byte // records from first on
	first, at  int
	failed     error // of the first read that failed
}

// bufferBytes are of the groups that are read once: the values of a larger group are read again for
// each of their sums.
const bufferBytes = 1 << 20

func newRecords(dir string, plan *plan) (*records, error) {
	file, err := os.Create(filepath.Join(dir, "groups"))
	if err != nil {
		return nil, err
	}
	return &records{File: file, plan: plan, record: make([]byte, 0, plan.recordBytes())}, nil
}

// put writes the record of a sample.
func (r *records) put(at int, samples *ingest.Samples, i int) error {
	record := binary.LittleEndian.AppendUint32(r.record[:0], uint32(samples.First+i))
	for _, value := range samples.Phenotypes(i) {
		record = binary.LittleEndian.AppendUint64(record, math.Float64bits(value))
	}
	for _, k := range r.plan.compared {
		value := appendValue(nil, r.plan.attributes[k].Type, samples.Attribute(i, k))
		if r.plan.attributes[k].Type == ingest.TextAttribute {
			sum := sha256.Sum256(value)
			value = sum[:keyBytes]
		}
		record = append(record, value...)
	}
	_, err := r.WriteAt(record, int64(at)*int64(len(record)))
	return err
}

// open opens the group of records start to end-1.
func (r *records) open(start, end int) {
	r.start, r.end = start, end
	r.buffer, r.first = r.buffer[:0], start
	r.rewind()
}

func (r *records) len() int { return r.end - r.start }

// rewind makes next return the first record.
func (r *records) rewind() { r.at = r.start }

// next returns the next record of the open group, which is valid until the next call.
func (r *records) next() []byte {
	size := cap(r.record)
	held := len(r.buffer) / size
	if r.at < r.first || r.at >= r.first+held {
		r.first = r.at
		held = min(r.end-r.at, max(bufferBytes/size, 1))
		if cap(r.buffer) < held*size {
			r.buffer = make([]byte, held*size)
		}
		r.buffer = r.buffer[:held*size]
		if _, err := r.ReadAt(r.buffer, int64(r.at)*int64(size)); err != nil && r.failed == nil {
			r.failed = err
		}
	}
	at := (r.at - r.first) * size
	r.at++
	return r.buffer[at : at+size]
}

func phenotypeOf(record []byte, k int) float64 {
	return math.Float64frombits(binary.LittleEndian.Uint64(record[4+8*k:]))
}

// pool makes one sample's phenotypes of the open group, whose other attributes must be equal.
func (s *stage) pool(r *records, table *sampletable.Table, phenotypes []float64) error {
	if err := s.checkAttributes(r, table); err != nil {
		return err
	}
	s.plan.pool(r, phenotypes)
	if k := slices.IndexFunc(phenotypes, func(value float64) bool { return math.IsInf(value, 0) }); k >= 0 && r.failed == nil {
		return fault.New(fault.Input, "correct the values",
			"read perturbations %s: found values of a genotype whose %s is beyond the range of a 64-bit floating-point number",
			s.name, fault.Quote(s.columns.Phenotypes[k].Name))
	}
	return r.failed
}

// checkAttributes compares the attributes of the open group.
func (s *stage) checkAttributes(r *records, table *sampletable.Table) error {
	if len(s.plan.compared) == 0 {
		return nil
	}
	r.rewind()
	first := append([]byte{}, r.next()...)
	for r.at < r.end {
		record := r.next()
		at := 4 + 8*len(s.plan.columns)
		for _, k := range s.plan.compared {
			size := valueBytes(s.plan.attributes[k].Type)
			if string(record[at:at+size]) != string(first[at:at+size]) {
				return s.conflict(table, k, int(binary.LittleEndian.Uint32(first)), int(binary.LittleEndian.Uint32(record)))
			}
			at += size
		}
	}
	return r.failed
}

// conflict is the error of two samples of a group that differ in an attribute.
func (s *stage) conflict(table *sampletable.Table, attribute, first, second int) error {
	reader := table.NewReader()
	defer reader.Close()
	var shown []any
	for _, sample := range []int{first, second} {
		row, err := reader.Row(sample)
		if err != nil {
			return err
		}
		shown = append(shown, fault.Quote(row.ID), describe(s.plan.attributes[attribute].Type, row.Attributes[attribute]))
	}
	name := s.plan.attributes[attribute].Name
	return fault.New(fault.Input, "add "+name+" to --group-by, or leave it out with --attributes",
		"read perturbations %s: samples %s with %s and %s with %s delete the same genes%s, expected one value of attribute %s in their mean",
		append(append([]any{s.name}, shown...), s.under(), fault.Quote(name))...)
}

func describe(values ingest.AttributeType, value ingest.Value) string {
	switch {
	case values == ingest.TextAttribute && value.Text == nil, values == ingest.NumberAttribute && math.IsNaN(value.Number):
		return "a missing value"
	case values == ingest.NumberAttribute:
		return fmt.Sprint(value.Number)
	}
	return fault.Quote(value.Text)
}
