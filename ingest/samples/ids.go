package samples

import (
	"bytes"
	"math"

	"tcbuild/fault"
	"tcbuild/ingest/samples/distinct"
	"tcbuild/ingest/table"
)

const sampleIDHint = "give each sample a unique id, or set allow_duplicate_ids=true"

// idOrder finds empty and duplicate sample ids. It keeps a 64-bit hash of each id. If two are equal
// at the end, it reads the table again to compare the ids.
type idOrder struct {
	set    *tableSet
	hash   func(id []byte) uint64
	hashes distinct.Keys[distinct.Hash]
}

func (o *idOrder) add(p *part[*table.Batch]) (row int64, err error) {
	batch := p.batch.Twin()
	for i := p.from; i < p.to; i++ {
		row = p.first + int64(i)
		if p.failed != nil && row >= p.row {
			break
		}
		id := batch.Text(o.set.layout.id, i)
		if len(bytes.TrimSpace(id)) == 0 {
			return row, fault.New(fault.Input, sampleIDHint,
				"found sample id %s, expected a non-empty one", fault.Quote(id))
		}
		o.hashes.Add(distinct.Hash(o.hash(id)))
	}
	return row, nil
}

// mostRepeats limits the hashes that are looked for again: one duplicate is enough for an error.
const mostRepeats = 1 << 16

// checkEnd returns a fault.Input for the first id above a row that an earlier row has.
func (o *idOrder) checkEnd(above int64) error {
	repeated := make(map[distinct.Hash]bool)
	for hash, times := range o.hashes.All() {
		if times > 1 && len(repeated) < mostRepeats {
			repeated[hash] = true
		}
	}
	if len(repeated) == 0 {
		return nil
	}
	r, err := table.OpenFile(o.set.file)
	if err != nil {
		return err
	}
	defer r.Close()
	rows := make(map[string]int64) // of ids that may be repeated
	for b, err := range r.Batches() {
		if err != nil || b.First >= above {
			return err
		}
		for i := range b.Len {
			id, row := b.Text(o.set.layout.id, i), b.First+int64(i)
			if row >= above || !repeated[distinct.Hash(o.hash(id))] {
				continue
			}
			if earlier, known := rows[string(id)]; known {
				return fault.New(fault.Input, sampleIDHint, "read perturbations %s: "+
					"found sample id %s, which is also in %s, expected unique ids",
					r.Where(row), fault.Quote(id), r.Where(earlier))
			}
			rows[string(id)] = row
		}
	}
	return nil
}

// allRows is above all rows.
const allRows = math.MaxInt64
