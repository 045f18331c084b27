package encode

import (
	"bytes"
	"errors"
	"fmt"
	"math"
	"slices"
	"testing"
)

func TestRecordRoundTrip(t *testing.T) {
	var parsed Record // one for all
	for _, record := range []Record{
		{},
		{ID: []byte("id"), Payload: []byte("payload")},
		{Genes: []uint32{0, math.MaxInt32}, Phenotypes: []float64{0, math.Inf(-1), math.NaN()}, Payload: []byte{0}},
		{Genes: []uint32{7}, ID: bytes.Repeat([]byte("x"), 300)},
	} {
		data := append(record.AppendHead(nil), record.Payload...)
		if err := parsed.Parse(data, len(record.Phenotypes)); err != nil {
			t.Fatal(err)
		}
		sameBits := func(x, y float64) bool { return math.Float64bits(x) == math.Float64bits(y) }
		if !slices.Equal(parsed.Genes, record.Genes) || !slices.EqualFunc(parsed.Phenotypes, record.Phenotypes, sameBits) ||
			!bytes.Equal(parsed.ID, record.ID) || !bytes.Equal(parsed.Payload, record.Payload) {
			t.Errorf("parsed %v, want %v", parsed, record)
		}
	}
}

func TestTruncatedRecord(t *testing.T) {
	record := Record{Genes: []uint32{1, 2}, Phenotypes: []float64{1}, ID: []byte("id")}
	data := record.AppendHead(nil)
	for end := range len(data) {
		want := fmt.Sprintf("damaged: record of %d bytes is too short for 1 phenotypes, 2 genes and an id of 2 bytes", end)
		if end < recordHead {
			want = fmt.Sprintf("damaged: record of %d bytes has no head", end)
		}
		var parsed Record
		if err := parsed.Parse(data[:end], 1); !errors.Is(err, ErrDamaged) || err.Error() != want {
			t.Errorf("error %v, want %s", err, want)
		}
	}
	for damaged := range damaged(data) {
		var parsed Record
		parsed.Parse(damaged, 1) // must not panic
	}
}
