package ingest

import (
	"math/rand/v2"
	"testing"
)

// TestHashSet compares with a map: random hashes, and hashes that collide in slots and parts.
func TestHashSet(t *testing.T) {
	random := rand.New(rand.NewPCG(1, 2))
	for _, mask := range []uint64{^uint64(0), 0xffff, 0xff000000000000ff, 0xf000000000000fff} {
		var set hashSet
		want := make(map[uint64]bool)
		for range 50_000 {
			hash := max(random.Uint64()&mask, 1)
			if got := set.add(hash); got != want[hash] {
				t.Fatalf("mask %#x: hash %#x: known %v, expected %v", mask, hash, got, !got)
			}
			want[hash] = true
		}
	}
	var set hashSet
	if set.add(0) || !set.add(0) {
		t.Error("0 is lost")
	}
}
