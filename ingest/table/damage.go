package table

import (
	"errors"
	"fmt"

	"github.com/apache/arrow/go/v17/arrow/memory"

	"tcbuild/fault"
)

// damaged says that a file ended early or cannot be decoded; reached is how far reading got. It
// keeps an err that is already more specific.
func damaged(path, reached string, err error) error {
	if _, ok := errors.AsType[*fault.Error](err); ok || fault.System(err) {
		return fmt.Errorf("read %s %s: %w", path, reached, err)
	}
	return fault.New(fault.Input, "copy or download the file again",
		"read %s: the file is truncated or damaged %s: %w", path, reached, err)
}

// guard runs a reader of a binary format. On a damaged file these readers panic, with an index out
// of range or their own errors; guard returns the panic as err.
func guard(read func() error) (err error) {
	defer func() {
		if cause := recover(); cause != nil {
			err = fault.Recovered(cause)
		}
	}()
	return read()
}

// allocator panics on buffer sizes that only a damaged file asks for. guard recovers from that
// panic; it could not recover from running out of memory.
type allocator struct {
	memory.GoAllocator
	limit int
}

// usualBuffer is a buffer size that any file may ask for: 1 GiB, as well compressed data needs much
// more than the file's size.
var usualBuffer int64 = 1 << 30

// newAllocator allows buffers of usualBuffer, or four times the file's size if that is more.
func newAllocator(fileSize int64) *allocator {
	return &allocator{limit: int(max(usualBuffer, 4*fileSize))}
}

func (a *allocator) Allocate(size int) []byte {
	if size < 0 || size > a.limit {
		panic(fmt.Sprintf("found a buffer of %d bytes", size))
	}
	return a.GoAllocator.Allocate(size)
}

func (a *allocator) Reallocate(size int, b []byte) []byte {
	if size < 0 || size > a.limit {
		panic(fmt.Sprintf("found a buffer of %d bytes", size))
	}
	return a.GoAllocator.Reallocate(size, b)
}
