// Package kernels has the CUDA kernels that regenerate and compare masks. Each has its source
// (.cu), the PTX that clang makes of it, which is embedded in the program and compiled by the
// driver, and the Go function that launches it (built with the tag cuda).
//
// On the device the masks of a sample are one byte per position of the mask space: 1 keep, 0
// removed. They begin every Stride bytes; the bytes after the last position are ignored. A launch
// queues work in a stream and returns without waiting.
package kernels

//go:generate ./ptx.sh
