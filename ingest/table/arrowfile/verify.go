package arrowfile

import (
	"cmp"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"math"
	"slices"

	flatbuffers "github.com/google/flatbuffers/go"
	"github.com/klauspost/compress/zstd"
	"github.com/pierrec/lz4/v4"

	"tcbuild/ingest/table/rows"
)

// The Arrow reader allocates slices of the lengths that a file's flatbuffers state, before it
// checks them. A flipped bit in such a length can ask for more memory than the machine has, and
// rows.Guard cannot recover from that. So these lengths are checked first. The slots below are
// vtable offsets from Arrow's format/{File,Schema,Message}.fbs.

const (
	footerSchema, footerDictionaries, footerRecords = 6, 8, 10
	schemaFields, schemaMetadata                    = 6, 8
	fieldType, fieldDictionary                      = 8, 12
	fieldChildren, fieldMetadata                    = 14, 16
	messageKind, messageHeader, messageBody         = 6, 8, 10
	recordVariadicCounts                            = 12

	fileMagic       = "ARROW1"
	blockSize       = 24 // offset int64, metadata length int32, padding, body length int64
	maxNesting      = 64 // of fields, as in the Arrow reader
	largestGap      = 64 // more than writers leave to align what follows
	magicSize       = 8  // "ARROW1" and two bytes to align what follows
	trailerSize     = 10 // footer length int32, magic "ARROW1"
	continuationEnd = 8  // 0xffffffff and the length before a message
	legacyEnd       = 4  // only the length, before Arrow 0.15
)

var errLength = errors.New("a length in the metadata is larger than the metadata")

// Message types, from format/Message.fbs, and types of fields, from format/Schema.fbs.
const (
	schemaMessage   = 1
	dictionaryBatch = 2
	recordBatch     = 3

	binaryView, utf8View = 23, 24
)

// block is the location of a record or dictionary batch in its file.
type block struct {
	offset   int64
	metadata int32 // bytes, including the length before it
	body     int64 // bytes
}

// verify checks the lengths in an Arrow IPC file's footer and in the messages of its batches. It
// panics on bad offsets, as the Arrow reader would.
func verify(file *io.SectionReader, frames bool) error {
	size := file.Size()
	trailer := make([]byte, trailerSize)
	if _, err := file.ReadAt(trailer, size-trailerSize); err != nil {
		return err
	}
	length := int64(int32(binary.LittleEndian.Uint32(trailer)))
	if string(trailer[4:]) != fileMagic || length <= 0 || length > size-trailerSize {
		return errors.New("the file does not end like an Arrow IPC file")
	}
	footer, err := readTable(file, size-trailerSize-length, length)
	if err != nil {
		return err
	}
	schema, ok := child(footer, footerSchema)
	if !ok {
		return errors.New("found no schema")
	}
	if err := checkVector(schema, schemaMetadata, 4); err != nil {
		return err
	}
	views, err := verifyFields(schema, schemaFields, 0)
	if err != nil {
		return err
	}
	dictionaries, err := blocks(footer, footerDictionaries)
	if err != nil {
		return err
	}
	records, err := blocks(footer, footerRecords)
	if err != nil {
		return err
	}
	return verifyBatches(file, size-trailerSize-length, dictionaries, records, views, frames)
}

// verifyBatches checks that a footer names exactly the batches in the file: rows of a batch that a
// damaged footer omits would be lost unnoticed. Messages follow each other up to the footer, as in
// an Arrow stream: a schema, then the batches. Files from Polars have something else in place of
// the schema.
func verifyBatches(file *io.SectionReader, footer int64, dictionaries, records []block, views int,
	frames bool) error {
	at := int64(magicSize)
	if !schemaAt(file, at) {
		if len(dictionaries)+len(records) == 0 {
			return nil
		}
		at = slices.MinFunc(slices.Concat(dictionaries, records),
			func(a, b block) int { return cmp.Compare(a.offset, b.offset) }).offset
	}
	found := map[byte][]block{}
	for at < footer {
		b, message, err := messageAt(file, at)
		if err != nil {
			return fmt.Errorf("message at byte %d: %w", at, err)
		}
		if b.metadata == 0 { // the end of the stream
			if rest := footer - at - continuationEnd; rest > largestGap {
				return fmt.Errorf("found %d bytes between the last batch and the footer, "+
					"such as another file's", rest)
			}
			break
		}
		kind := message.GetByteSlot(messageKind, 0)
		found[kind] = append(found[kind], b)
		switch kind {
		case dictionaryBatch:
			err = verifyCounts(message, 1)
		case recordBatch:
			err = verifyCounts(message, views)
		}
		if err == nil && frames && (kind == dictionaryBatch || kind == recordBatch) {
			err = verifyFrames(file, message, at+int64(b.metadata))
		}
		if err != nil {
			return fmt.Errorf("message at byte %d: %w", at, err)
		}
		at += int64(b.metadata) + b.body
	}
	if len(found[schemaMessage]) > 1 {
		return fmt.Errorf("found %d schemas, expected one", len(found[schemaMessage]))
	}
	if !slices.Equal(found[dictionaryBatch], dictionaries) ||
		!slices.Equal(found[recordBatch], records) {
		return fmt.Errorf("the %d batches that its footer names are not the %d in the file",
			len(dictionaries)+len(records), len(found[dictionaryBatch])+len(found[recordBatch]))
	}
	return nil
}

