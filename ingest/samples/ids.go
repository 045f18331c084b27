package samples

import (
	"bytes"

	"github.com/cespare/xxhash/v2"

	"tcbuild/fault"
)

const sampleIDHint = "give each sample a unique id, or set allow_duplicate_ids=true"

// SampleIDs finds empty and duplicate sample ids. A nil *SampleIDs finds none. It keeps a 64-bit
// hash of each id, in 11 to 21 bytes; if two hashes are equal, earlier compares the ids.
type SampleIDs struct {
	seen hashSet
	// returns the first row before the given one that has the id, or ""
	earlier func(id []byte, row int64) (where string, err error)
}

// Add returns a fault.Input if an id is empty or an earlier row has it.
func (s *SampleIDs) Add(id []byte, row int64) error {
	if s == nil {
		return nil
	}
	if len(bytes.TrimSpace(id)) == 0 {
		return fault.New(fault.Input, sampleIDHint, "found sample id %s, expected a non-empty one", fault.Quote(id))
	}
	if s.seen.add(xxhash.Sum64(id)) {
		return nil
	}
	where, err := s.earlier(id, row)
	if err == nil && where != "" {
		err = fault.New(fault.Input, sampleIDHint,
			"found sample id %s, which is also in %s, expected unique ids", fault.Quote(id), where)
	}
	return err
}

// hashSet is a table with linear probing, at most three quarters full. A Go map takes three times as
// long. 0 is an empty slot.
type hashSet struct {
	slots []uint64 // their number is a power of two
	used  int
}

// add reports whether a hash is new. 0 counts as 1.
func (s *hashSet) add(hash uint64) bool {
	if 4*s.used >= 3*len(s.slots) {
		old := s.slots
		*s = hashSet{slots: make([]uint64, max(2*len(old), 1024))}
		for _, hash := range old {
			if hash != 0 {
				s.add(hash)
			}
		}
	}
	hash = max(hash, 1)
	last := uint64(len(s.slots) - 1)
	for i := hash & last; ; i = (i + 1) & last {
		switch s.slots[i] {
		case hash:
			return false
		case 0:
			s.slots[i] = hash
			s.used++
			return true
		}
	}
}
