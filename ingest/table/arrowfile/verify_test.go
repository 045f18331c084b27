package arrowfile

import (
	"bytes"
	"encoding/binary"
	"io"
	"math"
	"os"
	"slices"
	"strings"
	"testing"

	flatbuffers "github.com/google/flatbuffers/go"

	"tcbuild/fault"
	"tcbuild/ingest/table/rows"
	"tcbuild/internal/testing/rowstest"
)

func FuzzArrow(f *testing.F) { rowstest.Fuzz(f, Open) }

// No flipped bit in a footer may make a file lose or repeat rows: the footer has the locations of
// the record batches.
func TestDamagedFooterLosesNoRows(t *testing.T) {
	whole, err := os.ReadFile("../testdata/types-batches.arrow")
	if err != nil {
		t.Fatal(err)
	}
	want, err := countRows(whole)
	if err != nil {
		t.Fatal(err)
	}
	footer := len(whole) - trailerSize - int(binary.LittleEndian.Uint32(whole[len(whole)-trailerSize:]))
	damaged := bytes.Clone(whole)
	for bit := 8 * footer; bit < 8*len(whole); bit++ {
		damaged[bit/8] ^= 1 << (bit % 8)
		n, err := countRows(damaged)
		if err == nil && n != want {
			t.Errorf("bit %d of byte %d: %d rows, want %d or an error", bit%8, bit/8, n, want)
		}
		if err != nil && strings.Contains(err.Error(), "runtime error") {
			t.Errorf("bit %d of byte %d: got %v, want a message about the file", bit%8, bit/8, err)
		}
		damaged[bit/8] ^= 1 << (bit % 8)
	}
}

func countRows(content []byte) (n int, err error) {
	s, err := Open("types.arrow", io.NewSectionReader(bytes.NewReader(content), 0, int64(len(content))))
	if err != nil {
		return 0, err
	}
	var b rows.Batch
	for {
		if err := s.Fill(&b); err == io.EOF {
			return n, nil
		} else if err != nil {
			return n, err
		}
		n += b.Len
	}
}

// firstRecords is the message of a file's first record batch.
func firstRecords(t *testing.T, content []byte) (block, flatbuffers.Table) {
	t.Helper()
	in := io.NewSectionReader(bytes.NewReader(content), 0, int64(len(content)))
	const recordBatch = 3
	batch, root, err := messageAt(in, magicSize)
	for err == nil && root.GetByteSlot(messageKind, 0) != recordBatch {
		batch, root, err = messageAt(in, batch.offset+int64(batch.metadata)+batch.body)
	}
	if err != nil {
		t.Fatal(err)
	}
	return batch, root
}

// A count in a record batch of the oldest form is as untrustworthy as in the current one: it asked
// for 800 GB.
func TestLegacyMessage(t *testing.T) {
	content, err := os.ReadFile("../testdata/types-view.arrow")
	if err != nil {
		t.Fatal(err)
	}
	batch, root := firstRecords(t, content)
	message := content[batch.offset:][:batch.metadata]
	binary.LittleEndian.PutUint32(message, uint32(len(message)-legacyEnd))
	copy(message[legacyEnd:], message[continuationEnd:])
	if err := rowstest.Read(Open, "legacy.arrow", content, false); err != nil {
		t.Fatal(err)
	}
	header, _ := child(root, messageHeader)
	counts := header.Vector(flatbuffers.UOffsetT(header.Offset(recordVariadicCounts)))
	binary.LittleEndian.PutUint64(message[legacyEnd:][counts:], 100<<30)
	if err := rowstest.Read(Open, "legacy.arrow", content, false); err == nil || !strings.Contains(err.Error(), errLength.Error()) {
		t.Errorf("got %v", err)
	}
}

// A damaged schema without columns, and an unbounded number of rows: reading them would never end.
func TestRowsWithoutColumns(t *testing.T) {
	content, err := os.ReadFile("testdata/seeds/zstd.arrow")
	if err != nil {
		t.Fatal(err)
	}
	for at, with := range map[int]byte{214: '\b', 424: 0x11} {
		content[at] ^= with
	}
	err = rowstest.Read(Open, "rows.arrow", content, false)
	if fault.KindOf(err) != fault.Input || !strings.Contains(err.Error(), "rows and 0 columns, expected at most") {
		t.Errorf("got %v", err)
	}
}

// The buffers of a batch share its body. Many columns that all state the same bytes, or compressed
// ones that state to hold a lot, would ask for more memory than there is.
func TestBuffersShareTheBody(t *testing.T) {
	for _, name := range []string{"zstd", "lz4", "plain"} {
		content, err := os.ReadFile("testdata/seeds/" + name + ".arrow")
		if err != nil {
			t.Fatal(err)
		}
		batch, root := firstRecords(t, content)
		header, _ := child(root, messageHeader)
		vector := header.Vector(flatbuffers.UOffsetT(header.Offset(recordBuffers)))
		message := content[batch.offset+continuationEnd:]
		for i := range header.VectorLen(flatbuffers.UOffsetT(header.Offset(recordBuffers))) {
			at := int(vector) + bufferSize*i
			before := slices.Clone(content)
			for _, size := range []int64{-1, batch.body, math.MaxInt64} {
				binary.LittleEndian.PutUint64(message[at+8:], uint64(size))
				err := rowstest.Read(Open, "shared.arrow", content, false)
				if i > 0 && (err == nil || !strings.Contains(err.Error(), errLength.Error())) {
					t.Errorf("%s, buffer %d of %d bytes: got %v", name, i, size, err)
				}
			}
			copy(content, before)
			body := content[batch.offset+int64(batch.metadata):]
			start := header.GetInt64(vector + flatbuffers.UOffsetT(bufferSize*i))
			if name == "plain" || header.GetInt64(vector+flatbuffers.UOffsetT(bufferSize*i)+8) == 0 {
				continue
			}
			binary.LittleEndian.PutUint64(body[start:], 1<<40)
			err := rowstest.Read(Open, "large.arrow", content, false)
			if err == nil || !strings.Contains(err.Error(), "expected at most") {
				t.Errorf("%s, buffer %d: got %v", name, i, err)
			}
			copy(content, before)
		}
	}
}

// A vector of buffer counts that is shorter than the columns of views: the library would take what
// lies behind it, here a request for 32 GB.
func TestViewsWithoutCounts(t *testing.T) {
	content, err := os.ReadFile("testdata/seeds/view.arrow")
	if err != nil {
		t.Fatal(err)
	}
	for at, with := range map[int]byte{229: 'P', 100: 'h', 190: 'P'} {
		content[at] ^= with
	}
	if err := rowstest.Read(Open, "views.arrow", content, false); fault.KindOf(err) != fault.Input || !strings.Contains(err.Error(), errLength.Error()) {
		t.Errorf("got %v", err)
	}
}

// A dictionary of a negative length, which no index lies behind.
func TestNegativeDictionary(t *testing.T) {
	content, err := os.ReadFile("testdata/seeds/lz4.arrow")
	if err != nil {
		t.Fatal(err)
	}
	for at, with := range map[int]byte{351: 0xf9, 278: ' ', 388: 'i'} {
		content[at] ^= with
	}
	for _, typed := range []bool{false, true} {
		if err := rowstest.Read(Open, "dictionary.arrow", content, typed); fault.KindOf(err) != fault.Input {
			t.Errorf("typed %v: got %v", typed, err)
		}
	}
}
