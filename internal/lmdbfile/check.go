package lmdbfile

import "encoding/binary"

// Check walks everything in the latest transaction, and calls visit with each key and value in
// order; both are valid until visit returns. Every page of the file must have exactly one use: as a
// page of a tree or of a value, or in a list of free pages. Then LMDB's library can safely write to
// the file. It reads the whole file.
func (f *File) Check(visit func(key, value []byte) error) error {
	c := checker{File: f, used: make([]bool, min(int64(f.lastPage)+1, f.size/int64(f.pageSize)))}
	if int64(len(c.used)) != int64(f.lastPage)+1 {
		return damagedf("it ends at byte %d, expected %d pages of %d bytes", f.size, f.lastPage+1, f.pageSize)
	}
	c.used[0], c.used[1] = true, true
	if f.free.flags != integerKeys {
		return damagedf("its list of free pages has flags %#x, expected %#x", f.free.flags, integerKeys)
	}
	if err := f.free.check(); err != nil {
		return err
	}
	if err := c.tree(f.main, visit); err != nil {
		return err
	}
	if err := c.tree(f.free, c.freePages); err != nil {
		return err
	}
	for number, used := range c.used {
		if !used {
			return damagedf("page %d is not in use and not free", number)
		}
	}
	return nil
}

type checker struct {
	*File
	used  []bool // by page
	found tree   // counts of the tree that is being walked
	value []byte
}

// tree walks a tree and checks its counts.
func (c *checker) tree(t tree, visit func(key, value []byte) error) error {
	if t.root == noPage {
		return nil
	}
	c.found = tree{flags: t.flags, depth: t.depth, root: t.root}
	if err := c.walk(t, t.root, 0, keyRange{}, visit); err != nil {
		return err
	}
	if c.found != t {
		return damagedf("found a tree with %d entries on %d leaves, %d branches and %d other pages, expected %d on %d, %d and %d",
			c.found.entries, c.found.leaves, c.found.branches, c.found.others, t.entries, t.leaves, t.branches, t.others)
	}
	return nil
}

func (c *checker) walk(t tree, number uint64, level int, within keyRange, visit func(key, value []byte) error) error {
	var p page
	if err := c.readTreePage(&p, t, number, level); err != nil {
		return err
	}
	if err := c.use(number, 1); err != nil {
		return err
	}
	if err := within.check(&p, t.compare()); err != nil {
		return err
	}
	if !p.leaf {
		c.found.branches++
		for i := range p.count {
			if err := c.walk(t, p.child(i), level+1, within.of(&p, i), visit); err != nil {
				return err
			}
		}
		return nil
	}
	c.found.leaves++
	for i := range p.count {
		size, value, number := p.value(i)
		if value == nil {
			var pages int64
			var err error
			if value, pages, err = c.overflow(c.value, number, size); err != nil {
				return err
			}
			if err := c.use(number, pages); err != nil {
				return err
			}
			c.value, c.found.others = value, c.found.others+uint64(pages)
		}
		c.found.entries++
		if err := visit(p.key(i), value); err != nil {
			return err
		}
	}
	return nil
}

// use marks pages; none may have another use.
func (c *checker) use(first uint64, count int64) error {
	for number := first; number < first+uint64(count); number++ {
		if number >= uint64(len(c.used)) || c.used[number] {
			return damagedf("page %d has two uses, or is not in the file", number)
		}
		c.used[number] = true
	}
	return nil
}

// freePages marks a list of free pages: their count and their numbers, descending.
func (c *checker) freePages(key, list []byte) error {
	if len(key) != 8 || len(list) < 8 || binary.LittleEndian.Uint64(list) != uint64(len(list)/8-1) || len(list)%8 != 0 {
		return damagedf("found a list of free pages with a key of %d bytes and a value of %d bytes", len(key), len(list))
	}
	previous := uint64(noPage)
	for at := 8; at < len(list); at += 8 {
		number := binary.LittleEndian.Uint64(list[at:])
		if number >= previous {
			return damagedf("a list of free pages does not descend at page %d", number)
		}
		if err := c.use(number, 1); err != nil {
			return err
		}
		previous = number
	}
	return nil
}
