package main

import (
	"context"

	"tcbuild/ingest"
)

// watched is a perturbation set that shows progress as it is read, and stops when ctx is done.
type watched struct {
	ingest.SampleSource
	ctx      context.Context
	progress *progress
	counts   ingest.Counts // of the latest Scan

	unmeasured *ingest.Unmeasured // over all Scans; nil if not needed
}

// Scan implements ingest.SampleSource. Once ctx is done it returns ctx.Err().
func (w *watched) Scan(yield func(*ingest.Samples) error) (ingest.Counts, error) {
	var err error
	w.counts, err = w.SampleSource.Scan(func(batch *ingest.Samples) error {
		if err := w.ctx.Err(); err != nil {
			return err
		}
		if w.unmeasured != nil {
			w.unmeasured.Add(batch)
		}
		n := batch.Len() // yield takes ownership of the batch
		if err := yield(batch); err != nil {
			return err
		}
		w.progress.Add(n, 0)
		return nil
	})
	return w.counts, err
}