// schemaAt reports whether there is a schema message at a byte of the file.
func schemaAt(file *io.SectionReader, offset int64) (is bool) {
	err := rows.Guard(func() error {
		_, message, err := messageAt(file, offset)
		is = err == nil && message.GetByteSlot(messageKind, 0) == schemaMessage
		return err
	})
	return is && err == nil
}

// messageAt returns the location and root of the message at a byte of the file. At the end of the
// stream its metadata is empty.
func messageAt(file *io.SectionReader,
	offset int64) (b block, message flatbuffers.Table, err error) {
	var prefix [continuationEnd]byte
	if _, err := file.ReadAt(prefix[:], offset); err != nil {
		return b, message, err
	}
	start, length := int64(continuationEnd), binary.LittleEndian.Uint32(prefix[legacyEnd:])
	if first := binary.LittleEndian.Uint32(prefix[:]); first != math.MaxUint32 {
		start, length = legacyEnd, first
	}
	if length == 0 {
		return b, message, nil
	}
	if message, err = readTable(file, offset+start, int64(length)); err != nil {
		return b, message, err
	}
	body := message.GetInt64Slot(messageBody, 0)
	if body < 0 || body > file.Size() || length > math.MaxInt32-continuationEnd {
		return b, message, errLength
	}
	return block{offset, int32(start) + int32(length), body}, message, nil
}

// verifyFields checks a vector of fields and the children of each, and counts the columns of string
// or binary views among them.
func verifyFields(t flatbuffers.Table, slot flatbuffers.VOffsetT,
	depth int) (views int, err error) {
	if depth > maxNesting {
		return 0, fmt.Errorf("found fields nested more than %d deep", maxNesting)
	}
	if err := checkVector(t, slot, 4); err != nil {
		return 0, err
	}
	offset := flatbuffers.UOffsetT(t.Offset(slot))
	if offset == 0 {
		return 0, nil
	}
	for i := range t.VectorLen(offset) {
		field := flatbuffers.Table{Bytes: t.Bytes,
			Pos: t.Indirect(t.Vector(offset) + flatbuffers.UOffsetT(4*i))}
		if err := checkVector(field, fieldMetadata, 4); err != nil {
			return 0, err
		}
		inside, err := verifyFields(field, fieldChildren, depth+1)
		if err != nil {
			return 0, err
		}
		if field.Offset(fieldDictionary) != 0 {
			continue // a column of indices
		}
		if kind := field.GetByteSlot(fieldType, 0); kind == binaryView || kind == utf8View {
			views++
		}
		views += inside
	}
	return views, nil
}

// verifyCounts checks the one length in a batch's message that the reader uses unchecked: the
// number of buffers of each column of views, at least one.
func verifyCounts(message flatbuffers.Table, views int) error {
	header, ok := child(message, messageHeader)
	if !ok {
		return errors.New("found a message without a header")
	}
	if err := checkVector(header, recordVariadicCounts, 8); err != nil {
		return err
	}
	offset := flatbuffers.UOffsetT(header.Offset(recordVariadicCounts))
	if offset == 0 {
		return nil
	}
	// the reader would take what follows the vector
	if header.VectorLen(offset) < max(views, 1) {
		return errLength
	}
	for i := range header.VectorLen(offset) {
		count := header.GetInt64(header.Vector(offset) + flatbuffers.UOffsetT(8*i))
		if count < 0 || count > int64(len(message.Bytes)) {
			return errLength
		}
	}
	return nil
}

// readTable reads a flatbuffer and returns its root.
func readTable(file *io.SectionReader, offset, length int64) (flatbuffers.Table, error) {
	if offset < 0 || length > file.Size()-offset {
		return flatbuffers.Table{}, errLength
	}
	bytes := make([]byte, length)
	if _, err := file.ReadAt(bytes, offset); err != nil {
		return flatbuffers.Table{}, err
	}
	return flatbuffers.Table{Bytes: bytes, Pos: flatbuffers.GetUOffsetT(bytes)}, nil
}

