package sha256pair

// #include "lanes_amd64.h"
import "C"

import (
	"crypto/sha256"
	"unsafe"

	"github.com/klauspost/cpuid/v2"
)

// haveLanes tells whether this CPU runs lanes.
var haveLanes = cpuid.CPU.Supports(cpuid.SHA, cpuid.SSE4)

// lanes advances two states by whole blocks of p and q, which are as long as each other and not empty.
func lanes(a, b *[8]uint32, p, q []byte) {
	C.sha256_lanes((*C.uint32_t)(&a[0]), (*C.uint32_t)(&b[0]),
		(*C.uint8_t)(unsafe.SliceData(p)), (*C.uint8_t)(unsafe.SliceData(q)), C.size_t(len(p)/sha256.BlockSize))
}
