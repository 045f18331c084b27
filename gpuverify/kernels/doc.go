// Package kernels has the CUDA kernels that regenerate and compare masks: for each idea its source
// (.cu), the PTX that clang makes of it, which the program carries and the driver compiles for its
// card, and the Go function that launches it (built with the tag cuda).
//
// On the device the masks of a sample are one byte per position of the mask space: 1 keep, 0
// removed. They begin every Stride bytes, and the bytes behind the last position are of no account.
// A launch queues work in a stream and returns; it costs no wait.
package kernels

//go:generate ./ptx.sh