// child returns the table in a slot.
func child(t flatbuffers.Table, slot flatbuffers.VOffsetT) (flatbuffers.Table, bool) {
	offset := flatbuffers.UOffsetT(t.Offset(slot))
	return flatbuffers.Table{Bytes: t.Bytes, Pos: t.Indirect(t.Pos + offset)}, offset != 0
}

// checkVector checks that the vector in a slot, if any, lies within the flatbuffer.
func checkVector(t flatbuffers.Table, slot flatbuffers.VOffsetT, elementSize int) error {
	offset := flatbuffers.UOffsetT(t.Offset(slot))
	if offset != 0 && int(t.Vector(offset))+elementSize*t.VectorLen(offset) > len(t.Bytes) {
		return errLength
	}
	return nil
}

// blocks reads a vector of the footer.
func blocks(footer flatbuffers.Table, slot flatbuffers.VOffsetT) ([]block, error) {
	if err := checkVector(footer, slot, blockSize); err != nil {
		return nil, err
	}
	offset := flatbuffers.UOffsetT(footer.Offset(slot))
	if offset == 0 {
		return nil, nil
	}
	all := make([]block, footer.VectorLen(offset))
	for i := range all {
		at := footer.Vector(offset) + flatbuffers.UOffsetT(blockSize*i)
		all[i] = block{offset: footer.GetInt64(at), metadata: footer.GetInt32(at + 8),
			body: footer.GetInt64(at + 16)}
	}
	return all, nil
}

// The Arrow reader stops when it has as many bytes as a compressed buffer states, before the
// checksum at the end of its frame. Only frames that have one are read a second time for it: those
// of Polars and of Go have, pyarrow's have not.

const (
	recordBuffers, recordCompression = 8, 10
	dictionaryData                   = 6
	compressionCodec                 = 4

	bufferSize   = 16 // offset int64, length int64
	lz4Frames    = 0  // CompressionType, from format/Message.fbs
	lz4Magic     = 0x184d2204
	lz4Checksum  = 1 << 2    // of the content, in the byte after the magic
	largestFrame = 128 << 20 // window of a zstd frame
)

// verifyFrames compares the checksums of a batch's compressed buffers. body is where they begin.
func verifyFrames(file *io.SectionReader, message flatbuffers.Table, body int64) error {
	batch, _ := child(message, messageHeader)
	if message.GetByteSlot(messageKind, 0) == dictionaryBatch {
		batch, _ = child(batch, dictionaryData)
	}
	compression, ok := child(batch, recordCompression)
	if !ok {
		return nil
	}
	if err := checkVector(batch, recordBuffers, bufferSize); err != nil {
		return err
	}
	codec, offset := compression.GetByteSlot(compressionCodec, lz4Frames),
		flatbuffers.UOffsetT(batch.Offset(recordBuffers))
	if offset == 0 {
		return nil
	}
	for i := range batch.VectorLen(offset) {
		at := batch.Vector(offset) + flatbuffers.UOffsetT(bufferSize*i)
		if length := batch.GetInt64(at + 8); length > 0 {
			if err := verifyFrame(io.NewSectionReader(file, body+batch.GetInt64(at), length),
				codec); err != nil {
				return fmt.Errorf("compressed buffer %d: %w", i, err)
			}
		}
	}
	return nil
}

func verifyFrame(buffer *io.SectionReader, codec byte) error {
	start := make([]byte, 8+zstd.HeaderMaxSize)
	n, err := buffer.ReadAt(start, 0)
	if err != nil && err != io.EOF || n < 8 {
		return errors.Join(err, errLength)
	}
	length, head := int64(binary.LittleEndian.Uint64(start)), start[8:n]
	frame := io.NewSectionReader(buffer, 8, buffer.Size()-8)
	var content io.Reader
	var header zstd.Header
	switch {
	case length == -1: // not compressed
		return nil
	case codec == lz4Frames && len(head) > 4 && binary.LittleEndian.Uint32(head) == lz4Magic &&
		head[4]&lz4Checksum != 0:
		content = lz4.NewReader(frame)
	case codec != lz4Frames && header.Decode(head) == nil && header.HasCheckSum:
		decoder, err := zstd.NewReader(frame, zstd.WithDecoderConcurrency(1),
			zstd.WithDecoderMaxWindow(largestFrame))
		if err != nil {
			return err
		}
		defer decoder.Close()
		content = decoder
	default:
		return nil
	}
	found, err := io.Copy(io.Discard, content)
	if err == nil && found != length {
		err = fmt.Errorf("found %d bytes, expected %d", found, length)
	}
	return err
}
