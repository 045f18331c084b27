package sampletable

import (
	"encoding/binary"
	"fmt"
	"io"
	"os"

	"github.com/cespare/xxhash/v2"
)

// blockFile is a file of which each block is compared with its checksum before it is used.
type blockFile struct {
	*os.File
	part
	failed error  // of the first read that failed
	buffer []byte // whole blocks
}

// ReadAt reads the blocks that the bytes lie in.
func (f *blockFile) ReadAt(p []byte, at int64) (n int, err error) {
	end := min(at+int64(len(p)), f.size)
	if at < 0 || at >= end {
		return 0, io.EOF
	}
	first := at / blockSize * blockSize
	whole := int(min((end+blockSize-1)/blockSize*blockSize, f.size) - first)
	if cap(f.buffer) < whole {
		f.buffer = make([]byte, whole)
	}
	blocks := f.buffer[:whole]
	if _, err := f.File.ReadAt(blocks, first); err != nil {
		return 0, f.fail(err)
	}
	for block := first / blockSize; len(blocks) > 0; block++ {
		content := blocks[:min(len(blocks), blockSize)]
		if found, want := xxhash.Sum64(content), binary.LittleEndian.Uint64(f.sums[8*block:]); found != want {
			return 0, f.fail(fmt.Errorf("the block from byte %d has checksum %016x, expected %016x", block*blockSize, found, want))
		}
		blocks = blocks[len(content):]
	}
	n = copy(p, f.buffer[at-first:end-first])
	if n < len(p) {
		return n, io.EOF
	}
	return n, nil
}

// failure is the first error of reading, or err: the Arrow library may not wrap it.
func (f *blockFile) failure(err error) error {
	if err != nil && f.failed != nil {
		return f.failed
	}
	return err
}

func (f *blockFile) fail(err error) error {
	if f.failed == nil {
		f.failed = err
	}
	return err
}
