package lmdbfile

import (
	"bytes"
	"encoding/binary"
	"sort"
)

const (
	flagsAt    = 10
	lowerAt    = 12
	upperAt    = 14
	pageHeader = 16
	nodeHeader = 8

	branchPage   = 0x01
	leafPage     = 0x02
	overflowPage = 0x04
	metaPage     = 0x08

	bigData = 0x01 // the only flag that a node of a plain database has
)

// page is a checked page of a tree: its nodes lie on it, and their keys ascend.
type page struct {
	bytes  []byte
	number uint64
	count  int // nodes, at least one
	leaf   bool
}

// readTreePage reads a page of the tree, of the given level, into p.
func (f *File) readTreePage(p *page, number uint64, level int) error {
	if p.bytes == nil {
		p.bytes = make([]byte, f.pageSize)
	}
	p.number, p.leaf = number, level == f.main.depth-1
	kind := uint16(branchPage)
	if p.leaf {
		kind = leafPage
	}
	if err := f.readPage(p.bytes, number, kind); err != nil {
		return err
	}
	return p.check()
}

func (p *page) u16(at int) int { return int(binary.LittleEndian.Uint16(p.bytes[at:])) }

// check checks that all nodes lie on the page, that they fill it from its upper bound, as LMDB
// keeps them, and that their keys ascend.
func (p *page) check() error {
	lower, upper := p.u16(lowerAt), p.u16(upperAt)
	if lower%2 != 0 || lower <= pageHeader || lower > upper || upper > len(p.bytes) {
		return damagedf("page %d has its nodes' offsets up to byte %d and its nodes from byte %d on", p.number, lower, upper)
	}
	p.count = (lower - pageHeader) / 2
	filled := 0
	for i := range p.count {
		size, err := p.checkNode(i, upper)
		if err != nil {
			return err
		}
		filled += size + size%2
		if first := p.firstKey(); i > first && bytes.Compare(p.key(i-1), p.key(i)) >= 0 {
			return damagedf("its keys do not ascend at node %d of page %d", i, p.number)
		}
	}
	if room := len(p.bytes) - upper; filled != room {
		return damagedf("the nodes of page %d have %d bytes, expected %d", p.number, filled, room)
	}
	return nil
}

// checkNode checks that a node lies on the page, and returns its length.
func (p *page) checkNode(i, upper int) (size int, err error) {
	at := p.u16(pageHeader + 2*i)
	if at < upper || at+nodeHeader > len(p.bytes) {
		return 0, damagedf("node %d of page %d lies at byte %d", i, p.number, at)
	}
	size = nodeHeader + p.u16(at+6)
	if p.leaf {
		switch data, flags := int(binary.LittleEndian.Uint32(p.bytes[at:])), p.u16(at+4); flags {
		case 0:
			size += data
		case bigData:
			size += 8
		default:
			return 0, damagedf("node %d of page %d has flags %#x, expected a plain database's", i, p.number, flags)
		}
	}
	if at+size > len(p.bytes) {
		return 0, damagedf("node %d of page %d has %d bytes at byte %d", i, p.number, size, at)
	}
	return size, nil
}

// firstKey is the first node that has a key: a branch's first has none.
func (p *page) firstKey() int {
	if p.leaf {
		return 0
	}
	return 1
}

// key returns the key of node i, 0 <= i < count.
func (p *page) key(i int) []byte {
	at := p.u16(pageHeader + 2*i)
	size := p.u16(at + 6)
	return p.bytes[at+nodeHeader:][:size:size]
}

// value returns the value of a leaf's node i, or the page on which it starts.
func (p *page) value(i int) (size int, inline []byte, number uint64) {
	node := p.bytes[p.u16(pageHeader+2*i):]
	size = int(binary.LittleEndian.Uint32(node))
	rest := node[nodeHeader+len(p.key(i)):]
	if binary.LittleEndian.Uint16(node[4:]) == bigData {
		return size, nil, binary.LittleEndian.Uint64(rest)
	}
	return size, rest[:size:size], 0
}

// child returns the number of the page that node i of a branch leads to.
func (p *page) child(i int) uint64 {
	node := p.bytes[p.u16(pageHeader+2*i):]
	return uint64(binary.LittleEndian.Uint32(node)) | uint64(binary.LittleEndian.Uint16(node[4:]))<<32
}

// branchTo returns the node of a branch that leads to target: the last whose key is not greater.
func (p *page) branchTo(target []byte) int {
	return sort.Search(p.count-1, func(i int) bool { return bytes.Compare(p.key(i+1), target) > 0 })
}

// firstNotLess returns the first node of a leaf whose key is not less than target, or count.
func (p *page) firstNotLess(target []byte) int {
	return sort.Search(p.count, func(i int) bool { return bytes.Compare(p.key(i), target) >= 0 })
}

// keyRange is the half-open range [first, end) of a subtree's keys; nil means no bound.
type keyRange struct{ first, end []byte }

// of is the range of node i of a branch with range r.
func (r keyRange) of(p *page, i int) keyRange {
	if i > 0 {
		r.first = p.key(i)
	}
	if i+1 < p.count {
		r.end = p.key(i + 1)
	}
	return r
}

// check checks that the keys of a page lie in the range.
func (r keyRange) check(p *page) error {
	first := p.firstKey()
	if first == p.count { // a branch with one node
		return nil
	}
	if r.first != nil && bytes.Compare(p.key(first), r.first) < 0 || r.end != nil && bytes.Compare(p.key(p.count-1), r.end) >= 0 {
		return damagedf("its keys do not ascend: the keys of page %d are not in the range of the branch above", p.number)
	}
	return nil
}
