package parquetfile

import (
	"errors"
	"fmt"

	"github.com/apache/arrow/go/v17/parquet/compress"
	"github.com/klauspost/compress/snappy"
	"github.com/klauspost/compress/zstd"
)

// The Parquet library takes the memory that a compressed page states: up to 64 GB in zstd, 4 GB in
// snappy. These codecs take no more than is in dst, which is as large as the page's header says.
// They panic on damaged pages, as the library's do.
func init() {
	snappyCodec, err := compress.GetCodec(compress.Codecs.Snappy)
	zstdCodec, err2 := compress.GetCodec(compress.Codecs.Zstd)
	if err := errors.Join(err, err2); err != nil {
		panic(err)
	}
	compress.RegisterCodec(compress.Codecs.Snappy, boundedSnappy{snappyCodec})
	compress.RegisterCodec(compress.Codecs.Zstd, boundedZstd{zstdCodec})
}

type boundedSnappy struct{ compress.Codec }

func (c boundedSnappy) Decode(dst, src []byte) []byte {
	if n, err := snappy.DecodedLen(src); err != nil || n > len(dst) {
		panic(fmt.Sprintf("found a snappy page of %d bytes, expected %d as its header says", n, len(dst)))
	}
	return c.Codec.Decode(dst, src)
}

type boundedZstd struct{ compress.Codec }

var zstdDecoder, _ = zstd.NewReader(nil, zstd.WithDecodeAllCapLimit(true)) // fails for wrong options only

func (boundedZstd) Decode(dst, src []byte) []byte {
	decoded, err := zstdDecoder.DecodeAll(src, dst[:0])
	if err != nil {
		panic(err)
	}
	return decoded
}
