//go:build cuda

package gpuverify

import (
	"context"
	"runtime"
	"time"

	"golang.org/x/sync/errgroup"

	"tcbuild/fault"
	"tcbuild/gpuverify/cuda"
)

// run makes a device ready, waits for the beginning of the work, and verifies chunks until none is
// left; first is the number of its first chunk. The report is valid even after an error.
func (d *devices) run(device cuda.Device, first int) (DeviceReport, error) {
	runtime.LockOSThread()
	defer runtime.UnlockOSThread()
	report := DeviceReport{Ordinal: device.Ordinal, Name: device.Name}
	opened, err := device.Open()
	if err != nil {
		return report, d.failure(device, err)
	}
	c := &card{devices: d, context: opened, report: report}
	err = c.kernels.Load(opened)
	<-d.begin
	if err == nil && d.tables != nil {
		err = c.prepare()
	}
	if err != nil {
		err = d.failure(device, err)
	} else if d.tables != nil {
		start := time.Now()
		err = c.pipeline(d.ctx, first)
		c.report.WorkingSeconds = time.Since(start).Seconds()
	}
	if closing := opened.Close(); closing != nil && err == nil {
		err = d.failure(device, closing)
	}
	return c.report, err
}

// failure is an error of the driver, with the device's name.
func (d *devices) failure(device cuda.Device, err error) error {
	return cuda.Failure(err, "verify %s on %s: %w", d.dataset.Dir, device, err)
}

// pipeline has workers read and decode samples into batches, and passes these to the device.
func (c *card) pipeline(ctx context.Context, first int) error {
	defer c.cpu.reader.Close()
	c.batches.empty, c.batches.full = make(chan *batch, batchCount), make(chan *batch, batchCount)
	ctx, cancel := context.WithCancel(ctx)
	group, ctx := errgroup.WithContext(ctx)
	fillers := make([]*filler, max(1, c.Workers/len(c.list)))
	for i := range fillers {
		fillers[i] = newFiller(c)
		number := first
		if i > 0 {
			number = c.draw()
		}
		group.Go(fault.Catch(func() error { return fillers[i].run(ctx, number) }))
	}
	filled := make(chan error, 1)
	go func() {
		filled <- group.Wait()
		c.batches.flush()
		close(c.batches.full)
	}()

	err := c.makeBatches()
	if err == nil {
		err = c.drive()
	}
	cancel()
	filling := <-filled // in any case: the batches' memory is freed with the context
	for _, f := range fillers {
		c.report.Seconds.Read += f.readTime.Seconds()
		c.report.Seconds.Decode += f.decodeTime.Seconds()
	}
	if err != nil {
		return c.failure(c.context.Device, err)
	}
	if c.cpu.decoder == nil {
		for mask, count := range c.removed {
			c.cpu.masks[mask].Removed = count
		}
	}
	c.cpu.merge()
	return filling
}

// drive starts work on full batches as they arrive, using the lanes alternately, and collects the
// results.
func (c *card) drive() error {
	turn := 0
	for b := range c.batches.full {
		l := c.lanes[turn%lanes]
		if err := c.collect(l); err != nil {
			return err
		}
		if err := c.start(l, b); err != nil {
			return err
		}
		turn++
	}
	for range lanes {
		if err := c.collect(c.lanes[turn%lanes]); err != nil {
			return err
		}
		turn++
	}
	return nil
}
