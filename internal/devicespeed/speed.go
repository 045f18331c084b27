// Package devicespeed measures how fast CUDA devices make masks, by the kernels with which
// gpuverify verifies them, and whether a model on a device had better mask messages or filter
// edges. The tag cuda builds it in.
package devicespeed

//go:generate ../../gpuverify/kernels/ptx.sh

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
	MaskOrFilter            []MaskOrFilter
}

// MaskOrFilter compares the device time of two ways to keep messages off one sample's removed
// edges. Nodes have 64 features, float32, and an edge's message is those of its source, added to
// its target. Either each message is multiplied by its edge's mask, or the list of edges is
// compacted and only the kept ones have messages. All times are apart, in seconds.
type MaskOrFilter struct {
	DeletedGenes int
	KeptEdges    int
	Generate     float64 // of the mask, which both need
	Mask         float64 // the messages of all edges, times the mask
	Compact      float64
	Filter       float64 // the messages of the kept edges
}

// deletedGenes are the numbers of deleted genes that MaskOrFilter is measured with.
var deletedGenes = []int{1, 3, 10, 30, 100, 300, 1000}

// String names the device.
func (s Speed) String() string { return fmt.Sprintf("cuda:%d (%s)", s.Ordinal, s.Name) }
