package table

import (
	"bufio"
	"bytes"
	"errors"
	"io"

	"github.com/klauspost/compress/gzip"
	"github.com/klauspost/compress/zstd"

	"tcbuild/fault"
	"tcbuild/ingest/table/rows"
)

// maxWindow limits a zstd decoder's memory, like the zstd tool does without --long.
const maxWindow = 128 << 20

// decompress wraps the content of a file by its compression: .gz, .zst, or "" for none. A file that
// is not compressed as its name says is a fault.Input. Close does not close the content.
func decompress(path, compression string, content io.Reader) (io.ReadCloser, error) {
	if compression == "" {
		return io.NopCloser(content), nil
	}
	in := bufio.NewReader(content)
	head, _ := in.Peek(4) // an error comes again when it is read
	switch compression {
	case ".gz":
		if magic := []byte{0x1f, 0x8b}; !bytes.HasPrefix(magic, head[:min(2, len(head))]) {
			return nil, notCompressed(path, "gzip", compression)
		}
		r, err := gzip.NewReader(in)
		if err != nil {
			return nil, rows.Damaged(path, "at its start", err)
		}
		return r, nil
	default:
		if err := new(zstd.Header).Decode(head); errors.Is(err, zstd.ErrMagicMismatch) {
			return nil, notCompressed(path, "zstd", compression)
		}
		r, err := zstd.NewReader(in, zstd.WithDecoderConcurrency(1),
			zstd.WithDecoderMaxWindow(maxWindow))
		if err != nil {
			return nil, rows.Damaged(path, "at its start", err)
		}
		return r.IOReadCloser(), nil
	}
}

// notCompressed is the error of a file that lacks the compression of its name.
func notCompressed(path, program, ending string) error {
	return fault.New(fault.Input, "rename the file so that its ending fits, or download it again",
		"read %s: the file is not %s-compressed, although its name ends in %s", path, program,
		ending)
}
