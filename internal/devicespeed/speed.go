// Package devicespeed measures how fast CUDA devices make masks, by the kernels with which
// gpuverify verifies them. The tag cuda builds it in.
package devicespeed

import (
	"fmt"

	"tcbuild/gpuverify"
	"tcbuild/ingest"
)

// Options say what Measure measures.
type Options struct {
	Graph   *ingest.Graph
	ByRule  bool              // reaction rule "gpr", not "all"
	Batch   [][]uint32        // the deleted genes of each sample of a batch: at least one
	Rounds  int               // at least 1
	Devices gpuverify.Devices // Memory is ignored
}

// Speed is how fast a device and, for comparison, one CPU core make the masks of a batch.
type Speed struct {
	Ordinal int
	Name    string
	// device memory needed to make masks: the graph's tables, and the masks of one batch
	MemoryBytes int64
	IndexBytes  int64 // of a batch: perturbation indices and their ptr, int64
	MaskBytes   int64 // of a batch: whole masks, a byte per position, which are uploaded
	BitBytes    int64 // of a batch: masks of bits, which the device makes
	Rounds      []Round
}

// Round is one round of measurements. Times are in seconds, for the whole batch, and speeds in
// bytes per second.
type Round struct {
	// of device memory; copying counts bytes read and written
	FillSpeed, CopySpeed    float64
	IndexUpload, MaskUpload float64 // from pinned memory of the host
	ByIncidence, ByEdges    float64 // on the device; by edges they are compared with those by incidence
	CPUIncidence, CPUEdges  float64 // whole masks
}

// String names the device.
func (s Speed) String() string { return fmt.Sprintf("cuda:%d (%s)", s.Ordinal, s.Name) }
