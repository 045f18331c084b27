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
	inOrder := pageHeader < lower && lower <= upper && upper <= len(p.bytes)
	if lower%2 != 0 || !inOrder {
		return damagedf("page %d has its nodes' offsets up to byte %d and its nodes from "+
			"byte %d on", p.number, lower, upper)
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
			return 0, damagedf("node %d of page %d has flags %#x, expected a plain database's", i,
				p.number, flags)
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
	at := p.u16(pageHeader + 2*i)
	return uint64(binary.LittleEndian.Uint32(p.bytes[at:])) | uint64(p.u16(at+4))<<32
}

// branchTo returns the node of a branch that leads to target: the last whose key is not greater.
func (p *page) branchTo(target []byte) int {
	return sort.Search(p.count-1, func(i int) bool { return bytes.Compare(p.key(i+1), target) > 0 })
}

// firstNotLess returns the first node of a leaf whose key is not less than target, or count.
func (p *page) firstNotLess(target []byte) int {
	return sort.Search(p.count, func(i int) bool { return bytes.Compare(p.key(i), target) >= 0 })
}

// isBetween reports whether target lies after the key of a leaf's node, and not after the last.
func (p *page) isBetween(node int, target []byte) bool {
	return bytes.Compare(p.key(node), target) < 0 && bytes.Compare(target, p.key(p.count-1)) <= 0
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
	isBefore := r.first != nil && bytes.Compare(p.key(first), r.first) < 0
	isAfter := r.end != nil && bytes.Compare(p.key(p.count-1), r.end) >= 0
	if isBefore || isAfter {
		return damagedf("its keys do not ascend: the keys of page %d are not in the range of "+
			"the branch above", p.number)
	}
	return nil
}

const (
	metaMagic   = 0xBEEFC0DE
	metaVersion = 1
	noPage      = 1<<64 - 1 // the root of an empty tree
	maxDepth    = 32        // of a tree; LMDB's limit
)

// Offsets in a meta page.
const (
	metaMagicAt       = 16
	metaVersionAt     = 20
	metaPageSizeAt    = 40
	metaMainAt        = 88 // the tree of the database
	metaLastPageAt    = 136
	metaTransactionAt = 144
	metaEnd           = 152
)

// meta is the content of a meta page.
type meta struct {
	main        tree
	lastPage    uint64
	transaction uint64
}

// tree is a meta page's description of a tree.
type tree struct {
	flags         uint16
	depth         int // levels, the leaves included
	entries, root uint64
}

func parseTree(bytes []byte) tree {
	return tree{
		flags:   binary.LittleEndian.Uint16(bytes[4:]),
		depth:   int(binary.LittleEndian.Uint16(bytes[6:])),
		entries: binary.LittleEndian.Uint64(bytes[32:]),
		root:    binary.LittleEndian.Uint64(bytes[40:]),
	}
}

// check checks that depth, root and entries are consistent.
func (t tree) check() error {
	isEmpty := t.depth == 0
	if t.depth > maxDepth || isEmpty != (t.root == noPage) || isEmpty != (t.entries == 0) {
		return damagedf("its tree of %d entries has %d levels and root %d", t.entries, t.depth,
			int64(t.root))
	}
	return nil
}

// readPageSize reads the page size, which is in the first page.
func (f *File) readPageSize() (int, error) {
	var head [metaEnd]byte
	if f.size < int64(len(head)) {
		return 0, damagedf("it has %d bytes, expected two meta pages", f.size)
	}
	if err := f.read(head[:], 0); err != nil {
		return 0, err
	}
	size := binary.LittleEndian.Uint32(head[metaPageSizeAt:])
	if size < 512 || size > 1<<16 || size&(size-1) != 0 {
		return 0, damagedf("its pages have %d bytes, expected a power of two from 512 to 65,536",
			size)
	}
	return int(size), nil
}

// latest reads the valid meta page. Transactions write the two pages alternately, so their numbers
// differ by one.
func (f *File) latest() (latest meta, err error) {
	var metas [2]meta
	for number := range metas {
		if metas[number], err = f.readMeta(number); err != nil {
			return meta{}, err
		}
	}
	latest, before := metas[0], metas[1]
	if before.transaction > latest.transaction {
		latest, before = before, latest
	}
	if latest.transaction-before.transaction > 1 || latest.lastPage < before.lastPage {
		return meta{}, damagedf("its meta pages are of transactions %d, up to page %d, and %d, "+
			"up to page %d, expected one after the other",
			before.transaction, before.lastPage, latest.transaction, latest.lastPage)
	}
	// If a meta page could not be written, LMDB leaves that transaction's trees under the number of
	// the previous one.
	if latest.transaction == 0 && latest.main.root != noPage {
		return meta{}, damagedf("it has content that no transaction wrote")
	}
	return latest, nil
}

func (f *File) readMeta(number int) (m meta, err error) {
	var page [metaEnd]byte
	if err := f.readPage(page[:], uint64(number), metaPage); err != nil {
		return m, err
	}
	magic := binary.LittleEndian.Uint32(page[metaMagicAt:])
	version := binary.LittleEndian.Uint32(page[metaVersionAt:])
	size := int(binary.LittleEndian.Uint32(page[metaPageSizeAt:]))
	if magic != metaMagic || version != metaVersion || size != f.pageSize {
		return m, damagedf("meta page %d has magic %08x, version %d and pages of %d bytes, "+
			"expected %08x, %d and %d",
			number, magic, version, size, metaMagic, metaVersion, f.pageSize)
	}
	m = meta{
		main:        parseTree(page[metaMainAt:]),
		lastPage:    binary.LittleEndian.Uint64(page[metaLastPageAt:]),
		transaction: binary.LittleEndian.Uint64(page[metaTransactionAt:]),
	}
	if m.main.flags != 0 {
		return m, damagedf("its database has flags %#x, expected a plain one", m.main.flags)
	}
	if m.lastPage < 1 || m.lastPage >= 1<<47/uint64(f.pageSize) {
		return m, damagedf("its last page is %d", m.lastPage)
	}
	if m.transaction != 0 && m.transaction%2 != uint64(number) {
		return m, damagedf("meta page %d is of transaction %d, which writes the other one", number,
			m.transaction)
	}
	return m, m.main.check()
}
