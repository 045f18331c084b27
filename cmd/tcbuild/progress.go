package main

import (
	"cmp"
	"fmt"
	"sync"
	"time"

	"github.com/schollz/progressbar/v3"
)

// The time between the log lines that replace the bar, for people and, as JSON, for programs that
// show a bar of their own.
const (
	progressEvery     = 30 * time.Second
	jsonProgressEvery = 500 * time.Millisecond
)

// progress shows how far a stage is: with a bar on a terminal, with regular log lines elsewhere,
// not at all with --quiet. It is safe for concurrent use.
type progress struct {
	env   *env
	stage string
	total int // samples; 0 when unknown
	bar   *progressbar.ProgressBar
	every time.Duration // between log lines

	mu             sync.Mutex
	started, shown time.Time
	samples        int
	bytes          int64
}

// newProgress starts to show a stage of total samples, 0 if unknown.
func newProgress(e *env, stage string, total int) *progress {
	now := time.Now()
	p := &progress{env: e, stage: stage, total: total, every: progressEvery, started: now,
		shown: now}
	if e.logFormat == jsonLog {
		p.every = jsonProgressEvery
		return p
	}
	if !e.terminal || e.quiet {
		return p
	}
	p.bar = progressbar.NewOptions(cmp.Or(total, -1), // -1: a spinner
		progressbar.OptionSetWriter(e.screen),
		progressbar.OptionSetDescription(stage),
		progressbar.OptionShowCount(),
		progressbar.OptionShowIts(),
		progressbar.OptionSetItsString("samples"),
		progressbar.OptionUseANSICodes(true),
		progressbar.OptionClearOnFinish(),
		// otherwise it draws from a goroutine that never ends
		progressbar.OptionSetSpinnerChangeInterval(0),
		progressbar.OptionThrottle(100*time.Millisecond),
	)
	return p
}

// Add counts finished samples and the bytes written for them.
func (p *progress) Add(samples int, bytes int64) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.samples += samples
	p.bytes += bytes
	switch {
	case p.bar != nil:
		if p.bytes > 0 {
			p.bar.Describe(p.stage + " " + humanBytes(p.bytes))
		}
		_ = p.bar.Add(samples) // the build does not depend on the bar
	case !p.env.quiet && time.Since(p.shown) >= p.every:
		p.shown = time.Now()
		if p.env.logFormat == jsonLog {
			p.env.log.Info(p.stage, "done", p.samples, "total", p.total, "bytes", p.bytes)
			return
		}
		p.env.log.Info(p.stage, p.line(time.Since(p.started))...)
	}
}

// Done removes the bar.
func (p *progress) Done() {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.bar != nil {
		_ = p.bar.Clear()
	}
}

// line returns the state after some time, as attributes of a log line.
func (p *progress) line(elapsed time.Duration) []any {
	rate := float64(p.samples) / elapsed.Seconds()
	attrs := []any{"samples", humanCount(p.samples)}
	if p.total > 0 {
		attrs = append(attrs, "of", humanCount(p.total))
	}
	attrs = append(attrs, "rate", fmt.Sprintf("%.0f samples/s", rate))
	if p.bytes > 0 {
		attrs = append(attrs, "written", humanBytes(p.bytes))
	}
	if p.total > 0 && p.samples > 0 {
		left := time.Duration(float64(p.total-p.samples) / rate * float64(time.Second))
		attrs = append(attrs, "left", left.Round(time.Second).String())
	}
	return attrs
}
