package parquetfile

import (
	"bufio"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"math"
	"math/bits"

	"github.com/apache/arrow/go/v17/parquet"
	"github.com/apache/arrow/go/v17/parquet/file"
	"github.com/apache/arrow/go/v17/parquet/metadata"
	"github.com/apache/arrow/go/v17/parquet/schema"

	"tcbuild/fault"
	"tcbuild/ingest/table/rows"
)

// A page buffer holds a page header and read-ahead; a longer header is damage. The Parquet reader
// looks for a header in its first 16 KiB.
const minPageBuffer, pageBuffer = 16 << 10, 64 << 10

// openPages opens the pages of a column chunk. It replaces the Parquet reader's own buffer by a
// bufio.Reader, because that buffer returns stale bytes at the end of a chunk: in a damaged file it
// would read them as headers forever.
func openPages(section *io.SectionReader, chunk *metadata.ColumnChunkMetaData, column *schema.Column,
	memory *rows.Allocator) (*checkedPages, error) {
	if chunk.CryptoMetadata() != nil {
		return nil, errors.New("the file is encrypted")
	}
	start := chunk.DataPageOffset()
	if chunk.HasDictionaryPage() && chunk.DictionaryPageOffset() > 0 {
		start = min(start, chunk.DictionaryPageOffset())
	}
	size := chunk.TotalCompressedSize()
	buffered := bufio.NewReaderSize(io.NewSectionReader(section, start, size), int(min(max(size, minPageBuffer), pageBuffer)))
	stream := &pageStream{buffered: buffered}
	pages, err := file.NewPageReader(stream, chunk.NumValues(), chunk.Compression(), memory, nil)
	return &checkedPages{PageReader: pages, stream: stream, column: column, left: chunk.NumValues()}, err
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
		p.err = checkLevels(p.Page(), p.column)
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
	case parquet.Encodings.Plain, parquet.Encodings.PlainDict, parquet.Encodings.RLEDict, parquet.Encodings.RLE:
		return nil
	default:
		return fault.New(fault.Input, "write the file in plain or dictionary encoding",
			"found values in encoding %s, expected PLAIN, RLE or RLE_DICTIONARY", encoding)
	}
}

var errShortLevels = errors.New("found a page with fewer levels than values")

// checkLevels checks that a data page has a level per value. A page has repetition levels, then
// definition levels, then the values. Only run-length levels can be too short unnoticed; the older
// bit-packed form has a fixed length, which the Parquet reader checks.
func checkLevels(page file.Page, column *schema.Column) error {
	levels := []int16{column.MaxRepetitionLevel(), column.MaxDefinitionLevel()}
	data := page.Data()
	switch page := page.(type) {
	case *file.DataPageV1:
		encodings := []parquet.Encoding{page.RepetitionLevelEncoding(), page.DefinitionLevelEncoding()}
		for i, highest := range levels {
			if highest == 0 {
				continue
			}
			if encodings[i] != parquet.Encodings.RLE {
				return nil
			}
			length := int(binary.LittleEndian.Uint32(data))
			if _, ok := takeLevels(data[4:4+length], highest, int(page.NumValues())); !ok {
				return errShortLevels
			}
			data = data[4+length:]
		}
	case *file.DataPageV2:
		lengths := []int32{page.RepetitionLevelByteLen(), page.DefinitionLevelByteLen()}
		for i, highest := range levels {
			rest := data[:lengths[i]]
			if highest > 0 {
				var ok bool
				if rest, ok = takeLevels(rest, highest, int(page.NumValues())); !ok {
					return errShortLevels
				}
			}
			if len(rest) > 0 { // the values would start at another byte
				return fmt.Errorf("found levels of a page %d bytes shorter than its header says", len(rest))
			}
			data = data[lengths[i]:]
		}
	}
	return nil
}

// takeLevels returns what follows count levels of at most highest in data, in Parquet's hybrid of
// repeated and bit-packed runs. It returns false if there are fewer. Each run starts with a varint:
// an even one is twice the length of a repeated run; an odd one is twice the number of groups of
// eight in a packed run, plus one.
func takeLevels(data []byte, highest int16, count int) (rest []byte, ok bool) {
	width := bits.Len16(uint16(highest))
	for count > 0 {
		header, n := binary.Uvarint(data)
		if n <= 0 || header > math.MaxUint32 {
			return nil, false
		}
		data = data[n:]
		run, size := int(header>>1), (width+7)/8
		if header&1 == 1 {
			run, size = run*8, run*width
		}
		if run == 0 || run > math.MaxInt32 { // the Parquet reader stops here
			return nil, false
		}
		if size > len(data) {
			// The last packed run may end after its last level.
			return nil, header&1 == 1 && len(data)*8/width >= count
		}
		data = data[size:]
		count -= run
	}
	return data, true
}
