package duplicates

import (
	"encoding/binary"
	"fmt"
	"math/bits"

	"github.com/cespare/xxhash/v2"
	"golang.org/x/sys/unix"
)

// index has a number of 32 bits for each key, in 25 to 31 bytes each beyond the first 16 MB. It is
// split into parts that grow one by one, so that growing never needs room for all keys twice. Its
// memory is not Go's, whose collector would let the process take twice as much. The zero value is
// empty; free must be called.
type index struct{ parts [256]part }

// part is a table with linear probing, at most four fifths full. A slot is a key, which begins
// with 0 if there is none, and its number.
type part struct {
	slots []byte
	used  int
}

const (
	keyBytes  = len(key{})
	slotBytes = keyBytes + 4
	pageBytes = 4096
	// 64 kB; all parts, if small, take 16 MB
	smallPages = 16
)

// find returns the number of a key, which is 0 if the key is new. The number is valid until the
// next call.
func (x *index) find(k key) (number number, known bool, err error) {
	hash := xxhash.Sum64(k[:])
	p := &x.parts[hash>>56]
	if 5*(p.used+1) > 4*p.len() {
		if err := p.grow(); err != nil {
			return nil, false, err
		}
	}
	slot := p.slot(k, hash)
	if known = slot[0] != 0; !known {
		copy(slot, k[:])
		p.used++
	}
	return number32(slot), known, nil
}

func number32(slot []byte) number { return slot[keyBytes:slotBytes:slotBytes] }

// each calls visit with all numbers.
func (x *index) each(visit func(number)) {
	for i := range x.parts {
		for slots := x.parts[i].slots; len(slots) >= slotBytes; slots = slots[slotBytes:] {
			if slots[0] != 0 {
				visit(number32(slots))
			}
		}
	}
}

func (x *index) free() {
	for i := range x.parts {
		if p := &x.parts[i]; p.slots != nil {
			_ = unix.Munmap(p.slots)
			*p = part{}
		}
	}
}

func (p *part) len() int { return len(p.slots) / slotBytes }

// slot returns the slot of a key with a hash, or the empty one where it belongs, in a part that has
// an empty one.
func (p *part) slot(k key, hash uint64) []byte {
	n := p.len()
	for i := p.first(hash); ; i++ {
		if i == n {
			i = 0
		}
		slot := p.slots[i*slotBytes : (i+1)*slotBytes]
		if slot[0] == 0 || key(slot) == k {
			return slot
		}
	}
}

// first is where the search for a hash begins.
func (p *part) first(hash uint64) int {
	high, _ := bits.Mul64(hash<<8, uint64(p.len()))
	return int(high)
}

// touch reads where a key would be. Processors do many such reads at once, and a find thereafter
// need not wait for memory.
func (x *index) touch(k key) byte {
	hash := xxhash.Sum64(k[:])
	p := &x.parts[hash>>56]
	if p.slots == nil {
		return 0
	}
	return p.slots[p.first(hash)*slotBytes]
}

// grow makes a part larger: a small one twice as large, any other by a quarter.
func (p *part) grow() error {
	pages := len(p.slots) / pageBytes
	if pages < smallPages {
		pages = max(2*pages, 1)
	} else {
		pages += pages / 4
	}
	slots, err := unix.Mmap(-1, 0, pages*pageBytes, unix.PROT_READ|unix.PROT_WRITE, unix.MAP_PRIVATE|unix.MAP_ANON|unix.MAP_POPULATE)
	if err != nil {
		return fmt.Errorf("group samples: find memory for %d bytes: %w", pages*pageBytes, err)
	}
	old := p.slots
	p.slots = slots
	for rest := old; len(rest) >= slotBytes; rest = rest[slotBytes:] {
		if rest[0] != 0 {
			copy(p.slot(key(rest), xxhash.Sum64(rest[:keyBytes])), rest[:slotBytes])
		}
	}
	if old != nil {
		return unix.Munmap(old)
	}
	return nil
}

// number is 31 bits and a flag, in a slot of an index.
type number []byte

const flagBit = 1 << 31

func (n number) get() int { return int(binary.LittleEndian.Uint32(n) &^ flagBit) }

func (n number) flag() bool { return binary.LittleEndian.Uint32(n)&flagBit != 0 }

// set keeps the flag.
func (n number) set(value int) {
	binary.LittleEndian.PutUint32(n, uint32(value)|binary.LittleEndian.Uint32(n)&flagBit)
}

func (n number) setFlag(flag bool) {
	value := uint32(n.get())
	if flag {
		value |= flagBit
	}
	binary.LittleEndian.PutUint32(n, value)
}
