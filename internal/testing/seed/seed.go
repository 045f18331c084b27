// Package seed makes the random numbers of tests. They are the same on every machine, every time;
// TCBUILD_SEED=N tries other cases, and TCBUILD_SEED=random others in each test, whose log shows
// the seed. The tests in Python read the variable too.
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
	return rand.New(rand.NewPCG(of(t), 0))
}

// OneIn reports, by a test's name, whether it is among the one in n to be run.
func OneIn(t testing.TB, n int) bool {
	t.Helper()
	name := fnv.New64a()
	name.Write([]byte(t.Name()))
	return rand.New(rand.NewPCG(of(t), name.Sum64())).IntN(n) == 0
}

func of(t testing.TB) uint64 {
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
