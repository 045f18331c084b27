package main

import (
	"context"

	"tcbuild/ingest"
)

// watched is a perturbation set whose reading shows progress and ends when ctx does.
type watched struct {
	ingest.SampleSource
	ctx      context.Context
	progress *progress
	counts   ingest.Counts // of the latest Scan

	unmeasured *ingest.Unmeasured // of all Scans; nil: nobody asks
}

// Scan is that of the SampleSource; once ctx is done it returns ctx.Err().
func (w *watched) Scan(yield func(*ingest.Samples) error) (ingest.Counts, error) {
	var err error
	w.counts, err = w.SampleSource.Scan(func(batch *ingest.Samples) error {
		if err := w.ctx.Err(); err != nil {
			return err
		}
		if w.unmeasured != nil {
			w.unmeasured.Add(batch)
		}
		n := batch.Len() // yield takes the batch over
		if err := yield(batch); err != nil {
			return err
		}
		w.progress.Add(n, 0)
		return nil
	})
	return w.counts, err
}
