//go:build cuda

package devicespeed

import (
	"context"
	"math/rand/v2"

	"tcbuild/gpuverify/cuda"
	"tcbuild/gpuverify/kernels"
)

// filterMeter measures whether to mask edges or to filter them.
type filterMeter struct {
	filterKernels
	first         int   // position of the first edge in the mask space, which ends with the edges
	genes         []int // to delete; each measurement uses the first ones
	deleted       int   // of them
	features, out cuda.Memory
	// pinned: ptr and perturbation indices of a sample, then downloads
	host    []byte
	indices cuda.Memory
	bits    kernels.Bits
}

func (f *filterMeter) prepare(m *meter) (err error) {
	t := m.tables
	f.Edges = t.Edges
	f.first = t.Size() - t.Edges
	if f.Edges == 0 {
		return nil
	}
	if err = f.Load(m.context); err != nil {
		return err
	}
	if err = f.Allocate(m.context); err != nil {
		return err
	}
	f.Src, f.Dst = m.Compare.Src.From(4*f.first), m.Compare.Dst.From(4*f.first)
	f.genes = rand.New(rand.NewPCG(1, 0)).Perm(t.Genes)[:min(t.Genes, deletedGenes[len(deletedGenes)-1])]
	if f.host, err = m.context.AllocatePinned(8 * (2 + len(f.genes) + 1)); err != nil {
		return err
	}
	f.bits.Stride = t.Stride
	matrix := 4 * NodeFeatures * t.Nodes()
	for _, room := range []struct {
		memory *cuda.Memory
		bytes  int
	}{{&f.indices, 8 * (2 + len(f.genes))}, {&f.bits.Memory, kernels.BitBytes(1, t.Stride)}, {&f.features, matrix}, {&f.out, matrix}} {
		if *room.memory, err = m.context.Allocate(room.bytes); err != nil {
			return err
		}
	}
	m.stream.Fill(f.features, 0x3C, matrix) // of each byte; as float32, 0.0115
	m.stream.Fill(f.out, 0, matrix)
	return m.stream.Err()
}

// round measures with one and with more deleted genes, up to the number in the graph.
func (f *filterMeter) round(ctx context.Context, m *meter) (results []MaskOrFilter, err error) {
	for _, genes := range deletedGenes {
		if f.Edges == 0 || genes > len(f.genes) {
			break
		}
		r := MaskOrFilter{DeletedGenes: genes}
		if err = f.delete(m, genes); err != nil {
			return nil, err
		}
		removed := f.bits.From(4 * f.first)
		for _, step := range []struct {
			seconds *float64
			work    func(run int)
		}{ // in this order: each needs the ones before
			{&r.Generate, func(int) { f.generate(m) }},
			{&r.Mask, func(int) { f.Mask(m.stream, removed, f.features, f.out) }},
			{&r.Compact, func(int) { f.Compact(m.stream, removed) }},
			{&r.Filter, func(int) { f.Filtered(m.stream, f.features, f.out) }},
		} {
			if *step.seconds, err = m.time(ctx, step.work); err != nil {
				return nil, err
			}
		}
		if r.KeptEdges, err = f.kept(m); err != nil {
			return nil, err
		}
		results = append(results, r)
	}
	return results, nil
}

// delete uploads a sample that deletes so many genes.
func (f *filterMeter) delete(m *meter, genes int) error {
	numbers := cuda.View[int64](f.host)
	numbers[0], numbers[1] = 0, int64(genes)
	for i, gene := range f.genes[:genes] {
		numbers[2+i] = int64(gene)
	}
	f.deleted = genes
	m.stream.Upload(f.indices, f.host[:8*(2+genes)])
	return m.wait()
}

// generate makes the mask, a word for each position.
func (f *filterMeter) generate(m *meter) {
	m.generate(kernels.Batch{Samples: 1, Deleted: f.deleted, Ptr: f.indices, PerturbationIndices: f.indices.From(16)}, f.bits)
}

// kept is how many edges Compact kept.
func (f *filterMeter) kept(m *meter) (int, error) {
	total := f.host[len(f.host)-8:]
	m.stream.Download(total, f.Total)
	err := m.wait()
	return int(cuda.View[uint64](total)[0]), err
}

// wait waits for all queued work.
func (m *meter) wait() error {
	m.stream.Record(m.end)
	if err := m.stream.Err(); err != nil {
		return err
	}
	return m.end.Synchronize()
}
