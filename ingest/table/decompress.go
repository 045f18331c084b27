package table

import (
	"errors"
	"io"
	"os"

	"github.com/klauspost/compress/gzip"
	"github.com/klauspost/compress/zstd"
)

// maxWindow bounds a zstd decoder's memory, at the limit of the zstd tool without --long.
const maxWindow = 128 << 20

// decompressed is a file read through a decompressor; Close closes both.
type decompressed struct {
	io.Reader
	close []func() error
}

func (d decompressed) Close() error {
	var errs []error
	for _, f := range d.close {
		errs = append(errs, f())
	}
	return errors.Join(errs...)
}

// decompress wraps a file by the ending of its name: ".gz", ".zst" or "".
func decompress(file *os.File, compression string) (io.ReadCloser, error) {
	switch compression {
	case ".gz":
		r, err := gzip.NewReader(file)
		if err != nil {
			return nil, err
		}
		return decompressed{r, []func() error{r.Close, file.Close}}, nil
	case ".zst":
		r, err := zstd.NewReader(file, zstd.WithDecoderConcurrency(1), zstd.WithDecoderMaxWindow(maxWindow))
		if err != nil {
			return nil, err
		}
		return decompressed{r, []func() error{func() error { r.Close(); return nil }, file.Close}}, nil
	}
	return file, nil
}
