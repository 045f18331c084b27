//go:build cuda

package gpuverify

import (
	"context"
	"fmt"
	"time"

	"tcbuild/encode"
	"tcbuild/ingest"
	"tcbuild/store"
)

// filler reads and decodes chunks into batches for a device; it is for one goroutine.
type filler struct {
	*devices
	reader  *store.Reader
	decoder encode.Decoder // nil in the incidence variant
	empty   <-chan *batch
	full    chan<- *batch // has room for all batches
	batch   *batch        // being filled

	readTime, decodeTime time.Duration
}

func newFiller(d *devices, empty <-chan *batch, full chan<- *batch) *filler {
	f := &filler{devices: d, reader: d.dataset.NewReader(), empty: empty, full: full}
	if d.dataset.Manifest.Variant != store.Incidence {
		f.decoder = d.codec.NewDecoder(d.rules.Size)
	}
	return f
}

// run fills batches until no chunk is left. It starts with chunk first, unless that is negative.
func (f *filler) run(ctx context.Context, number int) error {
	defer f.reader.Close()
	for {
		drawn, c, ok := f.draw(number)
		if !ok {
			return nil
		}
		if err := f.fill(ctx, drawn, c); err != nil {
			return err
		}
		number = -1
	}
}

// fill fills batches with a chunk.
func (f *filler) fill(ctx context.Context, number int, c chunk) error {
	if err := f.take(ctx); err != nil {
		return err
	}
	all := ingest.NewSamples(c.first, f.dataset.Manifest.Columns(), c.next-c.first)
	for index := c.first; index < c.next; index++ {
		start := time.Now()
		stored, err := f.read(f.reader, index, all)
		if err != nil {
			return err
		}
		f.readTime += time.Since(start)
		if stored == nil {
			continue
		}
		if err := f.add(ctx, index, stored); err != nil {
			return err
		}
	}
	f.batch.number, f.batch.all = number, all
	f.full <- f.batch
	return nil
}

// add decodes a sample into the batch, or into the next one if it is full.
func (f *filler) add(ctx context.Context, index int, sample *store.Sample) error {
	start := time.Now()
	stored, err := f.batch.decode(f.decoder, sample.Payload, f.rules.Size)
	if err != nil {
		f.damage(index, fmt.Errorf("sample %d: %w", index, err))
	}
	f.decodeTime += time.Since(start)
	if !f.batch.fits(len(sample.Genes), stored.bytes) {
		f.full <- f.batch
		if err := f.take(ctx); err != nil {
			return err
		}
	}
	start = time.Now()
	f.batch.add(index, sample, stored)
	f.decodeTime += time.Since(start)
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
