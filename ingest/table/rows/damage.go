package rows

import (
	"errors"
	"fmt"

	"github.com/apache/arrow/go/v17/arrow/memory"

	"tcbuild/fault"
)

// Damaged says that a file ended early or cannot be decoded; reached is how far reading got. It
// keeps an err that is already more specific.
func Damaged(path, reached string, err error) error {
	if _, ok := errors.AsType[*fault.Error](err); ok || fault.System(err) {
		return fmt.Errorf("read %s %s: %w", path, reached, err)
	}
	return fault.New(fault.Input, "copy or download the file again",
		"read %s: the file is truncated or damaged %s: %w", path, reached, err)
}

// Guard runs a reader of a binary format. On a damaged file these readers panic, with an index out
// of range or their own errors; Guard returns the panic as err.
func Guard(read func() error) (err error) {
	defer func() {
		if cause := recover(); cause != nil {
			err = fault.Recovered(cause)
		}
	}()
	return read()
}

// Allocator panics on buffer sizes that only a damaged file asks for. Guard recovers from that
// panic; it could not recover from running out of memory.
type Allocator struct {
	memory.GoAllocator
	limit int
}

// UsualBuffer is a buffer size that any file may ask for: 1 GiB, as well compressed data needs much
// more than the file's size.
var UsualBuffer int64 = 1 << 30

// NewAllocator allows buffers of UsualBuffer, or four times the file's size if that is more.
func NewAllocator(fileSize int64) *Allocator {
	return &Allocator{limit: int(max(UsualBuffer, 4*fileSize))}
}

func (a *Allocator) Allocate(size int) []byte {
	if size < 0 || size > a.limit {
		panic(fmt.Sprintf("found a buffer of %d bytes", size))
	}
	return a.GoAllocator.Allocate(size)
}

func (a *Allocator) Reallocate(size int, b []byte) []byte {
	if size < 0 || size > a.limit {
		panic(fmt.Sprintf("found a buffer of %d bytes", size))
	}
	return a.GoAllocator.Reallocate(size, b)
}
