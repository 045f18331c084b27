// Package seed makes the random numbers of tests that try other cases each time they run.
package seed

import (
	"math/rand/v2"
	"os"
	"strconv"
	"testing"
)

// variable names the environment variable with the seed of a run that is to be repeated. The tests
// in Python read it too.
const variable = "TCBUILD_SEED"

// Rand returns random numbers from a seed of its own, which the log of the test shows.
func Rand(t testing.TB) *rand.Rand {
	t.Helper()
	seed := uint64(rand.Uint32())
	if text := os.Getenv(variable); text != "" {
		var err error
		if seed, err = strconv.ParseUint(text, 10, 64); err != nil {
			t.Fatalf("read %s: found %q, expected a whole number", variable, text)
		}
	}
	t.Logf("to try the same cases again: %s=%d go test -run '^%s$'", variable, seed, t.Name())
	return rand.New(rand.NewPCG(seed, 0))
}
