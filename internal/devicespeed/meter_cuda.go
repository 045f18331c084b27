//go:build cuda

package devicespeed

import (
	"context"
	"errors"
	"fmt"
	"runtime"
	"time"

	"tcbuild/encode"
	"tcbuild/gpuverify/cuda"
	"tcbuild/gpuverify/kernels"
	"tcbuild/gpuverify/regenerate"
)

// Measure measures how fast devices make masks, one device after the other.
func Measure(ctx context.Context, o Options) ([]Speed, error) {
	list, err := cuda.Select(o.Devices.Ordinals)
	if err != nil {
		return nil, fmt.Errorf("measure CUDA devices: %w", err)
	}
	rules, err := regenerate.NewRules(o.Graph, o.ByRule)
	if err != nil {
		return nil, err
	}
	incidence := regenerate.NewIncidence(rules)
	tables, err := regenerate.NewTables(rules, incidence)
	if err != nil {
		return nil, err
	}
	var speeds []Speed
	for _, device := range list {
		speed, err := measureDevice(ctx, device, o, tables, newCPUBatch(rules, incidence, o.Batch))
		if err != nil {
			return nil, cuda.Failure(err, "measure masks on %s: %w", device, err)
		}
		speeds = append(speeds, speed)
	}
	return speeds, nil
}

// meter measures one device. Its thread is locked to the device's context.
type meter struct {
	regenerate.Generators
	context    *cuda.Context
	tables     *regenerate.Tables
	stream     *cuda.Stream
	begin, end cuda.Event

	samples    int
	deleted    int    // genes, of all samples
	host       []byte // pinned: ptr and perturbation indices, then room for whole masks
	indices    cuda.Memory
	indexBytes int
	words      cuda.Memory
	bits       kernels.Bits // masks, a bit for each position
	results    kernels.Results
	// whole masks are uploaded to alternating parts, so that no cache holds all of them
	space cuda.Memory
	cpu   *cpuBatch
}

// spaceBytes is larger than the caches of any device.
var spaceBytes = 256 << 20

func measureDevice(ctx context.Context, device cuda.Device, o Options, t *regenerate.Tables, cpu *cpuBatch) (speed Speed, err error) {
	runtime.LockOSThread()
	defer runtime.UnlockOSThread()
	opened, err := device.Open()
	if err != nil {
		return speed, err
	}
	defer func() {
		if closing := opened.Close(); err == nil {
			err = closing
		}
	}()
	m := &meter{context: opened, tables: t, samples: len(o.Batch), cpu: cpu}
	if err := m.prepare(o); err != nil {
		return speed, err
	}
	speed = Speed{
		Ordinal: device.Ordinal, Name: device.Name, IndexBytes: int64(m.indexBytes), MaskBytes: int64(m.maskBytes()),
		BitBytes: int64(m.bits.Size()), MemoryBytes: m.memoryBytes(),
	}
	for range o.Rounds {
		round, err := m.round(ctx)
		if err != nil {
			return speed, err
		}
		speed.Rounds = append(speed.Rounds, round)
	}
	return speed, nil
}

// maskBytes is the size of the whole masks of the batch.
func (m *meter) maskBytes() int { return m.samples * m.tables.Stride }

// memoryBytes is the device memory needed to make and compare the masks of the batch.
func (m *meter) memoryBytes() int64 {
	return int64(m.tables.Bytes() + m.indexBytes + m.words.Size() + m.NodeWords.Values.Size() + m.bits.Size() + m.results.Size())
}

func (m *meter) prepare(o Options) (err error) {
	if m.stream, err = m.context.NewStream(); err != nil {
		return err
	}
	for _, event := range []*cuda.Event{&m.begin, &m.end} {
		if *event, err = m.context.NewEvent(); err != nil {
			return err
		}
	}
	if err = m.Generators.Load(m.context); err != nil {
		return err
	}
	if err = m.Generators.Upload(m.context, m.tables); err != nil {
		return err
	}
	for _, sample := range o.Batch {
		m.deleted += len(sample)
	}
	m.indexBytes = 8 * (m.samples + 1 + m.deleted)
	if m.host, err = m.context.AllocatePinned(max(m.indexBytes, m.maskBytes())); err != nil {
		return err
	}
	numbers := cuda.View[int64](m.host)
	numbers[0] = 0
	indices := numbers[m.samples+1:]
	for k, sample := range o.Batch {
		numbers[k+1] = numbers[k] + int64(len(sample))
		for i, gene := range sample {
			indices[int(numbers[k])+i] = int64(gene)
		}
	}
	m.bits.Stride, m.results.Masks = m.tables.Stride, m.Compare.Masks
	groups := kernels.Groups(m.samples)
	for _, room := range []struct {
		memory *cuda.Memory
		bytes  int
	}{
		{&m.indices, m.indexBytes}, {&m.words, 4 * groups * m.tables.Nodes()}, {&m.NodeWords.Values, 4 * groups * m.tables.Terms()},
		{&m.bits.Memory, kernels.BitBytes(m.samples, m.tables.Stride)}, {&m.results.Memory, kernels.ResultBytes(m.Compare.Masks, m.samples)},
		{&m.space, max(spaceBytes, 2*m.maskBytes())},
	} {
		if *room.memory, err = m.context.Allocate(room.bytes); err != nil {
			return err
		}
	}
	return nil
}

