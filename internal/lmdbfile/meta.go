package lmdbfile

import "encoding/binary"

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
		flags: binary.LittleEndian.Uint16(bytes[4:]), depth: int(binary.LittleEndian.Uint16(bytes[6:])),
		entries: binary.LittleEndian.Uint64(bytes[32:]), root: binary.LittleEndian.Uint64(bytes[40:]),
	}
}

// check checks that depth, root and entries are consistent.
func (t tree) check() error {
	if t.depth > maxDepth || (t.depth == 0) != (t.root == noPage) || (t.depth == 0) != (t.entries == 0) {
		return damagedf("its tree of %d entries has %d levels and root %d", t.entries, t.depth, int64(t.root))
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
		return 0, damagedf("its pages have %d bytes, expected a power of two from 512 to 65,536", size)
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
		return meta{}, damagedf("its meta pages are of transactions %d, up to page %d, and %d, up to page %d, expected one after the other",
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
	magic, version := binary.LittleEndian.Uint32(page[metaMagicAt:]), binary.LittleEndian.Uint32(page[metaVersionAt:])
	size := int(binary.LittleEndian.Uint32(page[metaPageSizeAt:]))
	if magic != metaMagic || version != metaVersion || size != f.pageSize {
		return m, damagedf("meta page %d has magic %08x, version %d and pages of %d bytes, expected %08x, %d and %d",
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
		return m, damagedf("meta page %d is of transaction %d, which writes the other one", number, m.transaction)
	}
	return m, m.main.check()
}
