package parquetfile

import (
	"bufio"
	"bytes"
	"cmp"
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"hash/crc32"
	"io"
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
func openPages(in *io.SectionReader, chunk *metadata.ColumnChunkMetaData, column *schema.Column,
	memory *rows.Allocator) (*checkedPages, error) {
	if chunk.CryptoMetadata() != nil {
		return nil, errors.New("the file is encrypted")
	}
	if err := checkCodec(chunk.Compression()); err != nil {
		return nil, err
	}
	start, size := chunk.DataPageOffset(), chunk.TotalCompressedSize()
	if chunk.HasDictionaryPage() && chunk.DictionaryPageOffset() > 0 {
		start = min(start, chunk.DictionaryPageOffset())
	}
	stream := &pageStream{buffered: bufio.NewReaderSize(io.NewSectionReader(in, start, size),
		int(min(max(size, minPageBuffer), pageBuffer)))}
	pages, err := file.NewPageReader(stream, chunk.NumValues(), chunk.Compression(), memory, nil)
	return &checkedPages{PageReader: pages, stream: stream, column: column,
		left: chunk.NumValues()}, err
}

// checkedPages returns an error for pages with a wrong checksum or length, and where a page's
// header contradicts the footer.
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
	p.err = cmp.Or(p.stream.check(), checkEncoding(p.Page()))
	switch page := p.Page().(type) {
	case *file.DataPageV1:
		p.left -= int64(page.NumValues())
	case *file.DataPageV2:
		p.left -= int64(page.NumValues())
		p.err = cmp.Or(p.err, p.checkLevels(page))
	}
	return p.err == nil
}

func (p *checkedPages) Err() error { return cmp.Or(p.err, p.PageReader.Err()) }

// checkEncoding returns an error for delta encodings, which writers use only on request. The
// Parquet reader's decoders lose their place between batches.
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

var errLevels = errors.New("found a page with other levels than its column has")

// checkLevels checks the lengths of a page's levels, which are in the header, without a checksum:
// the values begin where they end.
func (p *checkedPages) checkLevels(page *file.DataPageV2) error {
	repetitions, data := page.RepetitionLevelByteLen(), page.Data()
	if !isLevels(data[:repetitions], int(page.NumValues()), p.column.MaxRepetitionLevel()) ||
		!isLevels(data[repetitions:][:page.DefinitionLevelByteLen()], int(page.NumValues()),
			p.column.MaxDefinitionLevel()) {
		return errLevels
	}
	return nil
}

// isLevels reports whether count levels end where levels end. They are runs, each after a varint:
// an even one is twice the length of a repeated run, whose level follows; an odd one is twice the
// number of groups of eight levels in a packed run, plus one.
func isLevels(levels []byte, count int, highest int16) bool {
	if highest == 0 {
		return len(levels) == 0
	}
	width := bits.Len16(uint16(highest))
	for count > 0 {
		header, n := binary.Uvarint(levels)
		run, size := int(header>>1), (width+7)/8
		if header&1 == 1 {
			run, size = 8*run, run*width
			// a page may omit what the last run has after its last level
			size = min(size, max(len(levels)-n, (count*width+7)/8))
		}
		if n <= 0 || size > len(levels)-n {
			return false
		}
		levels, count = levels[n+size:], count-run
	}
	return len(levels) == 0
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
	if err == nil {
		err = s.begin(header)
	}
	if err != nil {
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
