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
	genes         []int // deleted; each measurement uses the first ones
	features, out cuda.Memory
	// pinned: ptr and perturbation indices of a sample, then downloads
	host    []byte
	indices cuda.Memory
	mask    kernels.Masks
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
	f.Src, f.Dst = m.ByEdges.Src.From(4*f.first), m.ByEdges.Dst.From(4*f.first)
	f.genes = rand.New(rand.NewPCG(1, 0)).Perm(t.Genes)[:min(t.Genes, deletedGenes[len(deletedGenes)-1])]
	if f.host, err = m.context.AllocatePinned(8 * (2 + len(f.genes) + 1)); err != nil {
		return err
	}
	f.mask.Stride = t.Stride
	for _, room := range []struct {
		memory *cuda.Memory
		bytes  int
	}{{&f.indices, 8 * (2 + len(f.genes))}, {&f.mask.Memory, t.Stride}, {&f.features, f.MatrixSize()}, {&f.out, f.MatrixSize()}} {
		if *room.memory, err = m.context.Allocate(room.bytes); err != nil {
			return err
		}
	}
	m.stream.Fill(f.features, 0x3C, f.features.Size()) // of each byte; as float32, 0.0115
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
		if r.Mask, err = m.time(ctx, func(int) { f.multiply(m) }); err != nil {
			return nil, err
		}
		if r.Filter, err = m.time(ctx, func(int) { f.compact(m) }); err != nil {
			return nil, err
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
	m.stream.Upload(f.indices, f.host[:8*(2+genes)])
	return m.wait()
}

// generate makes the mask.
func (f *filterMeter) generate(m *meter) cuda.Memory {
	batch := kernels.Batch{Samples: 1, Ptr: f.indices, PerturbationIndices: f.indices.From(16)}
	if m.tables.ByRules {
		m.NodeWords.Run(m.stream, batch, m.words)
	}
	m.ByIncidence.Run(m.stream, batch, m.words, f.mask)
	return f.mask.From(f.first)
}

func (f *filterMeter) multiply(m *meter) {
	f.RunMask(m.stream, f.generate(m), f.features, f.out)
}

func (f *filterMeter) compact(m *meter) {
	f.RunFilter(m.stream, f.generate(m), f.features, f.out)
}

// kept is how many edges the last filter kept.
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
