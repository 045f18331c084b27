//go:build cuda

package gpuverify

import (
	"tcbuild/fault"
	"tcbuild/gpuverify/cuda"
	"tcbuild/gpuverify/kernels"
)

// card is a device in use. One goroutine, locked to its thread, makes all calls on it.
type card struct {
	*devices
	context *cuda.Context
	room    extent // of a batch
	report  DeviceReport
	cpu     *worker // checks samples again in which the device finds differences
	removed []int64 // positions that the device found removed, by mask: if none are stored

	upload, work *cuda.Stream // run concurrently: uploads, and everything else
	kernels      kernels.Kernels
	// Scratch for the work on a batch; the lanes use it one after the other.
	words, values cuda.Memory
	bits          kernels.Bits // all 0 between batches
	lanes         [lanes]*lane
	batches       batches
}

// lanes is how many batches are on a device at a time: one is uploaded while kernels process the
// other.
const lanes = 2

// prepare uploads the tables and allocates all memory but the batches'.
func (c *card) prepare() (err error) {
	if err = c.fit(); err != nil {
		return err
	}
	if c.kernels.Graph, err = c.tables.Upload(c.context); err != nil {
		return err
	}
	c.upload, c.work = c.context.NewStream(), c.context.NewStream()
	c.words = c.context.Allocate(c.wordBytes(c.room))
	c.values = c.context.Allocate(c.valueBytes(c.room))
	bytes := kernels.BitBytes(c.room.samples, c.tables.Stride)
	c.bits = kernels.Bits{Memory: c.context.Allocate(bytes), Stride: c.tables.Stride}
	for i := range c.lanes {
		c.lanes[i] = c.newLane()
	}
	if err = c.context.Err(); err != nil {
		return err
	}
	c.cpu, c.removed = newWorker(c.verifier), make([]int64, len(c.rules.Masks))
	c.work.Fill(c.bits.Memory, 0, c.bits.Size())
	return c.work.Err()
}

// batchCount is how many batches circulate: while one is filled, another can be handed over.
const batchCount = lanes + 2

// makeBatches allocates the batches. They are filled from the first one on, because pinning memory
// takes some milliseconds for each.
func (c *card) makeBatches() error {
	for range batchCount {
		memory := c.context.AllocatePinned(c.room.bytes())
		if err := c.context.Err(); err != nil {
			return err
		}
		c.batches.empty <- newBatch(memory, c.room)
	}
	return nil
}

// fit makes the batches as large as the memory of the device allows, down to one sample.
func (c *card) fit() error {
	budget := c.Devices.Memory
	free, err := c.context.FreeMemory()
	if err != nil {
		return err
	}
	if budget == 0 || budget > free {
		budget = free / 10 * 9 // the driver needs some itself
	}
	for samples := c.chunkSize; samples > 0; samples-- {
		c.room = newRoom(c.dataset.Manifest.Variant, c.tables, samples)
		c.report.MemoryBytes = c.bytes(c.room)
		if c.report.MemoryBytes <= budget {
			c.report.BatchSamples = samples
			return nil
		}
	}
	return fault.New(fault.Failed, "raise --gpu-memory, free device memory, or use --device cpu",
		"the graph and one sample need %d bytes of device memory (found %d usable, %d free)",
		c.report.MemoryBytes, budget, free)
}

// bytes is the total device memory of batches of the given room.
func (c *card) bytes(r extent) int64 {
	scratch := kernels.BitBytes(r.samples, c.tables.Stride) + c.wordBytes(r) + c.valueBytes(r)
	results := kernels.ResultBytes(len(c.rules.Masks), r.samples)
	return int64(c.tables.Bytes() + scratch + lanes*(r.bytes()+results))
}

func (c *card) wordBytes(r extent) int {
	if !c.regenerates(ByEdges) && !c.tables.ByRules {
		return 0
	}
	return 4 * kernels.Groups(r.samples) * c.tables.Nodes()
}

func (c *card) valueBytes(r extent) int {
	return 4 * kernels.Groups(r.samples) * c.tables.Terms()
}
