package inputfile

import (
	"errors"
	"io"
)

// Reader reads the file from its start. Readers of a file do not disturb each other.
func (f *File) Reader() *io.SectionReader { return io.NewSectionReader(f, 0, f.size) }

// ReadAt implements io.ReaderAt. Bytes that differ from the digested ones are a fault.Busy.
func (f *File) ReadAt(p []byte, at int64) (n int, err error) {
	if at < 0 {
		return 0, errors.New("read at a negative offset")
	}
	for n < len(p) && at < f.size {
		var m int
		if length := f.blockLength(at / blockSize); at%blockSize == 0 && len(p)-n >= length {
			m = length
			err = f.readBlock(p[n:n+m], at/blockSize)
		} else {
			m, err = f.readPart(p[n:], at)
		}
		if err != nil {
			return n, err
		}
		n += m
		at += int64(m)
	}
	if n < len(p) {
		return n, io.EOF
	}
	return n, nil
}

// blockLength is the length of a block: blockSize, except for the last.
func (f *File) blockLength(block int64) int { return int(min(f.size-block*blockSize, blockSize)) }

// readBlock reads and checks a whole block.
func (f *File) readBlock(p []byte, block int64) error {
	if err := f.readFull(p, block*blockSize); err != nil {
		return err
	}
	return f.confirm(p, block)
}

// readPart reads a part of one block, using the recently read blocks as a cache.
func (f *File) readPart(p []byte, at int64) (int, error) {
	f.mutex.Lock()
	defer f.mutex.Unlock()
	number := at / blockSize
	block := f.recent.find(number)
	if block == nil {
		block = f.recent.replace(number, f.blockLength(number))
		if err := f.readBlock(block, number); err != nil {
			f.recent.forget(number)
			return 0, err
		}
	}
	return copy(p, block[at%blockSize:]), nil
}

// recentBlocks is how many blocks are cached: enough for the columns of a Parquet file and the
// pages of a tree, which are read alternately.
const recentBlocks = 32

// recent caches the most recently read blocks.
type recent struct {
	blocks [recentBlocks]struct {
		bytes  []byte // nil: none yet
		number int64  // -1: none
		used   uint64
	}
	clock uint64
}

// find returns a block, or nil.
func (r *recent) find(number int64) []byte {
	for i := range r.blocks {
		if b := &r.blocks[i]; b.number == number && b.bytes != nil {
			r.clock++
			b.used = r.clock
			return b.bytes
		}
	}
	return nil
}

// replace returns memory for a block: that of the least recently used one.
func (r *recent) replace(number int64, length int) []byte {
	oldest := &r.blocks[0]
	for i := range r.blocks {
		if b := &r.blocks[i]; b.used < oldest.used {
			oldest = b
		}
	}
	if cap(oldest.bytes) < length {
		oldest.bytes = make([]byte, length, blockSize)
	}
	r.clock++
	oldest.bytes, oldest.number, oldest.used = oldest.bytes[:length], number, r.clock
	return oldest.bytes
}

// forget drops a block that could not be read.
func (r *recent) forget(number int64) {
	for i := range r.blocks {
		if b := &r.blocks[i]; b.number == number {
			b.number, b.used = -1, 0
		}
	}
}
