//go:build cuda

package gpuverify

import (
	"tcbuild/gpuverify/cuda"
	"tcbuild/gpuverify/kernels"
)

// lane is a batch's memory on the device: while kernels work in one lane, the next batch is
// uploaded to another.
type lane struct {
	head, payload cuda.Memory // copies of the batch's
	results       cuda.Memory // of each comparison, one after the other
	host          []byte      // pinned copy of the results
	batch         *batch      // nil when the lane is free

	// The start and the end of the work on the batch.
	sent, uploaded, started, regenerated, compared, done cuda.Event
}

func (c *card) newLane() (*lane, error) {
	l := new(lane)
	var err error
	if l.head, err = c.context.Allocate(c.room.headBytes()); err != nil {
		return nil, err
	}
	if l.payload, err = c.context.Allocate(c.room.payload); err != nil {
		return nil, err
	}
	results := c.resultBytes(c.room.samples)
	if l.results, err = c.context.Allocate(results); err != nil {
		return nil, err
	}
	if l.host, err = c.context.AllocatePinned(results); err != nil {
		return nil, err
	}
	for _, event := range []*cuda.Event{&l.sent, &l.uploaded, &l.started, &l.regenerated, &l.compared, &l.done} {
		if *event, err = c.context.NewEvent(); err != nil {
			return nil, err
		}
	}
	return l, nil
}

// start queues all work on a batch, without waiting.
func (c *card) start(l *lane, b *batch) error {
	l.batch = b
	up, s := c.upload, c.work
	up.Record(l.sent)
	up.Upload(l.head, b.usedHead())
	up.Upload(l.payload, b.usedPayload())
	up.Record(l.uploaded)

	s.WaitFor(l.uploaded)
	s.Record(l.started)
	c.regenerate(l)
	s.Record(l.regenerated)
	c.compareMasks(l)
	s.Record(l.compared)
	results := c.resultBytes(len(b.samples))
	s.Download(l.host[:results], l.results)
	s.Record(l.done)

	c.report.Batches++
	c.report.Samples += len(b.samples)
	c.report.UploadedBytes += int64(len(b.usedHead()) + len(b.usedPayload()))
	c.report.DownloadedBytes += int64(results)
	if err := up.Err(); err != nil {
		return err
	}
	return s.Err()
}

// regenerate queues the kernels that make the masks to compare.
func (c *card) regenerate(l *lane) {
	samples := len(l.batch.samples)
	b := kernels.Batch{Samples: samples, Ptr: l.head, PerturbationIndices: l.head.From(c.room.indicesAt())}
	if c.scratch.words.Size() > 0 {
		c.NodeWords.Run(c.work, b, c.scratch.words)
	}
	if masks := c.scratch.byIncidence; masks.Size() > 0 {
		c.ByIncidence.Run(c.work, b, c.scratch.words, masks)
		c.report.MaskBytes += int64(samples * masks.Stride)
	}
	if masks := c.scratch.byEdges; masks.Size() > 0 {
		c.ByEdges.Run(c.work, samples, c.scratch.words, masks)
		c.report.MaskBytes += int64(samples * masks.Stride)
	}
	if masks := c.scratch.fromStored; masks.Size() > 0 {
		c.expand.Run(c.work, samples, l.payload, l.head.From(c.room.endsAt()), masks)
		c.report.MaskBytes += int64(samples * masks.Stride)
	}
}

// compareMasks queues the comparisons.
func (c *card) compareMasks(l *lane) {
	samples := len(l.batch.samples)
	results := l.results
	for _, comparison := range c.comparisons {
		found, known := comparison.found, cuda.Memory{}
		if comparison.stored {
			known = l.head.From(c.room.knownAt())
			if found.Size() == 0 {
				found.Memory = l.payload
			}
		}
		c.compare.Run(c.work, samples, comparison.expected, found, known, results)
		results = results.From(kernels.ResultSize(samples * c.compare.Masks))
		c.report.MaskBytes += int64(2 * samples * found.Stride)
	}
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
	c.addResults(l)
	if b.all != nil {
		c.finish(b.number, b.all)
	}
	l.batch = nil
	b.empty()
	c.empty <- b
	return nil
}

func (c *card) addTimes(l *lane) error {
	for _, stage := range []struct {
		seconds    *float64
		begin, end cuda.Event
	}{
		{&c.report.Seconds.Upload, l.sent, l.uploaded},
		{&c.report.Seconds.Kernel, l.started, l.regenerated},
		{&c.report.Seconds.Compare, l.regenerated, l.compared},
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

// addResults adds a batch's counts and differences to the report. Removals are counted in the last
// comparison.
func (c *card) addResults(l *lane) {
	masks := len(c.rules.Masks)
	pairs := len(l.batch.samples) * masks
	c.mu.Lock()
	defer c.mu.Unlock()
	for k, sample := range l.batch.samples {
		for i, comparison := range c.comparisons {
			results := l.host[i*kernels.ResultSize(pairs):][:kernels.ResultSize(pairs)]
			for m := range masks {
				result := kernels.ResultOf(results, k*masks+m, pairs)
				if i == len(c.comparisons)-1 {
					c.verifier.report.Masks[m].Removed += result.Removed
				}
				if result.Differences > 0 {
					c.addDifference(sample, m, comparison.method, result)
				}
			}
		}
	}
}

// addDifference adds the differences of one mask of a sample. The caller holds c.mu.
func (c *card) addDifference(sample sampleName, mask int, method Method, r kernels.Result) {
	report := &c.verifier.report
	report.Masks[mask].Differences += r.Differences
	report.Differences += r.Differences
	if len(report.FirstDifferences) == listed {
		return
	}
	m := c.rules.Masks[mask]
	report.FirstDifferences = append(report.FirstDifferences,
		Difference{sample.index, sample.id, m.Name, r.Position - m.Start, r.Expected, r.Found, method})
}
