// Package cuda is the part of the CUDA driver that the verifier needs, over gorgonia.org/cu:
// devices, memory, streams, events, kernels. It is built with the tag cuda, for linux/amd64, where
// a cuda.h of CUDA 12 is (with-cuda.sh finds one).
//
// A program with it needs no driver to start: the driver's library is opened by Load, and its
// functions are reached through a table (shim.c). A Context belongs to the OS thread that opened
// it: one goroutine, locked to its thread, makes all calls on it and on what it made.
package cuda
