// Package cuda is the part of the CUDA driver that the verifier needs, over gorgonia.org/cu:
// devices, memory, streams, events, kernels. It is built with the tag cuda, for linux/amd64, and
// needs a cuda.h of CUDA 12 (with-cuda.sh finds one).
//
// A program with it starts without a driver: Select opens the driver's library, whose functions are
// called through a table (shim.c). A Context belongs to the OS thread that opened it: one
// goroutine, locked to its thread, makes all calls on it and on what it created.
package cuda
