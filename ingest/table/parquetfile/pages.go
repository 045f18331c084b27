package parquetfile

import (
	"bufio"
	"bytes"
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"hash/crc32"
	"io"
	"math"
	"math/bits"

	"github.com/apache/arrow/go/v17/parquet"
	"github.com/apache/arrow/go/v17/parquet/file"
	"github.com/apache/arrow/go/v17/parquet/metadata"
	"github.com/apache/arrow/go/v17/parquet/schema"
	"github.com/apache/thrift/lib/go/thrift"

	"tcbuild/fault"
	"tcbuild/ingest/table/rows"
)

// A page buffer holds a page header and read-ahead; a longer header is damage. The Parquet reader
// looks for a header in its first 16 KiB.
const minPageBuffer, pageBuffer = 16 << 10, 64 << 10

// openPages opens the pages of a column chunk. It replaces the Parquet reader's own buffer by a
// bufio.Reader, because that buffer returns stale bytes at the end of a chunk: in a damaged file it
// would read them as headers forever.
func openPages(section *io.SectionReader, chunk *metadata.ColumnChunkMetaData,
	column *schema.Column,
	memory *rows.Allocator) (*checkedPages, error) {
	if chunk.CryptoMetadata() != nil {
		return nil, errors.New("the file is encrypted")
	}
	if err := checkCodec(chunk.Compression()); err != nil {
		return nil, err
	}
	start := chunk.DataPageOffset()
	if chunk.HasDictionaryPage() && chunk.DictionaryPageOffset() > 0 {
		start = min(start, chunk.DictionaryPageOffset())
	}
	size := chunk.TotalCompressedSize()
	buffered := bufio.NewReaderSize(io.NewSectionReader(section, start, size),
		int(min(max(size, minPageBuffer), pageBuffer)))
	stream := &pageStream{buffered: buffered}
	pages, err := file.NewPageReader(stream, chunk.NumValues(), chunk.Compression(), memory, nil)
	return &checkedPages{PageReader: pages, stream: stream, column: column,
		left: chunk.NumValues()}, err
}

// checkedPages returns an error for pages with a wrong checksum or length, and for data pages that
// would make the Parquet reader loop forever: with fewer levels than values, or in an encoding
// whose decoders do not check their input.
type checkedPages struct {
	file.PageReader
	stream *pageStream
	column *schema.Column
	left   int64 // values of the chunk that its pages have not contained yet
	err    error
}

func (p *checkedPages) Next() bool {
	if !p.PageReader.Next() {
		if p.err = p.PageReader.Err(); p.err == nil && p.left > 0 {
			p.err = errShortChunk
		}
		return false
	}
	p.err = p.stream.check()
	if p.err == nil {
		p.err = checkEncoding(p.Page())
	}
	if p.err == nil {
		p.err = checkContent(p.Page(), p.column)
	}
	if _, isDictionary := p.Page().(*file.DictionaryPage); !isDictionary {
		p.left -= int64(p.Page().NumValues())
	}
	return p.err == nil
}

func (p *checkedPages) Err() error {
	if p.err != nil {
		return p.err
	}
	return p.PageReader.Err()
}

// checkEncoding returns an error for delta encodings, which writers use only on request.
func checkEncoding(page file.Page) error {
	switch encoding := parquet.Encoding(page.Encoding()); encoding {
	case parquet.Encodings.Plain, parquet.Encodings.PlainDict, parquet.Encodings.RLEDict,
		parquet.Encodings.RLE:
		return nil
	default:
		return fault.New(fault.Input, "write the file in plain or dictionary encoding",
			"found values in encoding %s, expected PLAIN, RLE or RLE_DICTIONARY", encoding)
	}
}

var (
	errLevels = errors.New(
		"found a page with fewer levels than values, or with a level that its schema does not have")
	errLength = errors.New("found a page that is longer or shorter than its values")
)

// checkContent checks that a data page has a level per value, none above the highest, and as many
// values as its levels say.
// A page has repetition levels, then definition levels, then the values. Only run-length levels can
// be too short unnoticed; the older bit-packed form has a fixed length, which the Parquet reader
// checks.
func checkContent(page file.Page, column *schema.Column) error {
	levels := [...]int16{column.MaxRepetitionLevel(), column.MaxDefinitionLevel()}
	data, present := page.Data(), int(page.NumValues())
	for i, highest := range levels {
		var stored []byte
		switch page := page.(type) {
		case *file.DataPageV1:
			if highest == 0 {
				continue
			}
			encodings := [...]parquet.Encoding{
				page.RepetitionLevelEncoding(), page.DefinitionLevelEncoding(),
			}
			if encodings[i] != parquet.Encodings.RLE {
				return nil
			}
			length := int(binary.LittleEndian.Uint32(data))
			stored, data = data[4:4+length], data[4+length:]
		case *file.DataPageV2:
			length := [...]int32{page.RepetitionLevelByteLen(), page.DefinitionLevelByteLen()}[i]
			if stored, data = data[:length], data[length:]; highest == 0 {
				if length > 0 {
					return errLength
				}
				continue
			}
		default: // a dictionary
			return nil
		}
		rest, found, ok := takeRuns(stored, bits.Len16(uint16(highest)), int(page.NumValues()),
			&highest)
		if !ok {
			return errLevels
		}
		// the values would start at another byte
		if _, v2 := page.(*file.DataPageV2); v2 && len(rest) > 0 {
			return fmt.Errorf("found levels of a page %d bytes shorter than its header says",
				len(rest))
		}
		present = found // of the definition levels in the end
	}
	if present == 0 {
		return nil
	}
	rest, err := takeValues(data, present, page, column)
	// fastparquet writes eight zeros after all values
	if err != nil || len(rest) > 0 && !bytes.Equal(rest, make([]byte, 8)) {
		return errLength
	}
	return nil
}

