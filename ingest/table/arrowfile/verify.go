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
	largestGap      = 72 // more than the end of a stream and what writers leave to align the footer
	magicSize       = 8  // "ARROW1" and two bytes to align what follows
	trailerSize     = 10 // footer length int32, magic "ARROW1"
	continuationEnd = 8  // 0xffffffff and the length before a message
	legacyEnd       = 4  // only the length, before Arrow 0.15
)

var errLength = errors.New("a length in the metadata is larger than the metadata")

// Types of messages, from format/Message.fbs, and types of fields, from format/Schema.fbs.
const (
	schemaMessage, dictionaryBatch = 1, 2
	binaryView, utf8View           = 23, 24
)

// block is the location of a record or dictionary batch in its file.
type block struct {
	offset   int64
	metadata int32 // bytes, including the length before it
	body     int64 // bytes
}

// verify checks the lengths in an Arrow IPC file's footer and in the messages of its batches. If
// asked, it also checks the frames of compressed buffers. It panics on bad offsets, as the Arrow
// reader would.
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
	var batches []block
	for _, slot := range []flatbuffers.VOffsetT{footerDictionaries, footerRecords} {
		if batches, err = appendBlocks(batches, footer, slot); err != nil {
			return err
		}
	}
	return verifyBatches(file, size-trailerSize-length, batches, views, frames)
}

// verifyBatches checks that a footer names all batches in the file: rows of a batch that a damaged
// footer omits would be lost unnoticed. Batches follow the schema, and each other, up to the
// footer. Files from Polars have something else in place of the schema.
func verifyBatches(file *io.SectionReader, footer int64, batches []block, views int,
	frames bool) error {
	slices.SortFunc(batches, func(a, b block) int { return cmp.Compare(a.offset, b.offset) })
	end := schemaEnd(file)
	if end == 0 && len(batches) > 0 {
		end = batches[0].offset
	}
	for _, batch := range batches {
		found, message, err := messageAt(file, batch.offset)
		if err == nil && found != batch {
			err = errors.New("its length is not as in the footer")
		}
		if err == nil {
			err = verifyCounts(message, views)
		}
		if err == nil {
			body := io.NewSectionReader(file, batch.offset+int64(batch.metadata), batch.body)
			err = verifyBuffers(body, message, rows.MostBytes(file.Size()), frames)
		}
		if err != nil {
			return fmt.Errorf("message at byte %d: %w", batch.offset, err)
		}
		if batch.offset != end {
			return fmt.Errorf("found a batch at byte %d, expected it at byte %d, after the one "+
				"before it", batch.offset, end)
		}
		end += int64(batch.metadata) + batch.body
	}
	if rest := footer - end; end > 0 && (rest < 0 || rest > largestGap) {
		return fmt.Errorf("found %d bytes between the last batch and the footer, such as another "+
			"file's", rest)
	}
	return nil
}

// schemaEnd is where the message with the schema at the start of a file ends; 0 if there is none.
func schemaEnd(file *io.SectionReader) (end int64) {
	rows.Guard(func() error {
		b, message, err := messageAt(file, magicSize)
		if err == nil && message.GetByteSlot(messageKind, 0) == schemaMessage {
			end = magicSize + int64(b.metadata) + b.body
		}
		return err
	})
	return end
}

// messageAt returns the location and root of the message at a byte of the file.
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
		if err := checkType(field); err != nil {
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

// appendBlocks reads a vector of the footer.
func appendBlocks(all []block, footer flatbuffers.Table, slot flatbuffers.VOffsetT) ([]block,
	error) {
	if err := checkVector(footer, slot, blockSize); err != nil {
		return nil, err
	}
	offset := flatbuffers.UOffsetT(footer.Offset(slot))
	if offset == 0 {
		return all, nil
	}
	for i := range footer.VectorLen(offset) {
		at := footer.Vector(offset) + flatbuffers.UOffsetT(blockSize*i)
		all = append(all, block{offset: footer.GetInt64(at), metadata: footer.GetInt32(at + 8),
			body: footer.GetInt64(at + 16)})
	}
	return all, nil
}

// The Arrow reader stops when it has as many bytes as a compressed buffer states, before the
// checksum at the end of its frame. Only frames that have one are read a second time for it: those
// of Polars and of Go have, pyarrow's have not. The lengths that a batch's buffers state together
// are bounded, as the reader allocates all of them before it decompresses any.

const (
	recordBuffers, recordCompression = 8, 10
	dictionaryData                   = 6
	compressionCodec                 = 4

	bufferSize   = 16        // offset int64, length int64
	frameStart   = 13        // length of the content int64, magic uint32, flags
	hasChecksum  = 1 << 2    // among the flags, in LZ4 and in zstd
	lz4Frames    = 0         // CompressionType, from format/Message.fbs
	largestFrame = 128 << 20 // window of a zstd frame
)

// verifyBuffers checks that a batch's buffers share its body: the reader allocates each of them. If
// asked, it also bounds what compressed ones hold together to most, and compares their checksums.
func verifyBuffers(body *io.SectionReader, message flatbuffers.Table, most int64,
	frames bool) error {
	batch, _ := child(message, messageHeader)
	if message.GetByteSlot(messageKind, 0) == dictionaryBatch {
		batch, _ = child(batch, dictionaryData)
	}
	if err := checkVector(batch, recordBuffers, bufferSize); err != nil {
		return err
	}
	offset := flatbuffers.UOffsetT(batch.Offset(recordBuffers))
	if offset == 0 {
		return nil
	}
	compression, isCompressed := child(batch, recordCompression)
	left := body.Size()
	for i := range batch.VectorLen(offset) {
		at := batch.Vector(offset) + flatbuffers.UOffsetT(bufferSize*i)
		start, size := batch.GetInt64(at), batch.GetInt64(at+8)
		isInside := 0 <= start && 0 <= size && start <= body.Size()-size
		if !isInside || size > left {
			return fmt.Errorf("buffer %d has %d bytes from byte %d: %w", i, size, start, errLength)
		}
		left -= size
		if !isCompressed || !frames {
			continue
		}
		codec := compression.GetByteSlot(compressionCodec, lz4Frames)
		held, err := verifyFrame(io.NewSectionReader(body, start, size), codec, most)
		if err != nil {
			return fmt.Errorf("compressed buffer %d: %w", i, err)
		}
		most -= held
	}
	return nil
}

// verifyFrame returns how many bytes a compressed buffer holds, at most most. If its frame has a
// checksum, it is compared.
func verifyFrame(buffer *io.SectionReader, codec byte, most int64) (held int64, err error) {
	start := make([]byte, frameStart)
	_, err = buffer.ReadAt(start, 0)
	held = int64(binary.LittleEndian.Uint64(start))
	switch {
	case err == io.EOF || held == -1: // it is not compressed
		return 0, nil
	case held < 0 || held > most:
		return 0, fmt.Errorf("found %d bytes, expected at most %d", held, most)
	case start[frameStart-1]&hasChecksum == 0:
		return held, nil
	}
	frame := io.NewSectionReader(buffer, 8, buffer.Size()-8)
	var content io.Reader = lz4.NewReader(frame)
	if codec != lz4Frames {
		decoder, err := zstd.NewReader(frame, zstd.WithDecoderConcurrency(1),
			zstd.WithDecoderMaxWindow(largestFrame))
		if err != nil {
			return 0, err
		}
		defer decoder.Close()
		content = decoder
	}
	found, err := io.Copy(io.Discard, io.LimitReader(content, held+1))
	if err == nil && found != held {
		err = fmt.Errorf("found %d bytes or more, expected %d", found, held)
	}
	return held, err
}
