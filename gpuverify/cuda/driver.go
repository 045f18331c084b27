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
	"fmt"
	"sync"
	"unsafe"

	"gorgonia.org/cu"

	"tcbuild/fault"
)

// Driver is the library that every NVIDIA driver installs.
const Driver = "libcuda.so.1"

var loading sync.Mutex

// Load opens the driver's library, Driver or the file at a path, and initialises it. Until then no
// other function of this package works.
func Load(path string) error {
	loading.Lock()
	defer loading.Unlock()
	name := C.CString(path)
	defer C.free(unsafe.Pointer(name))
	if why := C.tcbuild_cuda_load(name); why != nil {
		return fault.New(fault.Failed, "install NVIDIA's driver on a machine with a card, or use --device cpu",
			"load the CUDA driver %s: %s", path, C.GoString(why))
	}
	return nil
}

// failed says which call of the driver failed; nil if none did.
func failed(err error, format string, args ...any) error {
	switch call := fmt.Sprintf(format, args...); err {
	case nil:
		return nil
	case cu.OutOfMemory:
		return fault.New(fault.Failed, "lower --gpu-memory, or free memory of the device", "%s: %w", call, err)
	default:
		return fmt.Errorf("%s: %w", call, err)
	}
}

// allocatePinned returns page-locked host memory of the current context, not initialised.
func allocatePinned(bytes int) ([]byte, error) {
	var memory unsafe.Pointer
	if why := C.tcbuild_cuda_pinned(&memory, C.size_t(bytes)); why != nil {
		return nil, fault.New(fault.Failed, "free memory of the machine, or use fewer --workers",
			"cuMemHostAlloc of %d bytes: %s", bytes, C.GoString(why))
	}
	return unsafe.Slice((*byte)(memory), bytes), nil
}
