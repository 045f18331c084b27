// Package seed makes random numbers for tests: the same on every machine, every time.
// TCBUILD_SEED=N tries other cases; TCBUILD_SEED=random gives each test a seed of its own, and logs
// it. The Python tests read the variable, too.
package seed

import (
	"hash/fnv"
	"math/rand/v2"
	"os"
	"strconv"
	"testing"
)

const (
	variable = "TCBUILD_SEED"
	usual    = 1
)

// Rand returns a test's random numbers.
func Rand(t testing.TB) *rand.Rand {
	t.Helper()
	return rand.New(rand.NewPCG(seedOf(t), 0))
}

// OneIn picks one in n tests, by name, and reports whether this is one of them.
func OneIn(t testing.TB, n int) bool {
	t.Helper()
	name := fnv.New64a()
	name.Write([]byte(t.Name()))
	return rand.New(rand.NewPCG(seedOf(t), name.Sum64())).IntN(n) == 0
}

func seedOf(t testing.TB) uint64 {
	t.Helper()
	switch text := os.Getenv(variable); text {
	case "":
		return usual
	case "random":
		drawn := uint64(rand.Uint32())
		t.Logf("to try the same cases again: %s=%d go test -run '^%s$'", variable, drawn, t.Name())
		return drawn
	default:
		number, err := strconv.ParseUint(text, 10, 64)
		if err != nil {
			t.Fatalf("read %s: found %q, expected a whole number, or random", variable, text)
		}
		return number
	}
}
