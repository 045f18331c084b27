package parquetfile

import (
	"bytes"
	"errors"
	"math"
	"testing"

	"github.com/apache/arrow/go/v17/arrow"

	"tcbuild/internal/testing/rowstest"
	"tcbuild/internal/testing/testrun"
)

// limited fails after so many bytes.
type limited struct {
	bytes.Buffer
	left int
}

var errFull = errors.New("full")

func (l *limited) Write(p []byte) (int, error) {
	if l.left -= len(p); l.left < 0 {
		return 0, errFull
	}
	return l.Buffer.Write(p)
}

// Wherever writing fails, the writer says so; otherwise the bytes are the same each time.
func TestWriterFails(t *testing.T) {
	write := func(out *limited) error {
		columns := []arrow.Array{rowstest.Texts([]string{"a", ""}), rowstest.Lists([][]string{{"YA", "YB"}, nil}),
			rowstest.Numbers([]float64{1, math.NaN()}), rowstest.OptionalTexts([][]byte{nil, {}})}
		var fields []arrow.Field
		for i, column := range columns {
			fields = append(fields, rowstest.Field([]string{"id", "genes", "x", "note"}[i], column, i == 3))
		}
		w, err := NewWriter(out, fields)
		if err != nil {
			t.Fatal(err)
		}
		for range 2 {
			if err := w.Write(columns...); err != nil {
				return err
			}
		}
		return w.Close()
	}
	whole := &limited{left: math.MaxInt}
	if err := write(whole); err != nil {
		t.Fatal(err)
	}
	for part := 0; part < 20; part += testrun.Cases(1, 4) { // of the file
		left := whole.Len() - 1 - part*whole.Len()/20
		if err := write(&limited{left: left}); !errors.Is(err, errFull) {
			t.Fatalf("found error %v after %d of %d bytes, expected %v", err, left, whole.Len(), errFull)
		}
	}
	again := &limited{left: whole.Len()}
	if err := write(again); err != nil || !bytes.Equal(again.Bytes(), whole.Bytes()) {
		t.Errorf("found other bytes, or error %v", err)
	}
}
