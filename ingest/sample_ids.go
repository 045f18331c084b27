package ingest

import (
	"bytes"

	"github.com/cespare/xxhash/v2"

	"tcbuild/fault"
)

const sampleIDHint = "give each sample an id of its own, or pass --allow-duplicate-ids"

// SampleIDs finds sample ids that an earlier row has too. nil finds none. It keeps a 64-bit hash of
// each id, in 9 to 19 bytes; where two are equal, earlier tells whether the ids are.
type SampleIDs struct {
	seen hashSet
	// the first row above the given one with the id; "" for none
	earlier func(id []byte, row int64) (where string, err error)
}

// Add refuses, as a fault.Input, an id that is empty or that an earlier row has.
func (s *SampleIDs) Add(id []byte, row int64) error {
	if s == nil {
		return nil
	}
	if len(bytes.TrimSpace(id)) == 0 {
		return fault.New(fault.Input, sampleIDHint, "found sample id %s, expected one that is not empty", fault.Quote(id))
	}
	if !s.seen.add(xxhash.Sum64(id)) {
		return nil
	}
	where, err := s.earlier(id, row)
	if err == nil && where != "" {
		err = fault.New(fault.Input, sampleIDHint, "found sample id %s, which %s has as well", fault.Quote(id), where)
	}
	return err
}
