package tcbuild

import (
	"context"
	"runtime/pprof"
	"sync/atomic"
	"time"
)

// StageTime is the time that a stage took. The steps of the pipeline run concurrently, some of them
// in several goroutines. Their Busy is the time spent working, without waiting, summed over
// goroutines.
type StageTime struct {
	Stage   string  `json:"stage"`
	Seconds float64 `json:"seconds"`         // wall time
	Steps   []Step  `json:"steps,omitempty"` // of the pipeline
}

// Step is a step of the pipeline.
type Step struct {
	Step string  `json:"step"`
	Busy float64 `json:"busy_seconds"`
}

// The steps of the pipeline, which are also the values of the profile label "step".
const (
	stepCut    = "read and cut samples"
	stepMasks  = "make masks"
	stepEncode = "encode"
	stepWrite  = "write values"
	stepSeal   = "sync and hash"
)

// busy is the time that each step spent working, in nanoseconds.
type busy struct{ cut, masks, encode, write, seal atomic.Int64 }

func (b *busy) steps() []Step {
	seconds := func(n *atomic.Int64) float64 { return time.Duration(n.Load()).Seconds() }
	return []Step{{stepCut, seconds(&b.cut)}, {stepMasks, seconds(&b.masks)}, {stepEncode, seconds(&b.encode)},
		{stepWrite, seconds(&b.write)}, {stepSeal, seconds(&b.seal)}}
}

// timed runs work and adds its duration to count.
func timed(count *atomic.Int64, work func() error) error {
	start := time.Now()
	err := work()
	count.Add(int64(time.Since(start)))
	return err
}

// labelled runs a step of the pipeline under the profile label "step".
func labelled(ctx context.Context, step string, run func() error) (err error) {
	pprof.Do(ctx, pprof.Labels("step", step), func(context.Context) { err = run() })
	return err
}
