package arrowfile

import (
	"encoding/binary"
	"errors"
	"fmt"
	"io"

	flatbuffers "github.com/google/flatbuffers/go"
	"github.com/klauspost/compress/zstd"
	"github.com/pierrec/lz4/v4"
)

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
	codec, offset := compression.GetByteSlot(compressionCodec, lz4Frames), flatbuffers.UOffsetT(batch.Offset(recordBuffers))
	if offset == 0 {
		return nil
	}
	for i := range batch.VectorLen(offset) {
		at := batch.Vector(offset) + flatbuffers.UOffsetT(bufferSize*i)
		if length := batch.GetInt64(at + 8); length > 0 {
			if err := verifyFrame(io.NewSectionReader(file, body+batch.GetInt64(at), length), codec); err != nil {
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
	case codec == lz4Frames && len(head) > 4 && binary.LittleEndian.Uint32(head) == lz4Magic && head[4]&lz4Checksum != 0:
		content = lz4.NewReader(frame)
	case codec != lz4Frames && header.Decode(head) == nil && header.HasCheckSum:
		decoder, err := zstd.NewReader(frame, zstd.WithDecoderConcurrency(1), zstd.WithDecoderMaxWindow(largestFrame))
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
