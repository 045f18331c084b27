package rebuild

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"tcbuild"
)

// Jobs ask for memory by what they read; verification, in this example, by its cores, too.
func TestMemory(t *testing.T) {
	dir := t.TempDir()
	set, sinfo := filepath.Join(dir, "set.tsv"), filepath.Join(dir, "sinfo")
	if err := os.WriteFile(set, []byte("genes\n"+strings.Repeat("A\n", 4_000_000)), 0o666); err != nil {
		t.Fatal(err)
	}
	answer := func(memory string) {
		if err := os.WriteFile(sinfo, []byte("#!/bin/sh\nprintf '"+memory+"'\n"), 0o755); err != nil {
			t.Fatal(err)
		}
	}
	t.Setenv("PATH", dir+":"+os.Getenv("PATH"))
	r := Rebuild{Build: tcbuild.Options{Perturbations: set}}
	verify, none := []string{"-c", "4", "--cpus-per-task=8"}, []string{}
	order := Order{Jobs: JobLabels, SbatchOf: map[string]*[]string{JobIncidence: &none, JobShards: &none, JobVerify: &verify, JobFinalize: &none}}
	answer("64000+\\n128000\\n")
	found := r.Memory(t.Context(), order)
	for label, want := range map[string]int{
		JobIncidence: 2 * (75 + 27*10 + 70*4 + 20*4), JobShards: 2 * (25 + 27*10 + 5), JobVerify: 2 * (30 + 45*10 + 16*8), JobFinalize: 2 * (25 + 27*10),
	} {
		if got := found[label]; got < want || got >= want+64 {
			t.Errorf("%s: got %d, want %d", label, got, want)
		}
	}
	answer("1+\\n") // where the memory of nodes is not configured, SLURM refuses each job that asks for some
	if found := r.Memory(t.Context(), order); found != nil {
		t.Errorf("got %v", found)
	}
}
