package tcbuild

import (
	"context"
	"runtime/pprof"
	"sync/atomic"
	"time"
)

// StageTime is how long a stage took. The steps of the pipeline run side by side, several of them
// in several goroutines: for them Busy is the time spent at work, waiting not counted, over all
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

// The steps of the pipeline, which are also the values of the profiles' label "step".
const (
	stepCut    = "read and cut samples"
	stepMasks  = "make masks"
	stepEncode = "encode"
	stepWrite  = "write values"
	stepSeal   = "sync and hash"
)

// busy counts the time that goroutines of a step were at work, in nanoseconds.
type busy struct{ cut, masks, encode, write, seal atomic.Int64 }

func (b *busy) steps() []Step {
	seconds := func(n *atomic.Int64) float64 { return time.Duration(n.Load()).Seconds() }
	return []Step{{stepCut, seconds(&b.cut)}, {stepMasks, seconds(&b.masks)}, {stepEncode, seconds(&b.encode)},
		{stepWrite, seconds(&b.write)}, {stepSeal, seconds(&b.seal)}}
}

// timed runs work and counts its time.
func timed(count *atomic.Int64, work func() error) error {
	start := time.Now()
	err := work()
	count.Add(int64(time.Since(start)))
	return err
}

// labelled runs a step of the pipeline under the profiles' label "step".
func labelled(ctx context.Context, step string, run func() error) (err error) {
	pprof.Do(ctx, pprof.Labels("step", step), func(context.Context) { err = run() })
	return err
}
