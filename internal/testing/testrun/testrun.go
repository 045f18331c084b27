// Package testrun makes tests fast. Tests that import it write to memory, as they write and sync
// thousands of small files, and collect less garbage, unless TMPDIR or GOGC says otherwise. Under
// -short it takes some of their cases.
package testrun

import (
	"os"
	"runtime/debug"
	"testing"

	"golang.org/x/sys/unix"

	"tcbuild/internal/testing/seed"
)

const (
	memory = "/dev/shm"
	room   = 6_000_000_000 // bytes that memory has for all tests
)

func init() {
	if os.Getenv("GOGC") == "" {
		debug.SetGCPercent(400)
	}
	var disk unix.Statfs_t
	if os.Getenv("TMPDIR") == "" && unix.Statfs(memory, &disk) == nil && disk.Bavail*uint64(disk.Bsize) > room {
		os.Setenv("TMPDIR", memory)
	}
}

// Cases is all, or some under -short.
func Cases[N int | int64](all, some N) N {
	if testing.Short() {
		return some
	}
	return all
}

// OneIn runs about one in n of a test's cases under -short, and skips the others.
func OneIn(t *testing.T, n int) {
	t.Helper()
	if testing.Short() && !seed.OneIn(t, n) {
		t.Skip("-short: one of some cases runs")
	}
}
