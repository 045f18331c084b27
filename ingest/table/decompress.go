package table

import (
	"io"

	"github.com/klauspost/compress/gzip"
	"github.com/klauspost/compress/zstd"
)

// maxWindow bounds a zstd decoder's memory, at the limit of the zstd tool without --long.
const maxWindow = 128 << 20

// decompress wraps a stream by the ending of the file's name: ".gz", ".zst" or "". Close leaves the
// stream itself open.
func decompress(in io.Reader, compression string) (io.ReadCloser, error) {
	switch compression {
	case ".gz":
		return gzip.NewReader(in)
	case ".zst":
		r, err := zstd.NewReader(in, zstd.WithDecoderConcurrency(1), zstd.WithDecoderMaxWindow(maxWindow))
		if err != nil {
			return nil, err
		}
		return r.IOReadCloser(), nil
	}
	return io.NopCloser(in), nil
}
