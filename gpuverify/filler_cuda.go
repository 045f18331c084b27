//go:build cuda

package gpuverify

import (
	"context"
	"time"
)

// filler reads and decodes chunks into batches for a device, and checks samples that cannot be
// decoded itself; it is for one goroutine.
type filler struct {
	*devices
	*worker
	empty <-chan *batch
	full  chan<- *batch // has room for all batches
	batch *batch        // being filled

	readTime, decodeTime time.Duration
}

func newFiller(d *devices, empty <-chan *batch, full chan<- *batch) *filler {
	return &filler{devices: d, worker: newWorker(d.verifier), empty: empty, full: full}
}

// run fills batches until no chunk is left. It starts with chunk first, unless that is negative.
func (f *filler) run(ctx context.Context, number int) error {
	defer f.reader.Close()
	for {
		c, ok := f.draw(number)
		if !ok {
			f.merge()
			return nil
		}
		if err := f.fill(ctx, c); err != nil {
			return err
		}
		number = -1
	}
}

// fill fills batches with a chunk.
func (f *filler) fill(ctx context.Context, c chunk) error {
	if err := f.take(ctx); err != nil {
		return err
	}
	for index := c.first; index < c.next; index++ {
		start := time.Now()
		s, ok, err := f.row(index)
		if ok && f.decoder != nil {
			s.payload, err = f.payload(index)
			ok = s.payload != nil
		}
		if err != nil {
			return err
		}
		f.readTime += time.Since(start)
		if !ok {
			continue
		}
		if err := f.add(ctx, s); err != nil {
			return err
		}
	}
	f.full <- f.batch
	if f.devices.Progress != nil {
		f.devices.Progress.Add(c.next-c.first, 0)
	}
	return nil
}

// add decodes a sample into the batch, or into the next one if it is full.
func (f *filler) add(ctx context.Context, s sample) error {
	var removed []uint32
	if f.decoder != nil {
		var err error
		start := time.Now()
		removed, err = f.decoder.Removed(s.payload)
		f.decodeTime += time.Since(start)
		if err != nil {
			known := func(int) ([]byte, error) { return s.payload, nil }
			_, err = f.checkSamples([]sample{s}, known)
			return err
		}
	}
	if !f.batch.fits(len(s.genes), len(removed)) {
		f.full <- f.batch
		if err := f.take(ctx); err != nil {
			return err
		}
	}
	s.payload = nil // a view, which does not live as long
	f.batch.add(s, removed)
	return nil
}

// take waits for an empty batch.
func (f *filler) take(ctx context.Context) error {
	select {
	case f.batch = <-f.empty:
		return nil
	case <-ctx.Done():
		return context.Cause(ctx)
	}
}
