//go:build cuda

package cuda_test

import (
	"os"
	"runtime"
	"testing"
	"unsafe"

	"tcbuild/gpuverify/cuda"
	"tcbuild/internal/testing/fakedriver"
)

func TestMain(m *testing.M) { os.Exit(fakedriver.Run(m)) }

var object *[3]uint64 // on the heap

// Kernels are launched while garbage is collected. What C's memory held before may look like a
// pointer into Go's heap that no Go program has, here to where no object is.
func TestLaunchWhileGarbageIsCollected(t *testing.T) {
	runtime.LockOSThread()
	defer runtime.UnlockOSThread()
	must := func(err error) {
		t.Helper()
		if err != nil {
			t.Fatal(err)
		}
	}
	devices, err := cuda.Select(nil)
	must(err)
	context, err := devices[0].Open()
	must(err)
	defer context.Close()
	ptx, err := os.ReadFile("../kernels/compare.ptx")
	must(err)
	functions, err := context.Functions(string(ptx), "compare_bits")
	must(err)
	stream := context.NewStream()
	starts := context.Allocate(8) // of one mask, without positions: the kernel does nothing
	must(context.Err())
	stream.Fill(starts, 0, 8)

	stop := make(chan struct{})
	defer close(stop)
	go func() {
		for {
			select {
			case <-stop:
				return
			default:
				runtime.GC()
			}
		}
	}()
	object = new([3]uint64) // in a span of 8,192 bytes, whose last 8 are in no object
	behind := uint64(uintptr(unsafe.Pointer(object))&^8191) + 8184
	for i := range 20000 {
		stream.Launch(functions[0], cuda.Grid{X: 1, Y: 1},
			behind, behind, behind, behind, behind, behind, behind, behind, starts.Address(), 0, behind)
		if i%8 == 7 {
			must(context.Synchronize()) // the driver frees its copies of the parameters
		}
	}
	must(stream.Err())
}
