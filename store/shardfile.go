package store

import (
	"encoding/binary"
	"fmt"
	"os"

	"golang.org/x/sys/unix"

	"tcbuild/encode"
)

// shardFile is a shard's data.mdb, mapped into memory. It is read without LMDB's library, which trusts
// its pages and aborts the process on damaged ones. LMDB 0.9's layout: store/FORMAT.md, Pages.
type shardFile struct {
	file     []byte
	pageSize int
	values   map[int][]byte // by the index of their first sample; views of file
}

// openShardFile maps a shard and lists its values. Of a damaged one (an error that wraps
// encode.ErrDamaged) it lists those that were found before the damage. It must be closed.
func openShardFile(path string) (*shardFile, error) {
	f, err := os.Open(path)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	info, err := f.Stat()
	if err != nil {
		return nil, err
	}
	s := &shardFile{pageSize: 4096, values: make(map[int][]byte)}
	if info.Size() == 0 {
		return s, fmt.Errorf("%w: it is empty", encode.ErrDamaged)
	}
	if s.file, err = unix.Mmap(int(f.Fd()), 0, int(info.Size()), unix.PROT_READ, unix.MAP_SHARED); err != nil {
		return nil, fmt.Errorf("map %s: %w", path, err)
	}
	return s, s.walk()
}

func (s *shardFile) close() {
	if s.file != nil {
		unix.Munmap(s.file) // of a mapping that is there it cannot fail
	}
}

// A page begins with number u64, pad u16, flags u16, lower u16, upper u16. Behind that, up to lower, stand
// the offsets of its nodes. A node of a leaf: data size u32, flags u16, key size u16, key, then the data, or the
// number of the first page of the data. A node of a branch has the number of a page in place of size and flags.
const (
	pageHeader = 16
	nodeHeader = 8
	keySize    = 8
	branchPage = 0x01
	leafPage   = 0x02
	bigData    = 0x01 // the node's data lies on pages of its own, behind a header
)

// The two meta pages at the start of the file; the one with the higher transaction number counts.
const (
	metaMagic       = 0xBEEFC0DE
	metaVersion     = 1
	metaPageSize    = 40 // offset of u32
	metaRoot        = 128
	metaTransaction = 144
	noPage          = 1<<64 - 1 // the root of an empty tree
)

// walk lists the values of the tree, from its root to the leaves.
func (s *shardFile) walk() error {
	if len(s.file) >= 4096 && readable(s.file[:4096]) {
		if size := binary.LittleEndian.Uint32(s.file[metaPageSize:]); size >= 512 && size <= 1<<16 {
			s.pageSize = int(size)
		}
	}
	root, newest := uint64(noPage), uint64(0)
	for number := range uint64(2) {
		page, err := s.page(number)
		if err != nil {
			return err
		}
		magic, version := binary.LittleEndian.Uint32(page[pageHeader:]), binary.LittleEndian.Uint32(page[pageHeader+4:])
		if magic != metaMagic || version != metaVersion {
			return fmt.Errorf("%w: meta page %d has magic %08x and version %d (expected %08x and %d)", encode.ErrDamaged, number, magic, version, metaMagic, metaVersion)
		}
		if transaction := binary.LittleEndian.Uint64(page[metaTransaction:]); transaction >= newest {
			root, newest = binary.LittleEndian.Uint64(page[metaRoot:]), transaction
		}
	}
	if root == noPage {
		return nil
	}
	left := len(s.file) / s.pageSize // pages that a tree can have
	return s.visit(root, &left)
}

func (s *shardFile) visit(number uint64, left *int) error {
	if *left--; *left < 0 {
		return fmt.Errorf("%w: its pages form a circle", encode.ErrDamaged)
	}
	page, err := s.page(number)
	if err != nil {
		return err
	}
	flags := binary.LittleEndian.Uint16(page[10:])
	for i := range s.nodes(page) {
		node, err := s.node(page, i)
		if err != nil {
			return fmt.Errorf("page %d: %w", number, err)
		}
		switch flags {
		case branchPage:
			child := uint64(binary.LittleEndian.Uint32(node)) | uint64(binary.LittleEndian.Uint16(node[4:]))<<32
			err = s.visit(child, left)
		case leafPage:
			var first int
			var value []byte
			if first, value, err = s.value(node); err == nil {
				s.values[first] = value
			}
		default:
			err = fmt.Errorf("%w: page %d has flags %#x (expected a branch or a leaf)", encode.ErrDamaged, number, flags)
		}
		if err != nil {
			return err
		}
	}
	return nil
}

// page returns a page, whose header tells its number.
func (s *shardFile) page(number uint64) ([]byte, error) {
	if count := len(s.file) / s.pageSize; number >= uint64(count) {
		return nil, fmt.Errorf("%w: page %d is missing (the file has %d)", encode.ErrDamaged, number, count)
	}
	page := s.file[int(number)*s.pageSize:][:s.pageSize]
	if !readable(page) {
		return nil, fmt.Errorf("%w: the disk does not give page %d", encode.ErrDamaged, number)
	}
	if found := binary.LittleEndian.Uint64(page); found != number {
		return nil, fmt.Errorf("%w: page %d says that it is page %d", encode.ErrDamaged, number, found)
	}
	return page, nil
}

// nodes counts the nodes of a page.
func (s *shardFile) nodes(page []byte) int {
	return max(min(int(binary.LittleEndian.Uint16(page[12:])), s.pageSize)-pageHeader, 0) / 2
}

// node returns the i-th node of a page, with what lies behind it.
func (s *shardFile) node(page []byte, i int) ([]byte, error) {
	at := int(binary.LittleEndian.Uint16(page[pageHeader+2*i:]))
	if at < pageHeader || at+nodeHeader > s.pageSize {
		return nil, fmt.Errorf("%w: node %d lies at byte %d", encode.ErrDamaged, i, at)
	}
	return page[at:], nil
}

// value reads a leaf's node.
func (s *shardFile) value(node []byte) (first int, value []byte, err error) {
	size, key := int(binary.LittleEndian.Uint32(node)), int(binary.LittleEndian.Uint16(node[6:]))
	if key != keySize || len(node) < nodeHeader+keySize {
		return 0, nil, fmt.Errorf("%w: a key of %d bytes (expected %d)", encode.ErrDamaged, key, keySize)
	}
	first, value = int(binary.BigEndian.Uint64(node[nodeHeader:])), node[nodeHeader+keySize:]
	if binary.LittleEndian.Uint16(node[4:]) == bigData {
		if len(value) < 8 {
			return 0, nil, fmt.Errorf("%w: the value of sample %d has no page", encode.ErrDamaged, first)
		}
		number := binary.LittleEndian.Uint64(value)
		if _, err := s.page(number); err != nil {
			return 0, nil, fmt.Errorf("value of sample %d: %w", first, err)
		}
		value = s.file[int(number)*s.pageSize+pageHeader:]
	}
	if size > len(value) {
		return 0, nil, fmt.Errorf("%w: the value of sample %d has %d bytes, the file only %d of them", encode.ErrDamaged, first, size, len(value))
	}
	return first, value[:size:size], nil
}
