package sha256pair

import (
	"bytes"
	"crypto/sha256"
	"fmt"
	"hash"
	"math/rand/v2"
	"os"
	"testing"
)

func TestPairHasTheDigestsOfEach(t *testing.T) {
	random := rand.NewChaCha8([32]byte{1})
	for _, writes := range [][][2]int{ // bytes to a and to b, call by call
		{{0, 0}}, {{1, 0}}, {{0, 64}}, {{64, 64}}, {{63, 65}}, {{128, 64}}, {{6400, 6400}},
		{{64, 64}, {64, 64}}, {{64, 128}, {192, 64}}, {{1, 1}, {640, 640}}, {{1, 64}, {63, 64}, {640, 640}},
		{{4096, 4096}, {4096, 1000}, {4096, 4096}, {77, 0}},
	} {
		t.Run(fmt.Sprint(writes), func(t *testing.T) {
			pair, each := [2]hash.Hash{sha256.New(), sha256.New()}, [2]hash.Hash{sha256.New(), sha256.New()}
			for _, sizes := range writes {
				var content [2][]byte
				for i, size := range sizes {
					content[i] = make([]byte, size+1)[1:] // of no particular alignment
					random.Read(content[i])
					each[i].Write(content[i])
				}
				Write(pair[0], pair[1], content[0], content[1])
			}
			for i := range pair {
				if got, want := fmt.Sprintf("%x", pair[i].Sum(nil)), fmt.Sprintf("%x", each[i].Sum(nil)); got != want {
					t.Errorf("stream %d: digest %s (expected %s)", i, got, want)
				}
			}
		})
	}
}

// Without this the lanes could go unused, and untested, for want of a layout that is known.
func TestStateOfThisGoIsKnown(t *testing.T) {
	if _, ok := stateOf(sha256.New()); !ok {
		t.Error("crypto/sha256 marshals its state in a way that this package does not know")
	}
	if kernel, err := os.ReadFile("/proc/cpuinfo"); err == nil && bytes.Contains(kernel, []byte(" sha_ni ")) && !haveLanes {
		t.Error("the kernel knows of SHA instructions, but lanes go unused")
	}
}

func BenchmarkWrite(b *testing.B) {
	p, q := make([]byte, 64<<10), make([]byte, 64<<10)
	first, second := sha256.New(), sha256.New()
	for name, write := range map[string]func(){
		"streams=side-by-side": func() { Write(first, second, p, q) },
		"streams=in-turn":      func() { first.Write(p); second.Write(q) },
	} {
		b.Run(name, func(b *testing.B) {
			b.SetBytes(int64(len(p) + len(q)))
			for b.Loop() {
				write()
			}
		})
	}
}
