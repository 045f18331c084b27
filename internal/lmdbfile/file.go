// Package lmdbfile reads the data file of an LMDB environment that somebody else wrote. It does without LMDB's
// library, which trusts its pages: a damaged or truncated file would end the process. Here every page number, offset
// and length is checked, and what is wrong is an error. The file is read and not mapped, so that memory does not grow with
// it, and a disk that fails is an error as well.
//
// The layout is LMDB 0.9's on 64-bit little-endian machines. Integers are little-endian. The file is an array of
// pages; a page begins with
//
//	offset 0   u64  its number
//	       10  u16  flags: what kind of page it is
//	       12  u16  end of the offsets of its nodes; of an overflow page, u32 the number of pages
//	       16  u16  offsets of the nodes, in the order of their keys
//
// A node of a leaf holds the size of the data (u32), flags (u16), the size of the key (u16), the key, and then
// the data or, if it is big, the number (u64) of the first of the overflow pages that hold it behind one header. A node of a branch
// has the number of a page (48 bits) in place of size and flags; the key of its first node is not used. Pages 0 and
// 1 are meta pages: that of the higher transaction counts.
package lmdbfile

import (
	"bytes"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"os"
	"slices"
)

// ErrDamaged is wrapped by the errors of files whose bytes are not what LMDB writes.
var ErrDamaged = errors.New("damaged LMDB file")

const (
	pageHeader = 16
	nodeHeader = 8

	branchPage   = 0x01
	leafPage     = 0x02
	overflowPage = 0x04
	metaPage     = 0x08
	pageKinds    = branchPage | leafPage | overflowPage | metaPage

	bigData = 0x01 // the only flag that a node of a plain database has

	metaMagic   = 0xBEEFC0DE
	metaVersion = 1
	noPage      = 1<<64 - 1 // the root of an empty tree
	maxDepth    = 32        // of a tree; LMDB's own limit
)

// Offsets in a meta page.
const (
	metaMagicAt       = 16
	metaVersionAt     = 20
	metaPageSizeAt    = 40
	metaFlagsAt       = 92 // of the main database
	metaEntriesAt     = 120
	metaRootAt        = 128
	metaTransactionAt = 144
)

// File is the unnamed database of an LMDB file, as its latest transaction left it. It is for one goroutine.
type File struct {
	file     *os.File
	size     int64
	pageSize int
	meta
	levels [maxDepth]treePage // the latest page of each level of the tree
	leaf   treePage           // of the key that Seek found
	node   int
	value  []byte // the latest value that has pages of its own
}

type meta struct{ transaction, entries, root uint64 }

// Open opens a file. It must be closed. The environment must not be written to meanwhile, which Unchanged can tell.
func Open(path string) (*File, error) {
	file, err := os.Open(path)
	if err != nil {
		return nil, err
	}
	f := &File{file: file}
	if err := f.readHead(); err != nil {
		file.Close()
		return nil, err
	}
	return f, nil
}

// readHead reads what pages 0 and 1 say.
func (f *File) readHead() error {
	info, err := f.file.Stat()
	if err != nil {
		return err
	}
	f.size = info.Size()
	var head [metaPageSizeAt + 4]byte
	if f.size < int64(len(head)) {
		return fmt.Errorf("%w: it has %d bytes, expected two meta pages", ErrDamaged, f.size)
	}
	if err := f.read(head[:], 0); err != nil {
		return err
	}
	f.pageSize = int(binary.LittleEndian.Uint32(head[metaPageSizeAt:]))
	if f.pageSize < 512 || f.pageSize > 1<<16 || f.pageSize&(f.pageSize-1) != 0 {
		return fmt.Errorf("%w: its pages have %d bytes, expected a power of two from 512 to 65,536", ErrDamaged, f.pageSize)
	}
	f.meta, err = f.latest()
	return err
}

func (f *File) read(into []byte, at int64) error {
	_, err := f.file.ReadAt(into, at)
	if err == io.EOF {
		return fmt.Errorf("%w: it ends before byte %d", ErrDamaged, at+int64(len(into)))
	}
	return err
}

// latest reads the meta page that counts.
func (f *File) latest() (latest meta, err error) {
	page := make([]byte, f.pageSize)
	for number := range uint64(2) {
		if err := f.readPage(page, number, metaPage); err != nil {
			return meta{}, err
		}
		magic, version := binary.LittleEndian.Uint32(page[metaMagicAt:]), binary.LittleEndian.Uint32(page[metaVersionAt:])
		if magic != metaMagic || version != metaVersion {
			return meta{}, fmt.Errorf("%w: meta page %d has magic %08x and version %d, expected %08x and %d", ErrDamaged, number, magic, version, metaMagic, metaVersion)
		}
		if flags := binary.LittleEndian.Uint16(page[metaFlagsAt:]); flags != 0 {
			return meta{}, fmt.Errorf("%w: its database has flags %#x, expected a plain one", ErrDamaged, flags)
		}
		if transaction := binary.LittleEndian.Uint64(page[metaTransactionAt:]); number == 0 || transaction > latest.transaction {
			latest = meta{transaction, binary.LittleEndian.Uint64(page[metaEntriesAt:]), binary.LittleEndian.Uint64(page[metaRootAt:])}
		}
	}
	return latest, nil
}

// Close releases the file.
func (f *File) Close() error { return f.file.Close() }

