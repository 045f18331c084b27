//go:build cuda

package gpuverify

import (
	"context"
	"sync"
	"sync/atomic"

	"tcbuild/gpuverify/cuda"
	"tcbuild/gpuverify/regenerate"
	"tcbuild/store"
)

// extent is how much samples take, or how much there is room for.
type extent struct {
	samples   int
	genes     int // perturbation indices
	positions int // stored removed positions
}

func (e extent) plus(o extent) extent {
	return extent{e.samples + o.samples, e.genes + o.genes, e.positions + o.positions}
}

func (e extent) within(room extent) bool {
	return e.samples <= room.samples && e.genes <= room.genes && e.positions <= room.positions
}

// Room for a sample of a batch, far above the average of any screen. A batch that fills up earlier
// is cut short.
const (
	genesPerSample     = 16
	positionsPerSample = 4096
)

// newRoom makes room for samples, and for any single one.
func newRoom(variant store.Variant, t *regenerate.Tables, samples int) extent {
	r := extent{samples: samples, genes: max(t.Genes, genesPerSample*samples)}
	if variant != store.Incidence {
		r.positions = max(t.Size(), positionsPerSample*samples)
	}
	return r
}

// A batch with room for an extent has, in this order: as int64, ptr (samples+1), the ends of the
// samples' removed positions (samples+1) and the perturbation indices; as uint32, the removed
// positions.
func (e extent) endsAt() int    { return 8 * (e.samples + 1) }
func (e extent) indicesAt() int { return 2 * e.endsAt() }
func (e extent) headBytes() int { return e.indicesAt() + 8*e.genes }
func (e extent) bytes() int     { return e.headBytes() + 4*e.positions }

// batch is samples on their way to a device, in pinned memory.
type batch struct {
	room, used         extent
	head, payload      []byte
	ptr, ends, indices []int64  // views of head
	positions          []uint32 // view of payload

	samples []sample // without payloads
	holders atomic.Int32
}

// newBatch makes a batch in memory of room.bytes().
func newBatch(memory []byte, room extent) *batch {
	b := &batch{room: room, head: memory[:room.headBytes()], payload: memory[room.headBytes():],
		samples: make([]sample, room.samples)}
	b.positions = cuda.View[uint32](b.payload)
	numbers := cuda.View[int64](b.head)
	ends, indices := room.endsAt()/8, room.indicesAt()/8
	b.ptr, b.ends, b.indices = numbers[:ends], numbers[ends:indices], numbers[indices:]
	b.ptr[0], b.ends[0] = 0, 0
	return b
}

// copyPortion copies a portion to where room is reserved for it.
func (b *batch) copyPortion(at extent, p *portion) {
	copy(b.samples[at.samples:], p.samples)
	copy(b.positions[at.positions:], p.positions)
	genes := at.genes
	for k, s := range p.samples {
		for _, gene := range s.genes {
			b.indices[genes] = int64(gene)
			genes++
		}
		b.ptr[at.samples+k+1] = int64(genes)
		b.ends[at.samples+k+1] = int64(at.positions + p.ends[k])
	}
}

// removed is the stored removals of a sample.
func (b *batch) removed(k int) []uint32 { return b.positions[b.ends[k]:b.ends[k+1]] }

// usedHead and usedPayload are the parts that the device needs.
func (b *batch) usedHead() []byte    { return b.head[:b.room.indicesAt()+8*b.used.genes] }
func (b *batch) usedPayload() []byte { return b.payload[:4*b.used.positions] }

// portion is samples that one goroutine has decoded, without payloads.
type portion struct {
	size      extent
	samples   []sample
	positions []uint32
	ends      []int // by sample: where its positions end
}

// portionSamples is how many samples a goroutine copies at a time: few enough that their positions
// stay in a core's cache, enough that goroutines rarely wait for each other.
const portionSamples = 16

func (p *portion) add(s sample, removed []uint32, e extent) {
	p.size = p.size.plus(e)
	p.samples = append(p.samples, s)
	p.positions = append(p.positions, removed...)
	p.ends = append(p.ends, len(p.positions))
}

func (p *portion) clear() {
	*p = portion{samples: p.samples[:0], positions: p.positions[:0], ends: p.ends[:0]}
}

// batches circulate: empty -> several goroutines, which fill one together -> full -> a lane of the
// device -> empty. Both channels have room for all.
type batches struct {
	empty, full chan *batch

	mu      sync.Mutex // guards filling, and used of what it points to
	filling *batch     // nil: none
}

// pass copies a portion, which fits an empty batch, into the batch that is being filled or, if that
// has no room, into the next one.
func (c *batches) pass(ctx context.Context, p *portion) error {
	b, at, err := c.reserve(ctx, p.size)
	if err != nil {
		return err
	}
	b.copyPortion(at, p)
	c.release(b)
	return nil
}

// reserve finds room in a batch, which must be released.
func (c *batches) reserve(ctx context.Context, e extent) (b *batch, at extent, err error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.filling != nil && !c.filling.used.plus(e).within(c.filling.room) {
		c.flush()
	}
	if c.filling == nil {
		select {
		case c.filling = <-c.empty:
			c.filling.used = extent{}
			c.filling.holders.Store(1) // it may be given room
		case <-ctx.Done():
			return nil, at, context.Cause(ctx)
		}
	}
	b, at = c.filling, c.filling.used
	b.used = at.plus(e)
	b.holders.Add(1)
	return b, at, nil
}

// flush lets nothing be added to the batch that is being filled, if any.
func (c *batches) flush() {
	if b := c.filling; b != nil {
		c.filling = nil
		c.release(b)
	}
}

// release passes a batch on when no goroutine writes to it any more, and none will.
func (c *batches) release(b *batch) {
	if b.holders.Add(-1) == 0 {
		c.full <- b
	}
}
