package table

import (
	"io"

	"github.com/klauspost/compress/gzip"
	"github.com/klauspost/compress/zstd"
)

// maxWindow limits a zstd decoder's memory, like the zstd tool does without --long.
const maxWindow = 128 << 20

// decompress wraps a stream according to the file name's ending: ".gz", ".zst" or "". Close does
// not close the stream.
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
