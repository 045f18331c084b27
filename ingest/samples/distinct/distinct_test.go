package distinct

import (
	"fmt"
	"math/rand/v2"
	"runtime"
	"testing"
)

// TestKeys compares with a map: keys of any byte, keys that repeat, and keys in one bucket.
func TestKeys(t *testing.T) {
	for _, test := range []struct {
		keys int
		mask uint64
	}{{0, 0}, {1, ^uint64(0)}, {chunkKeys, 0xff}, {chunkKeys + 1, 0xff00}, {300_000, ^uint64(0)},
		{300_000, 0xff000000000000ff}, {50_000, 0x8000000000000001}} {
		t.Run(fmt.Sprintf("keys=%d/mask=%#x", test.keys, test.mask), func(t *testing.T) {
			random := rand.New(rand.NewPCG(1, 2))
			var short Keys[Hash]
			var long Keys[Key]
			shorts, longs := make(map[Hash]int), make(map[Key]int)
			for range test.keys {
				key := Key{random.Uint64() & test.mask, random.Uint64() & 1}
				short.Add(Hash(key[0]))
				long.Add(key)
				shorts[Hash(key[0])]++
				longs[key]++
			}
			for range 2 {
				compareTo(t, &short, shorts)
				compareTo(t, &long, longs)
			}
			short.Add(7) // after sorting
			shorts[7]++
			compareTo(t, &short, shorts)
		})
	}
}

func compareTo[K key[K]](t *testing.T, keys *Keys[K], want map[K]int) {
	t.Helper()
	different := 0
	for key, times := range keys.All() {
		if different++; want[key] != times {
			t.Fatalf("found %v %d times, expected %d", key, times, want[key])
		}
	}
	if different != len(want) {
		t.Errorf("found %d different keys, expected %d", different, len(want))
	}
}

// Memory is 8 bytes for each key, also while they are sorted.
func TestMemory(t *testing.T) {
	const keys = 4 << 20
	var all Keys[Hash]
	random := rand.New(rand.NewPCG(1, 2))
	before := heap()
	for range keys {
		all.Add(Hash(random.Uint64()))
	}
	if bytes := float64(heap()-before) / keys; bytes > 9.5 {
		t.Errorf("found %.1f bytes for each key", bytes)
	}
	all.sort()
	if bytes := float64(heap()-before) / keys; bytes > 9.5 {
		t.Errorf("found %.1f bytes for each key that is sorted", bytes)
	}
	runtime.KeepAlive(&all)
}

func heap() uint64 {
	runtime.GC()
	var stats runtime.MemStats
	runtime.ReadMemStats(&stats)
	return stats.HeapAlloc
}

func BenchmarkKeys(b *testing.B) {
	for b.Loop() {
		var keys Keys[Key]
		random := rand.New(rand.NewPCG(1, 2))
		for range 1 << 20 {
			keys.Add(Key{random.Uint64(), random.Uint64()})
		}
		for range keys.All() {
		}
	}
}
