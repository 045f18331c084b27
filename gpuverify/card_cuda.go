//go:build cuda

package gpuverify

import (
	"bytes"
	"fmt"
	"os"
	"strconv"
	"strings"

	"tcbuild/fault"
	"tcbuild/gpuverify/cuda"
	"tcbuild/gpuverify/kernels"
)

// card is a device in use. One goroutine, locked to its thread, makes all calls on it.
type card struct {
	*devices
	context *cuda.Context
	room    room
	report  DeviceReport
	cpu     *worker // checks samples again in which the device finds differences

	upload, work *cuda.Stream // run concurrently: uploads, and everything else
	kernels      kernels.Kernels
	// Scratch for the work on a batch; the lanes use it one after the other.
	words, values cuda.Memory
	bits          kernels.Bits // all 0 between batches
	lanes         [lanes]*lane

	// Batches circulate: empty -> worker -> full -> lane -> empty. Both channels have room for all.
	empty, full chan *batch
}

// lanes is how many batches are on a device at a time: one is uploaded while kernels process the
// other.
const lanes = 2

// prepare uploads the tables and allocates all memory.
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
	if c.kernels.Graph, err = c.tables.Upload(c.context); err != nil {
		return err
	}
	if err = c.allocateScratch(); err != nil {
		return err
	}
	for i := range c.lanes {
		if c.lanes[i], err = c.newLane(); err != nil {
			return err
		}
	}
	c.cpu = newWorker(c.verifier)
	return c.newBatches()
}

// newBatches makes one batch for each worker and one for each lane, or as many as may be pinned.
func (c *card) newBatches() error {
	count := max(1, c.Workers/len(c.list)) + lanes
	count = min(count, max(1+lanes, int(c.pinned()/int64(c.room.bytes()))))
	c.empty, c.full = make(chan *batch, count), make(chan *batch, count)
	for range count {
		b, err := newBatch(c.context, c.room)
		if err != nil {
			return err
		}
		c.empty <- b
	}
	return nil
}

// fit makes the batches as large as the memory of the device and of the host allows, down to one
// sample.
func (c *card) fit() error {
	budget := c.Devices.Memory
	free, err := c.context.FreeMemory()
	if err != nil {
		return err
	}
	if budget == 0 || budget > free {
		budget = free / 10 * 9 // the driver needs some itself
	}
	pinned := c.pinned()
	for samples := c.chunkSize; samples > 0; samples-- {
		c.room = newRoom(c.dataset.Manifest.Variant, c.tables, samples)
		c.report.MemoryBytes = c.bytes(c.room)
		if c.report.MemoryBytes <= budget && int64((1+lanes)*c.room.bytes()) <= pinned {
			c.report.BatchSamples = samples
			return nil
		}
	}
	if need := int64((1 + lanes) * c.room.bytes()); need > pinned {
		return fault.New(fault.Failed, "raise --pinned-memory, free memory, or use --device cpu",
			"batches of one sample need %d bytes of locked memory (found %d usable)", need, pinned)
	}
	return fault.New(fault.Failed, "raise --gpu-memory, free device memory, or use --device cpu",
		"the graph and one sample need %d bytes of device memory (found %d usable, %d free)",
		c.report.MemoryBytes, budget, free)
}

// bytes is the total device memory of batches of the given room.
func (c *card) bytes(r room) int64 {
	scratch := kernels.BitBytes(r.samples, c.tables.Stride) + c.wordBytes(r) + c.valueBytes(r)
	results := kernels.ResultBytes(len(c.rules.Masks), r.samples)
	return int64(c.tables.Bytes() + scratch + lanes*(r.bytes()+results))
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

func (c *card) allocateScratch() error {
	var err error
	if c.words, err = c.context.Allocate(c.wordBytes(c.room)); err != nil {
		return err
	}
	if c.values, err = c.context.Allocate(c.valueBytes(c.room)); err != nil {
		return err
	}
	c.bits.Stride = c.tables.Stride
	bytes := kernels.BitBytes(c.room.samples, c.tables.Stride)
	if c.bits.Memory, err = c.context.Allocate(bytes); err != nil {
		return err
	}
	c.work.Fill(c.bits.Memory, 0, c.bits.Size())
	return c.work.Err()
}

// pinnedShare is which part of the machine's available memory may be locked unless Devices says.
const pinnedShare = 8

// pinned is how many bytes of the host's memory may be locked for each device. Locked memory is
// lost to all other programs.
func (d *devices) pinned() int64 {
	total := d.Options.Devices.Pinned
	if total == 0 {
		total = d.available / pinnedShare
	}
	return total / int64(len(d.list))
}

// availableMemory is how many bytes the machine can give to programs, and a limit on this one's
// group leaves.
func availableMemory() (int64, error) {
	text, err := os.ReadFile("/proc/meminfo")
	if err != nil {
		return 0, err
	}
	_, rest, _ := bytes.Cut(text, []byte("MemAvailable:"))
	fields := strings.Fields(string(rest))
	if len(fields) == 0 {
		return 0, fmt.Errorf("read /proc/meminfo: found no MemAvailable")
	}
	kilobytes, err := strconv.ParseInt(fields[0], 10, 64)
	if err != nil {
		return 0, fmt.Errorf("read /proc/meminfo: MemAvailable: %w", err)
	}
	available := kilobytes << 10
	if limit, err := os.ReadFile("/sys/fs/cgroup/memory.max"); err == nil {
		if most, err := strconv.ParseInt(strings.TrimSpace(string(limit)), 10, 64); err == nil {
			available = min(available, most)
		}
	}
	return available, nil
}
