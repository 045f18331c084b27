package parquetfile

import (
	"bytes"
	"fmt"
	"io"

	"github.com/andybalholm/brotli"
	"github.com/apache/arrow/go/v17/parquet/compress"
	"github.com/klauspost/compress/gzip"
	"github.com/klauspost/compress/snappy"
	"github.com/klauspost/compress/zstd"
	"github.com/pierrec/lz4/v4"

	"tcbuild/fault"
)

// lz4Raw is LZ4_RAW in Parquet's parquet.thrift: a page is one LZ4 block, without a frame.
const lz4Raw compress.Compression = 7

// decoders decompress a page into dst, which has the length that the page's header states, and
// return the length of what they found. The Parquet library's own codecs take the memory that the
// page states, up to 64 GB in zstd; they stop when dst is full, before a gzip page's checksum; and
// they pass a page that is shorter than dst.
var decoders = map[compress.Compression]func(dst, src []byte) (int, error){
	compress.Codecs.Uncompressed: func(dst, src []byte) (int, error) {
		copy(dst, src)
		return len(src), nil
	},
	compress.Codecs.Snappy: func(dst, src []byte) (int, error) {
		if n, err := snappy.DecodedLen(src); err != nil || n != len(dst) {
			return n, err
		}
		decoded, err := snappy.Decode(dst, src)
		return len(decoded), err
	},
	compress.Codecs.Gzip: func(dst, src []byte) (int, error) {
		r, err := gzip.NewReader(bytes.NewReader(src))
		if err != nil {
			return 0, err
		}
		return readToEnd(dst, r)
	},
	compress.Codecs.Brotli: func(dst, src []byte) (int, error) {
		return readToEnd(dst, brotli.NewReader(bytes.NewReader(src)))
	},
	compress.Codecs.Zstd: func(dst, src []byte) (int, error) {
		decoded, err := zstdDecoder.DecodeAll(src, dst[:0:len(dst)])
		return len(decoded), err
	},
	lz4Raw: func(dst, src []byte) (int, error) { return lz4.UncompressBlock(src, dst) },
}

// fails for wrong options only
var zstdDecoder, _ = zstd.NewReader(nil, zstd.WithDecodeAllCapLimit(true))

// readToEnd fills dst, and reads on to the end of r, which checks its checksum there.
func readToEnd(dst []byte, r io.Reader) (int, error) {
	n, _ := io.ReadFull(r, dst)
	if n < len(dst) {
		return n, nil
	}
	more, err := io.Copy(io.Discard, io.LimitReader(r, 1))
	return n + int(more), err
}

func init() {
	for compression, decode := range decoders {
		library, _ := compress.GetCodec(compression) // none for LZ4_RAW, which is never written
		compress.RegisterCodec(compression, codec{library, decode})
	}
}

// codec panics on damaged pages, as the library's do.
type codec struct {
	compress.Codec
	decode func(dst, src []byte) (int, error)
}

func (c codec) Decode(dst, src []byte) []byte {
	if len(dst) == 0 && len(src) == 0 { // a page of only levels, as parquet-mr writes it
		return dst
	}
	n, err := c.decode(dst, src)
	if err == nil && n != len(dst) {
		err = fmt.Errorf("found a page of %d bytes, expected %d as its header says", n, len(dst))
	}
	if err != nil {
		panic(err)
	}
	return dst
}

// checkCodec returns an error for a compression that cannot be read.
func checkCodec(compression compress.Compression) error {
	if _, ok := decoders[compression]; ok {
		return nil
	}
	return fault.New(fault.Input, "write the file with another compression, such as zstd",
		"found compression %s (codec %d of Parquet), expected one of BROTLI, GZIP, LZ4_RAW, "+
			"SNAPPY, UNCOMPRESSED, ZSTD", compression, compression)
}
