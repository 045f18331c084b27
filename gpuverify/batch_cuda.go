//go:build cuda

package gpuverify

import (
	"tcbuild/encode"
	"tcbuild/gpuverify/cuda"
	"tcbuild/gpuverify/regenerate"
	"tcbuild/ingest"
	"tcbuild/store"
)

// room is how much a batch can hold. One sample always fits.
type room struct {
	samples int
	genes   int // perturbation indices
	payload int // stored bytes: removed positions, 4 each, or whole masks, a stride each
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
	switch variant {
	case store.Indices:
		r.payload = 4 * (t.Stride + positionsPerSample*samples)
	case store.FullMasks:
		r.payload = t.Stride * samples
	}
	return r
}

// A batch's head has, as int64: ptr (samples+1), the ends of the samples' removed positions
// (samples+1), the number of known positions of each sample (samples), and the perturbation
// indices.
func (r room) endsAt() int    { return 8 * (r.samples + 1) }
func (r room) knownAt() int   { return r.endsAt() + 8*(r.samples+1) }
func (r room) indicesAt() int { return r.knownAt() + 8*r.samples }
func (r room) headBytes() int { return r.indicesAt() + 8*r.genes }

// batch is samples on their way to a device, in pinned memory. Its current owner may write to it.
type batch struct {
	room
	variant store.Variant
	stride  int

	head, payload             []byte
	ptr, ends, known, indices []int64 // views of head
	positions                 []uint32

	samples []sampleName // the samples in the batch

	// Only in the last batch of a chunk: the chunk's number, and all its samples.
	number int
	all    *ingest.Samples
}

// sampleName names a sample in a report.
type sampleName struct {
	index int
	id    string
}

func newBatch(c *cuda.Context, variant store.Variant, t *regenerate.Tables, r room) (*batch, error) {
	head, err := c.AllocatePinned(r.headBytes())
	if err != nil {
		return nil, err
	}
	b := &batch{room: r, variant: variant, stride: t.Stride, head: head}
	if r.payload > 0 {
		if b.payload, err = c.AllocatePinned(r.payload); err != nil {
			return nil, err
		}
		b.positions = cuda.View[uint32](b.payload)
	}
	numbers := cuda.View[int64](head)
	b.ptr, b.ends, b.known = numbers[:r.samples+1], numbers[r.endsAt()/8:r.knownAt()/8], numbers[r.knownAt()/8:r.indicesAt()/8]
	b.indices = numbers[r.indicesAt()/8:]
	b.empty()
	return b, nil
}

// empty removes all samples from the batch.
func (b *batch) empty() {
	b.samples, b.all = b.samples[:0], nil
	b.ptr[0], b.ends[0] = 0, 0
}

// fits reports whether a sample with so many genes and stored bytes fits.
func (b *batch) fits(genes, stored int) bool {
	return len(b.samples) < b.room.samples && b.genesUsed()+genes <= b.room.genes && b.payloadUsed()+stored <= b.room.payload
}

func (b *batch) genesUsed() int { return int(b.ptr[len(b.samples)]) }

func (b *batch) payloadUsed() int {
	switch b.variant {
	case store.Indices:
		return 4 * int(b.ends[len(b.samples)])
	case store.FullMasks:
		return b.stride * len(b.samples)
	}
	return 0
}

// add copies in a sample that fits.
func (b *batch) add(index int, sample *store.Sample, s decoded) {
	k := len(b.samples)
	genes := b.indices[b.ptr[k]:]
	for i, gene := range sample.Genes {
		genes[i] = int64(gene)
	}
	copy(b.positions[b.ends[k]:], s.removed)
	if b.variant == store.FullMasks {
		copy(b.payload[k*b.stride:], s.masks)
	}
	b.ptr[k+1] = b.ptr[k] + int64(len(sample.Genes))
	b.ends[k+1] = b.ends[k] + int64(len(s.removed))
	b.known[k] = int64(s.known)
	b.samples = append(b.samples, sampleName{index, string(sample.ID)})
}

// decoded is a sample's stored masks.
type decoded struct {
	removed []uint32 // of an indices dataset
	masks   []byte   // of a full-masks dataset
	known   int      // number of leading positions that could be decoded
	bytes   int      // room needed
}

func (b *batch) decode(decoder encode.Decoder, payload []byte, size int) (s decoded, err error) {
	switch b.variant {
	case store.Indices:
		s.removed, err = decoder.Removed(payload)
		s.known, s.bytes = decodedPositions(s.removed, err, size), 4*len(s.removed)
	case store.FullMasks:
		s.masks, err = decoder.Masks(payload)
		s.known, s.bytes = len(s.masks), b.stride
	}
	return s, err
}

// usedHead is the part of the head that the device needs.
func (b *batch) usedHead() []byte { return b.head[:b.indicesAt()+8*b.genesUsed()] }

// usedPayload is the part of the payload that the device needs.
func (b *batch) usedPayload() []byte { return b.payload[:b.payloadUsed()] }
