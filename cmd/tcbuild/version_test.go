package main

import (
	"encoding/json"
	"strings"
	"testing"

	"tcbuild/gpuverify"
	"tcbuild/internal/rebuild"
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

// A clean commit identifies the program; in all other builds the executable's digest does.
func TestIdentity(t *testing.T) {
	t.Parallel()
	for version, hashed := range map[string]bool{
		"0.1.0 (commit 1f5b5e, go1.26)":           false,
		"0.1.0 (commit 1f5b5e, modified, go1.26)": true,
		"0.1.0 (commit unknown, go1.26)":          true,
	} {
		got, err := rebuild.Identity(version)
		digest, found := strings.CutPrefix(got, version+", sha256 ")
		if err != nil || found != hashed || hashed && len(digest) != 24 || !hashed && got != version {
			t.Errorf("%s: got %q, %v", version, got, err)
		}
	}
}
