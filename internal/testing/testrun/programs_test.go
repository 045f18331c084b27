package testrun

import (
	"os"
	"path/filepath"
	"testing"
)

func TestNeedPrograms(t *testing.T) {
	dir := t.TempDir()
	if err := os.WriteFile(filepath.Join(dir, "sbatch"), []byte("#!/bin/sh\nexit 1\n"), 0o755); err != nil {
		t.Fatal(err)
	}
	t.Setenv("PATH", dir)
	for named, runs := range map[string]bool{
		"": false, "sbatch": true, "podman sbatch runc": true, "podman": false, "sbatch2": false,
	} {
		t.Setenv(programs, named)
		ran := false
		t.Run("named: "+named, func(t *testing.T) {
			NeedPrograms(t, "sbatch")
			ran = true
		})
		if ran != runs {
			t.Errorf("%q: ran is %v", named, ran)
		}
	}
}
