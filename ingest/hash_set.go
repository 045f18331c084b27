package ingest

// hashSet is a set of hashes in 9 to 19 bytes each, where a map takes 30 and more. Its parts, by
// the highest byte, grow one by one, so that growing needs no room for all hashes twice. The zero
// value is empty.
type hashSet struct{ parts [256]hashPart }

// hashPart is a table with linear probing, at most seven eighths full. 0 is an empty slot.
type hashPart struct {
	slots []uint64 // a power of two of them
	used  int
}

// add adds a hash, and reports whether the set had it. 0 is taken for 1.
func (s *hashSet) add(hash uint64) (known bool) {
	hash = max(hash, 1)
	p := &s.parts[hash>>56]
	if 8*(p.used+1) > 7*len(p.slots) {
		p.grow()
	}
	return p.add(hash)
}

// add is that of a part with an empty slot.
func (p *hashPart) add(hash uint64) (known bool) {
	last := uint64(len(p.slots) - 1)
	for i := hash & last; ; i = (i + 1) & last {
		switch p.slots[i] {
		case hash:
			return true
		case 0:
			p.slots[i] = hash
			p.used++
			return false
		}
	}
}

func (p *hashPart) grow() {
	old := p.slots
	p.slots, p.used = make([]uint64, max(2*len(old), 16)), 0
	for _, hash := range old {
		if hash != 0 {
			p.add(hash)
		}
	}
}
