//go:build cuda

package cuda

/*
#cgo CFLAGS: -O2
#cgo LDFLAGS: -Wl,--as-needed -L${SRCDIR}/lib -ldl
#include <stdlib.h>
#include "shim.h"
*/
import "C"

import (
	"cmp"
	"errors"
	"fmt"
	"sync"
	"unsafe"

	"gorgonia.org/cu"

	"tcbuild/fault"
)

// Driver is the library that every NVIDIA driver installs. Tests replace it.
var Driver = "libcuda.so.1"

var loading sync.Mutex

// load opens the driver's library and initialises it.
func load() error {
	loading.Lock()
	defer loading.Unlock()
	name := C.CString(Driver)
	defer C.free(unsafe.Pointer(name))
	if why := C.tcbuild_cuda_load(name); why != nil {
		return fault.New(fault.Failed,
			"install NVIDIA's driver on a machine with a GPU, or use --device cpu",
			"load the CUDA driver %s: %s", Driver, C.GoString(why))
	}
	return nil
}

// Select loads the driver and lists its devices, or the requested ones. No other function of this
// package works before that.
func Select(ordinals []int) ([]Device, error) {
	all := len(ordinals) == 0
	if err := load(); err != nil {
		return nil, err
	}
	count, err := cu.NumDevices()
	if err != nil {
		return nil, failed(err, "cuDeviceGetCount")
	}
	if count == 0 {
		return nil, fault.New(fault.Failed, "use --device cpu, or a machine with a GPU",
			"the CUDA driver offers no device")
	}
	for ordinal := 0; ordinal < count && all; ordinal++ {
		ordinals = append(ordinals, ordinal)
	}
	var chosen []Device
	for _, ordinal := range ordinals {
		if ordinal >= count {
			return nil, fault.New(fault.Usage,
				"choose from the devices that nvidia-smi lists, or use --device cuda for all",
				"found device %d, expected one of the CUDA driver's %d devices, numbered from 0",
				ordinal, count)
		}
		device, err := cu.GetDevice(ordinal)
		if err != nil {
			return nil, failed(err, "cuDeviceGet of device %d", ordinal)
		}
		name, err := device.Name()
		if err != nil {
			return nil, failed(err, "cuDeviceGetName of device %d", ordinal)
		}
		chosen = append(chosen, Device{ordinal, name, device})
	}
	return chosen, nil
}

// Failure is a fault caused by an error of the driver.
func Failure(cause error, format string, args ...any) error {
	hint := cmp.Or(fault.HintOf(cause), "check the device with nvidia-smi and in the system log, "+
		"or choose others with --device")
	return fault.New(fault.Failed, hint, format, args...)
}

// failed adds the failed driver call to err; it returns nil if err is nil.
func failed(err error, format string, args ...any) error {
	switch call := fmt.Sprintf(format, args...); err {
	case nil:
		return nil
	case cu.OutOfMemory:
		return fault.New(fault.Failed, "lower --gpu-memory, or free device memory", "%s: %w",
			call, err)
	default:
		return fmt.Errorf("%s: %w", call, err)
	}
}

// allocatePinned returns uninitialised page-locked host memory of the current context.
func allocatePinned(bytes int) ([]byte, error) {
	var memory unsafe.Pointer
	if why := C.tcbuild_cuda_pinned(&memory, C.size_t(bytes)); why != nil {
		return nil, fault.New(fault.Failed, "free host memory",
			"cuMemHostAlloc of %d bytes: %s", bytes, C.GoString(why))
	}
	return unsafe.Slice((*byte)(memory), bytes), nil
}

// launch runs a kernel. Function.Launch of gorgonia.org/cu would write pointers to new memory of
// C's as Go's: while garbage is collected, what the memory held before is then taken for a pointer,
// which ends the program if it looks like one into Go's heap.
func launch(function cu.Function, stream cu.Stream, grid Grid, parameters []uint64) error {
	// Both types are a struct of one handle, which they do not give away.
	kernel := *(*unsafe.Pointer)(unsafe.Pointer(&function))
	queue := *(*unsafe.Pointer)(unsafe.Pointer(&stream))
	why := C.tcbuild_cuda_launch(kernel, C.uint(grid.X), C.uint(grid.Y), Threads, queue,
		(*C.uint64_t)(unsafe.SliceData(parameters)), C.size_t(len(parameters)))
	if why != nil {
		return errors.New(C.GoString(why))
	}
	return nil
}

// View returns bytes as numbers in the machine's byte order.
func View[T any](bytes []byte) []T {
	count := len(bytes) / int(unsafe.Sizeof(*new(T)))
	return unsafe.Slice((*T)(unsafe.Pointer(unsafe.SliceData(bytes))), count)
}
