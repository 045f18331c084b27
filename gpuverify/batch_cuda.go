//go:build cuda

package gpuverify

import (
	"tcbuild/gpuverify/cuda"
	"tcbuild/gpuverify/regenerate"
	"tcbuild/store"
)

// room is how much a batch can hold. One sample always fits.
type room struct {
	samples   int
	genes     int // perturbation indices
	positions int // stored removed positions
}

// On top of the maximum of one sample, each sample adds room far above the average of any screen. A
// batch that fills up earlier is cut short.
const (
	genesPerSample     = 16
	positionsPerSample = 4096
)

// newRoom makes room for samples.
func newRoom(variant store.Variant, t *regenerate.Tables, samples int) room {
	r := room{samples: samples, genes: t.Genes + genesPerSample*samples}
	if variant != store.Incidence {
		r.positions = t.Size() + positionsPerSample*samples
	}
	return r
}

// A batch has, in this order: as int64, ptr (samples+1), the ends of the samples' removed positions
// (samples+1) and the perturbation indices; as uint32, the removed positions.
func (r room) endsAt() int    { return 8 * (r.samples + 1) }
func (r room) indicesAt() int { return 2 * r.endsAt() }
func (r room) headBytes() int { return r.indicesAt() + 8*r.genes }
func (r room) bytes() int     { return r.headBytes() + 4*r.positions }

// batch is samples on their way to a device, in pinned memory. Its current owner may write to it.
type batch struct {
	room
	head, payload      []byte
	ptr, ends, indices []int64  // views of head
	positions          []uint32 // view of payload

	samples []sample // without payloads
}

func newBatch(c *cuda.Context, r room) (*batch, error) {
	memory, err := c.AllocatePinned(r.bytes())
	if err != nil {
		return nil, err
	}
	b := &batch{room: r, head: memory[:r.headBytes()], payload: memory[r.headBytes():]}
	b.positions = cuda.View[uint32](b.payload)
	numbers := cuda.View[int64](b.head)
	ends, indices := r.endsAt()/8, r.indicesAt()/8
	b.ptr, b.ends, b.indices = numbers[:ends], numbers[ends:indices], numbers[indices:]
	b.empty()
	return b, nil
}

// empty removes all samples from the batch.
func (b *batch) empty() {
	b.samples = b.samples[:0]
	b.ptr[0], b.ends[0] = 0, 0
}

// fits reports whether a sample with so many genes and removed positions fits.
func (b *batch) fits(genes, removed int) bool {
	return len(b.samples) < b.room.samples && b.deleted()+genes <= b.room.genes &&
		b.stored()+removed <= b.room.positions
}

// deleted and stored are the numbers of perturbation indices and of removed positions.
func (b *batch) deleted() int { return int(b.ptr[len(b.samples)]) }
func (b *batch) stored() int  { return int(b.ends[len(b.samples)]) }

// add copies in a sample that fits, with its stored removals.
func (b *batch) add(s sample, removed []uint32) {
	k := len(b.samples)
	genes := b.indices[b.ptr[k]:]
	for i, gene := range s.genes {
		genes[i] = int64(gene)
	}
	copy(b.positions[b.ends[k]:], removed)
	b.ptr[k+1] = b.ptr[k] + int64(len(s.genes))
	b.ends[k+1] = b.ends[k] + int64(len(removed))
	b.samples = append(b.samples, s)
}

// removed is the stored removals of a sample.
func (b *batch) removed(k int) []uint32 { return b.positions[b.ends[k]:b.ends[k+1]] }

// usedHead and usedPayload are the parts that the device needs.
func (b *batch) usedHead() []byte    { return b.head[:b.indicesAt()+8*b.deleted()] }
func (b *batch) usedPayload() []byte { return b.payload[:4*b.stored()] }
