package samples

import (
	"bytes"

	"github.com/cespare/xxhash/v2"

	"tcbuild/fault"
)

const sampleIDHint = "give each sample a unique id, or set allow_duplicate_ids=true"

// SampleIDs finds empty and duplicate sample ids. A nil *SampleIDs finds none. It keeps a 64-bit
// hash of each id, in 9 to 19 bytes; if two hashes are equal, earlier compares the ids.
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
	if err := checkID(id); err != nil {
		return err
	}
	if !s.seen.add(xxhash.Sum64(id)) {
		return nil
	}
	return s.compare(id, row)
}

func checkID(id []byte) error {
	if len(bytes.TrimSpace(id)) == 0 {
		return fault.New(fault.Input, sampleIDHint, "found sample id %s, expected a non-empty one", fault.Quote(id))
	}
	return nil
}

// compare returns a fault.Input if an earlier row has an id, whose hash one has.
func (s *SampleIDs) compare(id []byte, row int64) error {
	where, err := s.earlier(id, row)
	if err == nil && where != "" {
		err = fault.New(fault.Input, sampleIDHint,
			"found sample id %s, which is also in %s, expected unique ids", fault.Quote(id), where)
	}
	return err
}

// lateIDs does the work of SampleIDs.Add for consecutive rows in a goroutine of its own: looking a
// hash up takes as long as all else that is done for a row.
type lateIDs struct {
	batches chan []uint64
	done    chan struct{}
	alike   []int64 // rows whose hash an earlier one has; valid once done is closed, as is err
	err     error
}

func (s *SampleIDs) late() *lateIDs {
	l := &lateIDs{batches: make(chan []uint64, 4), done: make(chan struct{})}
	go func() {
		defer close(l.done)
		l.err = fault.Catch(func() error {
			row := int64(0)
			for hashes := range l.batches {
				for _, hash := range hashes {
					if s.seen.add(hash) {
						l.alike = append(l.alike, row)
					}
					row++
				}
			}
			return nil
		})()
		for range l.batches { // after a fault, so that send does not wait
		}
	}()
	return l
}

// send hands over the hashes of the next rows.
func (l *lateIDs) send(hashes []uint64) { l.batches <- hashes }

// end waits for all rows, and returns those whose hash an earlier one has.
func (l *lateIDs) end() (alike []int64, err error) {
	close(l.batches)
	<-l.done
	return l.alike, l.err
}

// hashSet is a set of hashes that takes 9 to 19 bytes each, where a map takes 30 and more. It is
// split by the highest byte into parts that grow one by one, so that growing never needs room for
// all hashes twice. The zero value is empty.
type hashSet struct{ parts [256]hashPart }

// hashPart is a table with linear probing, at most seven eighths full. 0 is an empty slot.
type hashPart struct {
	slots []uint64 // their number is a power of two
	used  int
}

// add adds a hash, and reports whether the set had it. 0 counts as 1.
func (s *hashSet) add(hash uint64) (known bool) {
	hash = max(hash, 1)
	p := &s.parts[hash>>56]
	if 8*(p.used+1) > 7*len(p.slots) {
		p.grow()
	}
	return p.add(hash)
}

// add adds a hash to a part that has an empty slot.
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
