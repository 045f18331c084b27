package inspect

import (
	"math/rand/v2"
	"os"
	"path/filepath"
	"testing"

	"tcbuild/internal/testing/testrun"
)

// Repeats are counted exactly, in memory and across runs, and no file is left.
func TestRepeats(t *testing.T) {
	t.Setenv("TMPDIR", t.TempDir())
	for _, n := range []int{0, 1, heldHashes - 1, heldHashes, 2*heldHashes + 7} {
		for _, distinct := range []uint64{1 << 20, 1000}[:testrun.Cases(2, 1)] {
			r := rand.New(rand.NewPCG(uint64(n), distinct))
			var counted repeats
			seen := make(map[uint64]bool, n)
			for range n {
				hash := r.Uint64N(distinct) * 3
				seen[hash] = true
				if err := counted.add(hash); err != nil {
					t.Fatal(err)
				}
			}
			if got, err := counted.total(); err != nil || got != n-len(seen) {
				t.Errorf("%d of %d distinct hashes: %d repeated, %v, want %d", n, distinct, got, err, n-len(seen))
			}
			counted.close()
		}
	}
	if left, _ := filepath.Glob(filepath.Join(os.TempDir(), "*")); len(left) > 0 {
		t.Errorf("%v was left behind", left)
	}
	t.Setenv("TMPDIR", filepath.Join(t.TempDir(), "missing"))
	var counted repeats
	var err error
	for i := uint64(0); i < heldHashes && err == nil; i++ {
		err = counted.add(i)
	}
	if err == nil {
		t.Error("no error without a temporary folder")
	}
}
