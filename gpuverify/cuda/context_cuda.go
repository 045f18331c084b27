//go:build cuda

package cuda

import (
	"bytes"
	"fmt"
	"strings"
	"unsafe"

	"gorgonia.org/cu"
)

// Device is a CUDA device, by its ordinal in the driver's list.
type Device struct {
	Ordinal int
	Name    string
	device  cu.Device
}

func (d Device) String() string { return fmt.Sprintf("cuda:%d (%s)", d.Ordinal, d.Name) }

// Context is a device in use. Close releases it and everything created in it. After a failed
// allocation, later ones do nothing.
type Context struct {
	Device
	context cu.CUContext
	err     error
}

// Open makes a context, current on the calling thread; the caller must have locked its goroutine to
// the thread. Waiting blocks instead of spinning.
func (d Device) Open() (*Context, error) {
	context, err := d.device.MakeContext(cu.SchedBlockingSync)
	if err != nil {
		return nil, failed(err, "cuCtxCreate")
	}
	return &Context{Device: d, context: context}, nil
}

// Err is the first error of an allocation: of memory, of a stream or of an event.
func (c *Context) Err() error { return c.err }

// Close releases the context and its memory, which invalidates device pointers and pinned memory.
func (c *Context) Close() error { return failed(c.context.Destroy(), "cuCtxDestroy") }

// FreeMemory is how many bytes of the device's memory are free.
func (c *Context) FreeMemory() (int64, error) {
	free, _, err := cu.MemInfo()
	return free, failed(err, "cuMemGetInfo")
}

// Memory is a range of device memory.
type Memory struct {
	address cu.DevicePtr
	size    int
}

// Address is the start of the memory, as a kernel parameter.
func (m Memory) Address() uint64 { return uint64(m.address) }

// Size is the memory's length in bytes.
func (m Memory) Size() int { return m.size }

// From is the memory after its first offset bytes.
func (m Memory) From(offset int) Memory {
	m.within(offset)
	return Memory{m.address + cu.DevicePtr(offset), m.size - offset}
}

// within panics unless the memory has so many bytes.
func (m Memory) within(bytes int) {
	if bytes > m.size {
		panic(fmt.Sprintf("cuda: %d bytes in memory of %d", bytes, m.size))
	}
}

// Allocate returns device memory, uninitialised and aligned to 256 bytes. Nothing is allocated for
// 0 bytes.
func (c *Context) Allocate(bytes int) Memory {
	if bytes == 0 || c.err != nil {
		return Memory{}
	}
	address, err := cu.MemAlloc(int64(bytes))
	c.err = failed(err, "cuMemAlloc of %d bytes", bytes)
	return Memory{address, bytes}
}

// AllocatePinned returns uninitialised host memory that the device accesses directly; nil after an
// error.
func (c *Context) AllocatePinned(bytes int) (memory []byte) {
	if c.err == nil {
		memory, c.err = allocatePinned(bytes)
	}
	return memory
}

// Upload allocates device memory and copies values to it. Streams see the copy after Synchronize.
func Upload[T any](c *Context, values []T) Memory {
	bytes := len(values) * int(unsafe.Sizeof(*new(T)))
	memory := c.Allocate(bytes)
	if bytes > 0 && c.err == nil {
		err := cu.MemcpyHtoD(memory.address, unsafe.Pointer(&values[0]), int64(bytes))
		c.err = failed(err, "cuMemcpyHtoD of %d bytes", bytes)
	}
	return memory
}

// Synchronize waits for all work of the context.
func (c *Context) Synchronize() error {
	return failed(cu.Synchronize(), "cuCtxSynchronize")
}

// Function is a kernel.
type Function struct {
	name     string
	function cu.Function
}

// Functions loads the named kernels of a PTX text, which the driver compiles unless it finds them
// in its cache.
func (c *Context) Functions(ptx string, names ...string) ([]Function, error) {
	wrong := make([]byte, 4<<10)
	module, err := cu.LoadDataEx(ptx, &cu.JITErrorLogBuffer{Buffer: wrong})
	if err != nil {
		return nil, failed(err, "cuModuleLoadDataEx of the kernels %s%s", names, text(wrong))
	}
	functions := make([]Function, len(names))
	for i, name := range names {
		function, err := module.Function(name)
		if err != nil {
			return nil, failed(err, "cuModuleGetFunction of kernel %s", name)
		}
		functions[i] = Function{name, function}
	}
	return functions, nil
}

// text is a separator and the lines of a C string; "" if it is empty.
func text(buffer []byte) string {
	words, _, _ := bytes.Cut(buffer, []byte{0})
	if words = bytes.TrimSpace(words); len(words) == 0 {
		return ""
	}
	lines := strings.FieldsFunc(string(words), func(r rune) bool { return r == '\n' })
	return ": " + strings.Join(lines, "; ")
}
