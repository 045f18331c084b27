package main

import (
	"os"
	"os/exec"
	"path/filepath"
	"testing"
)

// A command fails before any work if its stdout is closed or cannot be written to.
func TestClosedStdout(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		redirect string
		code     int
	}{{">&-", 1}, {"1</dev/null", 1}, {">/dev/null", 0}, {"1<>/dev/null", 0}, {"| cat", 0}} {
		synth := program(t, "main")
		script := `set -o pipefail; "$0" synth --samples 3 --out demo ` + c.redirect
		cmd := exec.CommandContext(t.Context(), "bash", "-c", script, synth.Path)
		cmd.Dir, cmd.Env = synth.Dir, synth.Env
		o := finish(t, start(t, cmd))
		_, err := os.Stat(filepath.Join(cmd.Dir, "demo"))
		if made := err == nil; o.code != c.code || made != (c.code == 0) {
			t.Errorf("%s: got exit code %d, made %v; stderr:\n%s", c.redirect, o.code, made,
				o.stderr)
		}
		if c.code != 0 {
			o.refused(t, c.code, "write to stdout")
		}
	}
}
