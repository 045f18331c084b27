package samples

import (
	"bytes"

	"github.com/cespare/xxhash/v2"

	"tcbuild/fault"
	"tcbuild/ingest/samples/distinct"
	"tcbuild/ingest/table"
)

// SampleIDs finds empty and duplicate sample ids, for one pass over a table. It keeps a 64-bit hash
// of each id. If two hashes are equal in the end, it reads the table again, and compares the ids. A
// nil *SampleIDs finds none.
type SampleIDs struct {
	table  *Table
	hash   func(id []byte) uint64
	hashes distinct.Keys[distinct.Hash]
}

// SampleIDs returns nil if ids are not read from the table, or need not be unique.
func (p *Table) SampleIDs() *SampleIDs {
	if p.layout.id < 0 || p.options.AllowDuplicateIDs || p.distinctIDs {
		return nil
	}
	return &SampleIDs{table: p, hash: xxhash.Sum64}
}

const sampleIDHint = "give each sample a unique id, or set allow_duplicate_ids=true"

// Add adds the id of the next row. An empty one is a fault.Input.
func (s *SampleIDs) Add(id []byte) error {
	if s == nil {
		return nil
	}
	if len(bytes.TrimSpace(id)) == 0 {
		return fault.New(fault.Input, sampleIDHint,
			"found sample id %s, expected a non-empty one", fault.Quote(id))
	}
	s.hashes.Add(distinct.Hash(s.hash(id)))
	return nil
}

// mostRepeats limits the hashes that are looked for again: one duplicate is enough for an error.
const mostRepeats = 1 << 16

// Check returns a fault.Input if two rows have one id.
func (s *SampleIDs) Check() error {
	if s == nil {
		return nil
	}
	repeated := make(map[distinct.Hash]bool)
	for hash, times := range s.hashes.All() {
		if times > 1 && len(repeated) < mostRepeats {
			repeated[hash] = true
		}
	}
	if len(repeated) == 0 {
		return nil
	}
	r, err := table.OpenFile(s.table.file, s.table.options.text)
	if err != nil {
		return err
	}
	defer r.Close()
	rows := make(map[string]int64) // of the ids with these hashes
	return r.Each(func(batch *table.Batch, i int) error {
		id, row := batch.Text(s.table.layout.id, i), batch.First+int64(i)
		if !repeated[distinct.Hash(s.hash(id))] {
			return nil
		}
		if first, again := rows[string(id)]; again {
			return fault.New(fault.Input, sampleIDHint, "read perturbations %s: "+
				"found sample id %s, which is also in %s, expected unique ids",
				r.Where(row), fault.Quote(id), r.Where(first))
		}
		rows[string(id)] = row
		return nil
	})
}
