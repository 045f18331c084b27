//go:build cuda

package cuda

import (
	"fmt"
	"time"
	"unsafe"

	"gorgonia.org/cu"
)

// Stream is work that a device does in order. Its methods queue work and return at once. The caller
// must not change the memory passed to them until it has waited for a later event. After a failed
// driver call they do nothing.
type Stream struct {
	stream cu.Stream
	err    error
}

// NewStream makes a stream that runs concurrently with the context's others.
func (c *Context) NewStream() *Stream {
	s := &Stream{err: c.err}
	if c.err == nil {
		s.stream, c.err = cu.MakeStream(cu.NonBlocking)
		c.err = failed(c.err, "cuStreamCreate")
	}
	return s
}

// Err is the first error of a call that queued work.
func (s *Stream) Err() error { return s.err }

// Upload copies pinned host memory to the beginning of device memory.
func (s *Stream) Upload(to Memory, from []byte) {
	to.within(len(from))
	if len(from) > 0 && s.err == nil {
		err := cu.MemcpyHtoDAsync(to.address, unsafe.Pointer(&from[0]), int64(len(from)), s.stream)
		s.err = failed(err, "cuMemcpyHtoDAsync of %d bytes", len(from))
	}
}

// Download fills pinned host memory from the beginning of device memory.
func (s *Stream) Download(to []byte, from Memory) {
	from.within(len(to))
	if len(to) > 0 && s.err == nil {
		err := cu.MemcpyDtoHAsync(unsafe.Pointer(&to[0]), from.address, int64(len(to)), s.stream)
		s.err = failed(err, "cuMemcpyDtoHAsync of %d bytes", len(to))
	}
}

// Fill sets the first bytes of device memory to a value.
func (s *Stream) Fill(memory Memory, value byte, bytes int) {
	memory.within(bytes)
	if bytes > 0 && s.err == nil {
		err := cu.MemsetD8Async(memory.address, value, int64(bytes), s.stream)
		s.err = failed(err, "cuMemsetD8Async of %d bytes", bytes)
	}
}

// Threads is how many threads a block of every kernel has.
const Threads = 256

// Grid is the number of blocks in each direction. X is below 2^31, Y below 65,536.
type Grid struct{ X, Y int }

// Launch runs a kernel with 64-bit parameters on a grid of blocks; on an empty grid nothing runs.
func (s *Stream) Launch(f Function, grid Grid, parameters ...uint64) {
	if grid.X == 0 || grid.Y == 0 || s.err != nil {
		return
	}
	if err := launch(f.function, s.stream, grid, parameters); err != nil {
		s.err = fmt.Errorf("cuLaunchKernel of %s on %d x %d blocks: %w", f.name, grid.X, grid.Y,
			err)
	}
}

// Record puts an event after all work queued in the stream.
func (s *Stream) Record(e Event) {
	if s.err == nil {
		s.err = failed(e.event.Record(s.stream), "cuEventRecord")
	}
}

// WaitFor makes the stream's later work wait for an event. The host does not wait.
func (s *Stream) WaitFor(e Event) {
	if s.err == nil {
		s.err = failed(s.stream.Wait(e.event, 0), "cuStreamWaitEvent")
	}
}

// Event is a point in a stream's work.
type Event struct{ event cu.Event }

// NewEvent makes an event. Synchronize on it blocks instead of spinning.
func (c *Context) NewEvent() (e Event) {
	if c.err == nil {
		e.event, c.err = cu.MakeEvent(cu.BlockingSyncEvent)
		c.err = failed(c.err, "cuEventCreate")
	}
	return e
}

// Synchronize makes the host wait for the event. It reports kernel failures.
func (e Event) Synchronize() error {
	return failed(e.event.Synchronize(), "cuEventSynchronize")
}

// Since is the device time from an earlier event to this one; both must have happened.
func (e Event) Since(earlier Event) (time.Duration, error) {
	milliseconds, err := earlier.event.Elapsed(e.event)
	elapsed := time.Duration(milliseconds * float64(time.Millisecond))
	return elapsed, failed(err, "cuEventElapsedTime")
}
