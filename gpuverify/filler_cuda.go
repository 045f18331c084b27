//go:build cuda

package gpuverify

import (
	"context"
	"time"
)

// filler reads and decodes samples into the batches of a device, and checks samples that cannot be
// decoded itself; it is for one goroutine.
type filler struct {
	*worker
	batches *batches
	most    extent // of a portion
	portion portion

	readTime, decodeTime time.Duration
}

func newFiller(c *card) *filler {
	most := c.room
	most.samples = min(portionSamples, most.samples)
	return &filler{worker: newWorker(c.verifier), batches: &c.batches, most: most}
}

// run fills batches with a chunk, and then others until none is left.
func (f *filler) run(ctx context.Context, number int) error {
	defer f.reader.Close()
	fill := func(c chunk) error { return f.fill(ctx, c) }
	if err := f.eachChunk(ctx, number, fill); err != nil {
		return err
	}
	f.merge()
	return f.pass(ctx)
}

// fill reads and decodes a chunk.
func (f *filler) fill(ctx context.Context, c chunk) error {
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
	return nil
}

// add decodes a sample, and adds it to the portion.
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
		f.count(removed, 1)
	}
	s.payload = nil // a view, which does not live as long
	e := extent{1, len(s.genes), len(removed)}
	if !f.portion.size.plus(e).within(f.most) {
		if err := f.pass(ctx); err != nil {
			return err
		}
	}
	f.portion.add(s, removed, e)
	return nil
}

// pass passes the portion on, unless it is empty.
func (f *filler) pass(ctx context.Context) error {
	if len(f.portion.samples) == 0 {
		return nil
	}
	defer f.portion.clear()
	return f.batches.pass(ctx, &f.portion)
}