// takeValues returns what follows count values in data. If anything does, the footer may say that a
// column has no levels which has some, and they would be taken for values.
func takeValues(data []byte, count int, page file.Page, column *schema.Column) ([]byte, error) {
	size := 0
	switch physical := column.PhysicalType(); parquet.Encoding(page.Encoding()) {
	case parquet.Encodings.PlainDict, parquet.Encodings.RLEDict:
		rest, _, ok := takeRuns(data[1:], int(data[0]), count, nil)
		if !ok {
			return nil, errLength
		}
		return rest, nil
	case parquet.Encodings.RLE: // of booleans
		size = 4 + int(binary.LittleEndian.Uint32(data))
	default:
		switch physical {
		case parquet.Types.Boolean:
			size = (count + 7) / 8
		case parquet.Types.ByteArray:
			for range count {
				size += 4 + int(binary.LittleEndian.Uint32(data[size:]))
			}
		case parquet.Types.FixedLenByteArray:
			size = count * column.TypeLength()
		default:
			size = count * physical.ByteSize()
		}
	}
	return data[size:], nil
}

// takeRuns returns what follows count numbers of width bits in data, in Parquet's hybrid of
// repeated and bit-packed runs, and how many of them are equal to one, unless that is nil. It
// returns false if there are fewer, or if one is larger than one. Each run starts with a varint: an
// even one is twice the length of a repeated run; an odd one is twice the number of groups of eight
// in a packed run, plus one.
func takeRuns(data []byte, width, count int, one *int16) (rest []byte, equal int, ok bool) {
	for count > 0 {
		header, n := binary.Uvarint(data)
		if n <= 0 || header > math.MaxUint32 {
			return nil, 0, false
		}
		data = data[n:]
		run, size := int(header>>1), (width+7)/8
		packed := header&1 == 1
		if packed {
			run, size = run*8, run*width
		}
		if run == 0 || run > math.MaxInt32 { // the Parquet reader stops here
			return nil, 0, false
		}
		if size > len(data) {
			// The last packed run may end after its last level.
			if !packed || len(data)*8/width < count {
				return nil, 0, false
			}
			size = len(data)
		}
		run = min(run, count)
		switch {
		case one == nil:
		case packed:
			found, ok := countEqual(data[:size], width, run, byte(*one))
			if !ok {
				return nil, 0, false
			}
			equal += found
		case data[0] > byte(*one):
			return nil, 0, false
		case data[0] == byte(*one):
			equal += run
		}
		data = data[size:]
		count -= run
	}
	return data, equal, true
}

// countEqual counts which of the first count numbers of width bits are equal to one; ok is false if
// one is larger. Levels of columns that are read have one or two bits.
func countEqual(packed []byte, width, count int, one byte) (equal int, ok bool) {
	var buffer uint64
	for have := 0; count > 0; count-- {
		for ; have < width; have += 8 {
			buffer |= uint64(packed[0]) << have
			packed = packed[1:]
		}
		switch level := byte(buffer) & (1<<width - 1); {
		case level > one:
			return 0, false
		case level == one:
			equal++
		}
		buffer >>= width
		have -= width
	}
	return equal, true
}

// pageStream is the stream that the Parquet reader reads pages from. For each page the reader
// peeks, discards the header, and reads the content. It ignores the header's checksum and a
// truncated content, so pageStream checks both.
type pageStream struct {
	buffered *bufio.Reader
	crc      *uint32 // from the header, nil if it has none
	sum      uint32  // of the content read so far
	left     int     // bytes of the content still to read
}

func (s *pageStream) Peek(n int) ([]byte, error) { return s.buffered.Peek(n) }

// Discard skips a page's header of n bytes.
func (s *pageStream) Discard(n int) (int, error) {
	header, err := s.buffered.Peek(n)
	if err != nil {
		return 0, err
	}
	if err := s.begin(header); err != nil {
		return 0, err
	}
	return s.buffered.Discard(n)
}

// begin reads the two relevant fields of a page header, from PageHeader in Parquet's
// parquet.thrift.
func (s *pageStream) begin(header []byte) error {
	const contentSize, checksum = 3, 4
	*s = pageStream{buffered: s.buffered}
	ctx := context.Background()
	fields := thrift.NewTCompactProtocolConf(
		&thrift.StreamTransport{Reader: bytes.NewReader(header)}, nil)
	for {
		_, kind, id, err := fields.ReadFieldBegin(ctx)
		if err != nil || kind == thrift.STOP {
			return err
		}
		if kind != thrift.I32 || id != contentSize && id != checksum {
			if err := fields.Skip(ctx, kind); err != nil {
				return err
			}
			continue
		}
		value, err := fields.ReadI32(ctx)
		if err != nil {
			return err
		}
		if id == contentSize {
			s.left = int(value)
		} else {
			crc := uint32(value)
			s.crc = &crc
		}
	}
}

func (s *pageStream) Read(p []byte) (int, error) {
	n, err := s.buffered.Read(p)
	s.left -= n
	if s.crc != nil {
		s.sum = crc32.Update(s.sum, crc32.IEEETable, p[:n])
	}
	return n, err
}

// check compares the page with its header.
func (s *pageStream) check() error {
	if s.left != 0 {
		return fmt.Errorf("found a page %d bytes shorter than its header says: %w", s.left,
			io.ErrUnexpectedEOF)
	}
	if s.crc != nil && *s.crc != s.sum {
		return fmt.Errorf("found a page with CRC %08x, expected %08x", s.sum, *s.crc)
	}
	return nil
}