// round measures everything once.
func (m *meter) round(ctx context.Context) (r Round, err error) {
	half := m.space.Size() / 2
	var fill, copied float64
	for _, measurement := range []struct {
		seconds *float64
		work    func(run int)
	}{
		// first: the kernels need them
		{&r.IndexUpload, func(int) { m.stream.Upload(m.indices, m.host[:m.indexBytes]) }},
		{&r.MaskUpload, func(run int) { m.stream.Upload(m.part(run), m.host[:m.maskBytes()]) }},
		{&fill, func(int) { m.stream.Fill(m.space, 1, m.space.Size()) }},
		{&copied, func(int) { m.stream.Copy(m.space.First(half), m.space.From(half)) }},
		{&r.ByIncidence, m.makeByIncidence},
		{&r.ByEdges, m.compareByEdges},
	} {
		if *measurement.seconds, err = m.time(ctx, measurement.work); err != nil {
			return r, err
		}
	}
	r.FillSpeed, r.CopySpeed = float64(m.space.Size())/fill, 2*float64(half)/copied
	r.CPUIncidence, r.CPUEdges = m.cpu.time(m.cpu.byIncidence), m.cpu.time(m.cpu.byEdges)
	return r, nil
}

func (m *meter) batch() kernels.Batch {
	return kernels.Batch{Samples: m.samples, Deleted: m.deleted, Ptr: m.indices, PerturbationIndices: m.indices.From(8 * (m.samples + 1))}
}

func (m *meter) makeByIncidence(int) {
	b := m.batch()
	if m.tables.ByRules {
		m.NodeWords.Run(m.stream, b, m.words)
	}
	m.stream.Fill(m.bits.Memory, 0, m.bits.Size())
	m.Scatter.Regenerate(m.stream, b, m.words, m.bits)
}

// compareByEdges compares the bits, which were made by incidence, with the edges.
func (m *meter) compareByEdges(int) {
	m.NodeWords.Run(m.stream, m.batch(), m.words)
	m.results.Clear(m.stream)
	m.Compare.Run(m.stream, m.samples, m.words, m.bits, false, true, m.results)
}

// part is memory for the whole masks of the batch, different in each run.
func (m *meter) part(run int) cuda.Memory {
	parts := m.space.Size() / m.maskBytes()
	return m.space.From(run % parts * m.maskBytes()).First(m.maskBytes())
}

const (
	measureTime = 20 * time.Millisecond // approximate duration of a measurement
	mostRuns    = 1000
)

// time returns the seconds that the device takes for the work, after a warm-up run.
func (m *meter) time(ctx context.Context, work func(run int)) (float64, error) {
	runs := 1
	for warm := false; ; warm = true {
		m.stream.Record(m.begin)
		for run := range runs {
			work(run)
		}
		m.stream.Record(m.end)
		if err := m.stream.Err(); err != nil {
			return 0, err
		}
		if err := m.end.Synchronize(); err != nil {
			return 0, err
		}
		took, err := m.end.Since(m.begin)
		if err != nil || ctx.Err() != nil {
			return 0, errors.Join(err, context.Cause(ctx))
		}
		took = max(took, 1)
		if warm {
			return took.Seconds() / float64(runs), nil
		}
		runs = int(max(1, min(mostRuns, measureTime/took)))
	}
}

// cpuBatch makes the masks of a batch on one core.
type cpuBatch struct {
	scatter *regenerate.Scatterer
	look    *regenerate.Looker
	batch   [][]uint32
	masks   [][]byte
}

func newCPUBatch(rules *regenerate.Rules, incidence regenerate.Lists, batch [][]uint32) *cpuBatch {
	return &cpuBatch{regenerate.NewScatterer(rules, incidence), regenerate.NewLooker(rules), batch, make([][]byte, len(batch))}
}

func (c *cpuBatch) byIncidence() {
	for k, genes := range c.batch {
		c.scatter.Regenerate(genes)
		c.write(k, c.scatter.Rows...)
	}
}

func (c *cpuBatch) byEdges() {
	for first := 0; first < len(c.batch); first += regenerate.BatchSamples {
		for k, removed := range c.look.Regenerate(c.batch[first:min(first+regenerate.BatchSamples, len(c.batch))]) {
			c.write(first+k, removed)
		}
	}
}

// write writes the whole masks of a sample, given its removed positions in any number of lists.
func (c *cpuBatch) write(sample int, removed ...[]uint32) {
	masks := encode.Fill(c.masks[sample], c.look.Size)
	for _, positions := range removed {
		for _, position := range positions {
			masks[position] = 0
		}
	}
	c.masks[sample] = masks
}

// time returns the seconds that the work takes, after a warm-up run.
func (c *cpuBatch) time(work func()) float64 {
	work()
	start, runs := time.Now(), 0
	for ; runs == 0 || time.Since(start) < measureTime; runs++ {
		work()
	}
	return time.Since(start).Seconds() / float64(runs)
}
