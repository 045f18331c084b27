// Package lmdbfile reads the data file of an LMDB environment without LMDB's library. The library
// trusts the file's pages: a damaged or truncated file would crash the process. Here every page
// number, flag, offset, length and key order is checked before use, and a violation is an error.
// The file is read, not mapped: memory does not grow with it, and a failing disk or a file that
// becomes shorter is an error as well.
//
// The layout is LMDB 0.9's on 64-bit little-endian machines. Integers are little-endian. The file
// is an array of pages; a page begins with
//
//	offset 0   u64  its number
//	       10  u16  flags: what kind of page it is
//	       12  u16  end of the offsets of its nodes; of an overflow page, u32 the number of pages
//	       14  u16  start of its nodes
//	       16  u16  offsets of the nodes, in the order of their keys
//
// A leaf node holds the size of the data (u32), flags (u16), the size of the key (u16), the key,
// and then the data or, if it is big, the number (u64) of the first of the overflow pages that hold
// it after a single header. A branch node has a page number (48 bits) in place of size and flags;
// the key of its first node is unused. Pages 0 and 1 are meta pages; the one with the higher
// transaction number is valid.
package lmdbfile

import (
	"bytes"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"slices"
)

// ErrDamaged is wrapped by the errors of damaged files.
var ErrDamaged = errors.New("damaged LMDB file")

func damagedf(format string, args ...any) error {
	return fmt.Errorf("%w: "+format, append([]any{ErrDamaged}, args...)...)
}

// File is the unnamed database of an LMDB file, as of its latest transaction. It is for one
// goroutine.
type File struct {
	source   io.ReaderAt
	size     int64
	pageSize int
	meta
	levels [maxDepth]page // the latest page of each level of the tree
	leaf   *page          // of the current key
	node   int
}

// New reads a file of size bytes from source. Nobody may write to it meanwhile.
func New(source io.ReaderAt, size int64) (*File, error) {
	f := &File{source: source, size: size, meta: meta{lastPage: 1}}
	var err error
	if f.pageSize, err = f.readPageSize(); err != nil {
		return nil, err
	}
	f.meta, err = f.latest()
	return f, err
}

// Entries is the number of keys that the database claims to have.
func (f *File) Entries() uint64 { return f.main.entries }

// Seek finds the first key, bytewise, that is not less than target; nil if there is none. The key
// is valid until the next call. It costs a binary search in one page per level of the tree; pages
// that the previous call used are not read again, and one that is in the same leaf, in which it
// often is the next one, is found there.
func (f *File) Seek(target []byte) (key []byte, err error) {
	if p := f.leaf; p != nil && p.isBetween(f.node, target) {
		if f.node++; bytes.Compare(p.key(f.node), target) < 0 {
			f.node = p.firstNotLess(target)
		}
		return p.key(f.node), nil
	}
	for {
		next, err := f.descend(target)
		if err != nil || f.leaf == nil {
			return nil, err
		}
		if f.node = f.leaf.firstNotLess(target); f.node < f.leaf.count {
			return f.leaf.key(f.node), nil
		}
		if next == nil { // this is the last leaf
			f.leaf = nil
			return nil, nil
		}
		target = bytes.Clone(next)
	}
}

// descend goes from the root to the leaf that leads to target. All keys from next on come after
// that leaf; next is nil for the last leaf. An empty tree has no leaf.
func (f *File) descend(target []byte) (next []byte, err error) {
	f.leaf = nil
	within := keyRange{}
	number := f.main.root
	for level := range f.main.depth {
		p := &f.levels[level]
		if p.bytes == nil || p.number != number {
			if err := f.readTreePage(p, number, level); err != nil {
				p.bytes = nil
				return nil, err
			}
		}
		if err := within.check(p); err != nil {
			return nil, err
		}
		if p.leaf {
			f.leaf = p
			break
		}
		i := p.branchTo(target)
		number, within = p.child(i), within.of(p, i)
	}
	return within.end, nil
}

// Value reads the value of the current key, into dst if it is large enough.
func (f *File) Value(dst []byte) ([]byte, error) {
	size, inline, number := f.leaf.value(f.node)
	if inline != nil {
		return append(dst[:0], inline...), nil
	}
	return f.overflow(dst, number, size)
}

// overflow reads a value on overflow pages.
func (f *File) overflow(dst []byte, number uint64, size int) ([]byte, error) {
	var header [pageHeader]byte
	if err := f.readPage(header[:], number, overflowPage); err != nil {
		return nil, err
	}
	pages, left := int64(binary.LittleEndian.Uint32(header[lowerAt:])), int64(f.lastPage-number+1)
	if pages > left || int64(size) > pages*int64(f.pageSize)-pageHeader {
		return nil, damagedf("found a value of %d bytes on %d pages from page %d, "+
			"expected at most %d pages", size, pages, number, left)
	}
	start := int64(number) * int64(f.pageSize)
	if end := start + pageHeader + int64(size); end > f.size { // before allocating memory for it
		return nil, damagedf("it ends at byte %d, the file at %d", end, f.size)
	}
	value := slices.Grow(dst[:0], size)[:size]
	return value, f.read(value, start+pageHeader)
}

// readPage reads the beginning of a page of a kind.
func (f *File) readPage(into []byte, number uint64, kind uint16) error {
	if pages := f.size / int64(f.pageSize); number > f.lastPage || int64(number) >= pages {
		return damagedf("page %d is missing, the file has %d and uses %d", number, pages,
			f.lastPage+1)
	}
	if err := f.read(into, int64(number)*int64(f.pageSize)); err != nil {
		return err
	}
	if found := binary.LittleEndian.Uint64(into); found != number {
		return damagedf("page %d has the number %d", number, found)
	}
	if flags := binary.LittleEndian.Uint16(into[flagsAt:]); flags != kind {
		return damagedf("page %d has flags %#x, expected %#x", number, flags, kind)
	}
	return nil
}

func (f *File) read(into []byte, at int64) error {
	n, err := f.source.ReadAt(into, at)
	if n == len(into) {
		return nil
	}
	if err == io.EOF {
		return damagedf("it ends before byte %d", at+int64(len(into)))
	}
	return err
}