// Entries is how many keys the database says that it has.
func (f *File) Entries() uint64 { return f.entries }

// Transaction is the number of the transaction that is read. Equal numbers of one file mean equal content.
func (f *File) Transaction() uint64 { return f.transaction }

// Unchanged tells whether no later transaction has been committed since Open.
func (f *File) Unchanged() bool {
	now, err := f.latest()
	return err == nil && now == f.meta
}

// Seek finds the first key, in the order of bytes, that is not less than target: nil if there is none. It lives until the
// next call. The cost is a binary search in one page per level of the tree; pages that the call before went
// through too are not read again.
func (f *File) Seek(target []byte) (key []byte, err error) {
	if f.root == noPage {
		return nil, nil
	}
	key, err = f.seek(f.root, target, 0)
	if err == nil && key != nil && bytes.Compare(key, target) < 0 {
		return nil, fmt.Errorf("%w: its keys do not ascend at %q", ErrDamaged, key)
	}
	return key, err
}

func (f *File) seek(number uint64, target []byte, level int) (key []byte, err error) {
	p, err := f.treePage(number, level)
	if err != nil {
		return nil, err
	}
	count := p.nodes()
	if count == 0 {
		return nil, fmt.Errorf("%w: page %d of its tree is empty", ErrDamaged, number)
	}
	if p.flags()&leafPage != 0 {
		i, err := p.firstNotLess(0, target)
		if err != nil || i == count {
			return nil, err
		}
		f.leaf, f.node = p, i
		_, key, err := p.node(i)
		return key, err
	}
	next, err := p.firstNotLess(1, target)
	if err != nil {
		return nil, err
	}
	// All keys before the node's own lie in the subtree before it. Where that has none that fits, the
	// first of the node's own does.
	for i := next - 1; i <= next && i < count && key == nil; i++ {
		child, err := p.child(i)
		if err != nil {
			return nil, err
		}
		if key, err = f.seek(child, target, level+1); err != nil {
			return nil, err
		}
	}
	if key == nil && next < count {
		return nil, fmt.Errorf("%w: its keys do not ascend on page %d", ErrDamaged, number)
	}
	return key, nil
}

// treePage returns a page of a level of the tree, from memory if it is the latest of that level.
func (f *File) treePage(number uint64, level int) (treePage, error) {
	if level == maxDepth {
		return treePage{}, fmt.Errorf("%w: its tree has more than %d levels", ErrDamaged, maxDepth)
	}
	p := &f.levels[level]
	if p.bytes != nil && p.number == number {
		return *p, nil
	}
	if p.bytes == nil {
		p.bytes = make([]byte, f.pageSize)
	}
	p.number = number
	err := f.readPage(p.bytes, number, branchPage|leafPage)
	if err != nil {
		p.bytes = nil
	}
	return *p, err
}

// readPage reads the beginning of a page of one of some kinds; its header tells its number.
func (f *File) readPage(page []byte, number uint64, kinds uint16) error {
	if count := f.size / int64(f.pageSize); number >= uint64(count) {
		return fmt.Errorf("%w: page %d is missing, the file has %d", ErrDamaged, number, count)
	}
	if err := f.read(page, int64(number)*int64(f.pageSize)); err != nil {
		return err
	}
	if found := binary.LittleEndian.Uint64(page); found != number {
		return fmt.Errorf("%w: page %d says that it is page %d", ErrDamaged, number, found)
	}
	if flags := binary.LittleEndian.Uint16(page[10:]); flags&pageKinds&kinds == 0 {
		return fmt.Errorf("%w: page %d has flags %#x, expected one of %#x", ErrDamaged, number, flags, kinds)
	}
	return nil
}

// Value returns the value of the key that Seek found. It lives until the next call of either.
func (f *File) Value() ([]byte, error) {
	node, key, err := f.leaf.node(f.node)
	if err != nil {
		return nil, err
	}
	size, flags, rest := int(binary.LittleEndian.Uint32(node)), binary.LittleEndian.Uint16(node[4:]), node[nodeHeader+len(key):]
	switch {
	case flags == 0 && size <= len(rest):
		return rest[:size:size], nil
	case flags == bigData && len(rest) >= 8:
		value, err := f.overflow(binary.LittleEndian.Uint64(rest), size)
		if err != nil {
			return nil, fmt.Errorf("value of key %q: %w", key, err)
		}
		return value, nil
	}
	return nil, fmt.Errorf("%w: the value of key %q has %d bytes and flags %#x, expected a plain one on page %d", ErrDamaged, key, size, flags, f.leaf.number)
}

// overflow reads a value that has pages of its own.
func (f *File) overflow(number uint64, size int) ([]byte, error) {
	var header [pageHeader]byte
	if err := f.readPage(header[:], number, overflowPage); err != nil {
		return nil, err
	}
	start, pages := int64(number)*int64(f.pageSize), int64(binary.LittleEndian.Uint32(header[12:]))
	if room := min(pages*int64(f.pageSize), f.size-start) - pageHeader; int64(size) > room {
		return nil, fmt.Errorf("%w: it has %d bytes, its pages from %d on hold %d", ErrDamaged, size, number, room)
	}
	f.value = slices.Grow(f.value[:0], size)[:size]
	return f.value, f.read(f.value, start+pageHeader)
}
