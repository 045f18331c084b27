//go:build cuda

package gpuverify

import (
	"slices"

	"tcbuild/fault"
	"tcbuild/gpuverify/cuda"
	"tcbuild/gpuverify/kernels"
	"tcbuild/gpuverify/regenerate"
	"tcbuild/store"
)

// lane is a batch's memory on the device: while kernels work in one lane, the next batch is
// uploaded to another.
type lane struct {
	head, payload cuda.Memory // copies of the batch's
	results       kernels.Results
	host          []byte // pinned copy of the results
	batch         *batch // nil when the lane is free

	// The start and the end of the work on the batch.
	sent, uploaded, started, scattered, compared, done cuda.Event
}

func (c *card) newLane() *lane {
	bytes := kernels.ResultBytes(len(c.rules.Masks), c.room.samples)
	l := &lane{
		head:    c.context.Allocate(c.room.headBytes()),
		payload: c.context.Allocate(4 * c.room.positions),
		results: kernels.Results{Memory: c.context.Allocate(bytes), Masks: c.kernels.Masks},
		host:    c.context.AllocatePinned(bytes),
	}
	for _, event := range []*cuda.Event{&l.sent, &l.uploaded, &l.started, &l.scattered, &l.compared,
		&l.done} {
		*event = c.context.NewEvent()
	}
	return l
}

// start queues all work on a batch, without waiting.
func (c *card) start(l *lane, b *batch) error {
	l.batch = b
	up, s := c.upload, c.work
	up.Record(l.sent)
	up.Upload(l.head, b.usedHead())
	up.Upload(l.payload, b.usedPayload())
	up.Record(l.uploaded)
	if err := up.Err(); err != nil { // or kernels would work on what the lane held before
		return err
	}

	s.WaitFor(l.uploaded)
	s.Record(l.started)
	c.check(l)
	s.Record(l.compared)
	s.Download(l.host, l.results.Memory)
	s.Record(l.done)

	c.report.Batches++
	c.report.Samples += b.used.samples
	c.report.UploadedBytes += int64(len(b.usedHead()) + len(b.usedPayload()))
	return s.Err()
}

// check queues the kernels, which find the samples that differ. No bit is set before and after
// them. The bits scattered by incidence are compared with the edges; then the stored removals must
// toggle each off or, without the incidence, equal the edges' bits.
func (c *card) check(l *lane) {
	s, samples := c.work, l.batch.used.samples
	stored := c.dataset.Manifest.Variant != store.Incidence
	b := kernels.Batch{Samples: samples, Deleted: l.batch.used.genes, Ptr: l.head,
		PerturbationIndices: l.head.From(c.room.indicesAt())}
	l.results.Clear(s)
	if c.words.Size() > 0 {
		c.kernels.Words(s, b, c.words, c.values)
	}
	if c.regenerates(ByIncidence) {
		c.kernels.Scatter(s, b, c.words, c.bits)
		if c.regenerates(ByEdges) {
			s.Record(l.scattered)
			c.compare(samples, c.words, !stored, l.results)
		}
	}
	if !stored {
		return
	}
	c.kernels.Toggle(s, samples, l.payload, l.head.From(c.room.endsAt()), c.bits)
	if c.Method != Both {
		s.Record(l.scattered)
	}
	expected := c.words
	if c.regenerates(ByIncidence) {
		expected = cuda.Memory{}
	}
	c.compare(samples, expected, true, l.results)
}

// compare queues a comparison of the bits with the edges, by the words, or with nothing. The last
// one clears the bits. The removals of an incidence dataset, which stores none, are counted.
func (c *card) compare(samples int, words cuda.Memory, last bool, results kernels.Results) {
	count := c.dataset.Manifest.Variant == store.Incidence
	c.kernels.Compare(c.work, samples, words, c.bits, last, count, results)
}

// collect waits for a lane's batch, if it has one, reports its results and returns the batch empty.
func (c *card) collect(l *lane) error {
	b := l.batch
	if b == nil {
		return nil
	}
	if err := l.done.Synchronize(); err != nil {
		return err
	}
	if err := c.addTimes(l); err != nil {
		return err
	}
	if err := c.addResults(l); err != nil {
		return err
	}
	l.batch = nil
	c.batches.empty <- b
	return nil
}

func (c *card) addTimes(l *lane) error {
	for _, stage := range []struct {
		seconds    *float64
		begin, end cuda.Event
	}{
		{&c.report.Seconds.Upload, l.sent, l.uploaded},
		{&c.report.Seconds.Kernel, l.started, l.scattered},
		{&c.report.Seconds.Compare, l.scattered, l.compared},
		{&c.report.Seconds.Download, l.compared, l.done},
	} {
		time, err := stage.end.Since(stage.begin)
		if err != nil {
			return err
		}
		*stage.seconds += time.Seconds()
	}
	return nil
}

// addResults counts the removals that the device found. The samples in which it found a difference
// are checked again on the CPU, which reports it in detail. One that it does not find is the
// device's error.
func (c *card) addResults(l *lane) error {
	removed, differs := l.results.Read(l.host)
	var suspects []sample
	for k, s := range l.batch.samples[:l.batch.used.samples] {
		if differs[k/32]>>(k%32)&1 != 0 {
			suspects = append(suspects, s)
			c.cpu.count(l.batch.removed(k), -1) // what should be removed is counted instead
		}
	}
	for some := range slices.Chunk(suspects, regenerate.BatchSamples) {
		if err := c.recheck(some); err != nil {
			return err
		}
	}
	for mask, count := range removed {
		c.removed[mask] += int64(count)
	}
	return nil
}

// recheck checks samples on the CPU.
func (c *card) recheck(suspects []sample) error {
	wrong, err := c.cpu.checkSamples(suspects, c.cpu.payloadAgain)
	if err == nil && wrong < len(suspects) {
		err = fault.New(fault.Failed,
			"check the device with nvidia-smi and gpu-check, or use --device cpu",
			"the device found %d samples that differ, the CPU %d of them; the first is sample %d",
			len(suspects), wrong, suspects[0].index)
	}
	return err
}

// payloadAgain reads a payload whose damage, if any, is already on record.
func (w *worker) payloadAgain(index int) ([]byte, error) {
	payload, err := w.reader.Payload(index)
	if fault.KindOf(err) == fault.Damaged {
		err = nil
	}
	return payload, err
}
