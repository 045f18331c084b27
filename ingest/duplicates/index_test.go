package duplicates

import (
	"crypto/sha256"
	"testing"

	"tcbuild/internal/testing/seed"
	"tcbuild/internal/testing/testrun"
)

// An index has the numbers of a map.
func TestIndex(t *testing.T) {
	random := seed.Rand(t)
	var x index
	defer x.free()
	want := map[key]int{}
	flags := map[key]bool{}
	for range testrun.Cases(400_000, 100_000) {
		sum := sha256.Sum256([]byte{byte(random.IntN(256)), byte(random.IntN(256)), byte(random.IntN(4))})
		k := key(sum[:])
		k[0] = 255
		number, known, err := x.find(k)
		if err != nil {
			t.Fatal(err)
		}
		if value, there := want[k]; known != there || number.get() != value || number.flag() != flags[k] {
			t.Fatalf("%x: found %d %v %v, want %d %v %v", k, number.get(), number.flag(), known, value, flags[k], there)
		}
		value := random.IntN(1 << 31)
		number.set(value)
		number.setFlag(value%2 == 1)
		want[k], flags[k] = value, value%2 == 1
	}
	sum, count := 0, 0
	x.each(func(n number) { sum += n.get(); count++ })
	for _, value := range want {
		sum -= value
	}
	if sum != 0 || count != len(want) {
		t.Errorf("each: %d numbers, want %d; their sums differ by %d", count, len(want), sum)
	}
}

// Large indexes take 25 to 31 bytes for each key.
func TestIndexMemory(t *testing.T) {
	var x index
	defer x.free()
	keys := testrun.Cases(2_000_000, 1_000_000)
	for i := range keys {
		if _, known, err := x.find(key{1, byte(i), byte(i >> 8), byte(i >> 16)}); known || err != nil {
			t.Fatal(i, known, err)
		}
	}
	bytes := 0
	for i := range x.parts {
		bytes += len(x.parts[i].slots)
	}
	if perKey := float64(bytes) / float64(keys); perKey < 24.9 || perKey > 31.4 {
		t.Errorf("%.1f bytes per key", perKey)
	}
}
