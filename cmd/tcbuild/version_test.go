package main

import (
	"encoding/json"
	"strings"
	"testing"

	"tcbuild/gpuverify"
	"tcbuild/store"
)

// version --json says what the line says, and what the program can do.
func TestVersionJSON(t *testing.T) {
	t.Parallel()
	var b buildInfo
	if err := json.Unmarshal([]byte(must(t, t.TempDir(), "version", "--json").stdout), &b); err != nil {
		t.Fatal(err)
	}
	line := must(t, t.TempDir(), "version").stdout
	if want := "tcbuild " + version + " (commit " + b.Commit; b.Version != version || !strings.HasPrefix(line, want) || !strings.HasSuffix(line, b.Go+")\n") {
		t.Errorf("got %q, expected what %+v says", line, b)
	}
	if b.CUDA != gpuverify.HasCUDA || b.FormatVersion != store.FormatVersion || !strings.HasPrefix(b.LMDB, "0.9.") {
		t.Errorf("got %+v", b)
	}
}

// A release's version identifies the program; the executable's digest does all other builds.
func TestIdentity(t *testing.T) {
	defer func(before string) { commit = before }(commit)
	for of, isHashed := range map[string]bool{"": true, "1f5b5e-dirty": true, "1f5b5e": false} {
		commit = of
		got, err := identity()
		if err != nil || isHashed != strings.Contains(got, ", sha256 ") {
			t.Errorf("%q: got %q, %v", of, got, err)
		}
	}
}
