//go:build cuda

package gpuverify

import (
	"context"
	"errors"
	"math/rand/v2"
	"slices"
	"sync"
	"testing"
)

// Goroutines that fill batches together lose no sample and mix none, whatever their portions.
func TestBatchesAreFilledTogether(t *testing.T) {
	const goroutines, portions = 8, 200
	room := extent{samples: 40, genes: 90, positions: 700}
	c := &batches{empty: make(chan *batch, batchCount), full: make(chan *batch, batchCount)}
	for range batchCount {
		c.empty <- newBatch(make([]byte, room.bytes()), room)
	}
	var group sync.WaitGroup
	want := make([]int, goroutines)
	for g := range goroutines {
		r := rand.New(rand.NewPCG(1, uint64(g)))
		group.Go(func() {
			var p portion
			for range portions {
				p.clear()
				for range r.IntN(portionSamples) {
					s := sample{index: goroutines*want[g] + g}
					removed := slices.Repeat([]uint32{uint32(s.index)}, r.IntN(40))
					s.genes = slices.Repeat(removed[:min(1, len(removed))], r.IntN(5))
					p.add(s, removed, extent{1, len(s.genes), len(removed)})
					want[g]++
				}
				if err := c.pass(t.Context(), &p); err != nil {
					t.Error(err)
				}
			}
		})
	}
	go func() {
		group.Wait()
		c.flush()
		close(c.full)
	}()
	found, seen := make([]int, goroutines), make(map[int]bool)
	for b := range c.full {
		for k, s := range b.samples[:b.used.samples] {
			if seen[s.index] {
				t.Fatalf("sample %d twice", s.index)
			}
			seen[s.index] = true
			found[s.index%goroutines]++
			wrong := func(value uint32) bool { return int(value) != s.index }
			if slices.ContainsFunc(b.removed(k), wrong) || !slices.EqualFunc(s.genes,
				b.indices[b.ptr[k]:b.ptr[k+1]], func(a uint32, b int64) bool { return int64(a) == b }) {
				t.Fatalf("sample %d: removed %v, genes %v", s.index, b.removed(k), b.indices[b.ptr[k]:b.ptr[k+1]])
			}
		}
		if !b.used.within(room) || len(b.usedPayload()) != 4*int(b.ends[b.used.samples]) {
			t.Fatalf("%+v used of %+v", b.used, room)
		}
		c.empty <- b
	}
	if !slices.Equal(found, want) {
		t.Errorf("found %v samples, want %v", found, want)
	}
}

// A goroutine does not wait for a batch for ever.
func TestNoBatchIsEmpty(t *testing.T) {
	why := errors.New("told to stop")
	ctx, cancel := context.WithCancelCause(t.Context())
	cancel(why)
	if err := (&batches{empty: make(chan *batch)}).pass(ctx, &portion{}); !errors.Is(err, why) {
		t.Errorf("error %v", err)
	}
}
