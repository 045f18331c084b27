// Package kernels has the CUDA kernels that regenerate and compare masks. Each has its source
// (.cu), the PTX that clang makes of it, which is embedded in the program and compiled by the
// driver, and the method of Kernels that launches it (built with the tag cuda).
//
// On the device the masks of 32 samples are a word for each position of the mask space, with a bit
// that is set where a sample removes it: a position is looked up and compared for 32 samples at a
// time. A launch queues work in a stream and returns without waiting.
package kernels

//go:generate ./ptx.sh
