//go:build cuda

package gpuverify

import (
	"tcbuild/fault"
	"tcbuild/gpuverify/cuda"
	"tcbuild/gpuverify/kernels"
	"tcbuild/gpuverify/regenerate"
	"tcbuild/store"
)

// card is a device in use. One goroutine, locked to its thread, makes all calls on it.
type card struct {
	*devices
	context *cuda.Context
	room    room
	report  DeviceReport

	upload, work *cuda.Stream // run concurrently: uploads, and everything else
	regenerate.Generators
	expand  kernels.Expand
	compare kernels.Compare

	// Scratch for the work on a batch before it is compared; the lanes use it one after the other.
	scratch struct {
		words                            cuda.Memory
		byIncidence, byEdges, fromStored kernels.Masks
	}
	comparisons []comparison
	lanes       [lanes]*lane

	// Batches circulate: empty -> worker -> full -> lane -> empty. Both channels have room for all.
	empty, full chan *batch
}

// comparison is a pair of masks of each sample that must be equal.
type comparison struct {
	method   Method        // used to regenerate expected
	expected kernels.Masks // in scratch
	// in scratch; the zero Masks for stored whole masks, which are in the lane
	found  kernels.Masks
	stored bool // found is the stored masks, as far as they are known
}

// lanes is how many batches are on a device at a time: one is uploaded while kernels process the
// other.
const lanes = 2

// prepare loads the kernels and allocates all device memory.
func (c *card) prepare() error {
	var err error
	if err = c.fit(); err != nil {
		return err
	}
	if c.upload, err = c.context.NewStream(); err != nil {
		return err
	}
	if c.work, err = c.context.NewStream(); err != nil {
		return err
	}
	if err = c.loadKernels(); err != nil {
		return err
	}
	if err = c.allocateScratch(); err != nil {
		return err
	}
	c.planComparisons()
	for i := range c.lanes {
		if c.lanes[i], err = c.newLane(); err != nil {
			return err
		}
	}
	return c.newBatches()
}

// newBatches makes one batch for each worker and one for each lane.
func (c *card) newBatches() error {
	count := max(1, c.Workers/len(c.list)) + lanes
	c.empty, c.full = make(chan *batch, count), make(chan *batch, count)
	for range count {
		b, err := newBatch(c.context, c.dataset.Manifest.Variant, c.tables, c.room)
		if err != nil {
			return err
		}
		c.empty <- b
	}
	return nil
}

// pinnedLimit bounds a batch's room for stored bytes, unless two samples need more: pinned memory
// is host memory, and each worker has a batch.
const pinnedLimit = 64 << 20

// fit makes the batches as large as the device's memory allows, down to one sample.
func (c *card) fit() error {
	budget := c.Devices.Memory
	free, err := c.context.FreeMemory()
	if err != nil {
		return err
	}
	if budget == 0 || budget > free {
		budget = free / 10 * 9 // the driver needs some itself
	}
	variant := c.dataset.Manifest.Variant
	payloadLimit := max(pinnedLimit, newRoom(variant, c.tables, 2).payload)
	for samples := c.chunkSize; samples > 0; samples-- {
		c.room = newRoom(variant, c.tables, samples)
		c.report.MemoryBytes = c.bytes(c.room)
		if c.report.MemoryBytes <= budget && c.room.payload <= payloadLimit {
			c.report.BatchSamples = samples
			return nil
		}
	}
	return fault.New(fault.Failed, "raise --gpu-memory, free device memory, or use --device cpu",
		"the graph and one sample need %d bytes of device memory (found %d usable, %d free)", c.report.MemoryBytes, budget, free)
}

// bytes is the total device memory of batches of the given room.
func (c *card) bytes(r room) int64 {
	masks := 0 // of each sample
	for _, needed := range []bool{c.regenerates(ByIncidence), c.regenerates(ByEdges), c.dataset.Manifest.Variant == store.Indices} {
		if needed {
			masks++
		}
	}
	scratch := masks*c.tables.Stride*r.samples + c.wordBytes(r) + c.valueBytes(r)
	return int64(c.tables.Bytes() + scratch + lanes*(r.headBytes()+r.payload+c.resultBytes(r.samples)))
}

func (c *card) wordBytes(r room) int {
	if !c.regenerates(ByEdges) && !c.tables.ByRules {
		return 0
	}
	return 4 * kernels.Groups(r.samples) * c.tables.Nodes()
}

func (c *card) valueBytes(r room) int {
	return 4 * kernels.Groups(r.samples) * c.tables.Terms()
}

// resultBytes is the size of all comparisons' results for a number of samples.
func (c *card) resultBytes(samples int) int {
	comparisons := 1
	if c.Method == Both && c.dataset.Manifest.Variant != store.Incidence {
		comparisons = 2
	}
	return comparisons * kernels.ResultSize(samples*len(c.rules.Masks))
}

// loadKernels loads the kernels and the tables that they read.
func (c *card) loadKernels() error {
	if err := kernels.Load(c.context, &c.expand, &c.compare); err != nil {
		return err
	}
	var err error
	c.compare.Masks = len(c.rules.Masks)
	if c.compare.Starts, err = cuda.Upload(c.context, c.tables.Starts); err != nil {
		return err
	}
	return c.Generators.Load(c.context, c.tables)
}

func (c *card) allocateScratch() error {
	var err error
	if c.scratch.words, err = c.context.Allocate(c.wordBytes(c.room)); err != nil {
		return err
	}
	if c.NodeWords.Values, err = c.context.Allocate(c.valueBytes(c.room)); err != nil {
		return err
	}
	for masks, needed := range map[*kernels.Masks]bool{
		&c.scratch.byIncidence: c.regenerates(ByIncidence),
		&c.scratch.byEdges:     c.regenerates(ByEdges),
		&c.scratch.fromStored:  c.dataset.Manifest.Variant == store.Indices,
	} {
		if masks.Stride = c.tables.Stride; needed {
			if masks.Memory, err = c.context.Allocate(c.tables.Stride * c.room.samples); err != nil {
				return err
			}
		}
	}
	return nil
}

// planComparisons decides what is compared: one method with the stored masks and, if both methods
// are asked for, the methods with each other.
func (c *card) planComparisons() {
	if c.Method == Both {
		c.comparisons = append(c.comparisons, comparison{method: ByEdges, expected: c.scratch.byEdges, found: c.scratch.byIncidence})
	}
	if c.dataset.Manifest.Variant != store.Incidence {
		stored := comparison{method: ByIncidence, expected: c.scratch.byIncidence, found: c.scratch.fromStored, stored: true}
		if c.Method == ByEdges {
			stored.method, stored.expected = ByEdges, c.scratch.byEdges
		}
		c.comparisons = append(c.comparisons, stored)
	}
}
