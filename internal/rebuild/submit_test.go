package rebuild

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"tcbuild"
)

// Jobs ask for memory by what they read; verification, in this example, by its cores, too. The
// survey asks for four cores, or for as many as every node has.
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
	answer("big:\\n8+ 64000+\\n4 128000\\n")
	r.AskFor(t.Context(), &order)
	for label, want := range map[string]int{
		JobIncidence: 2 * (75 + 27*10 + 70*4 + 20*4), JobShards: 2 * (25 + 27*10 + 5), JobVerify: 2 * (30 + 45*10 + 16*8), JobFinalize: 2 * (25 + 27*10),
	} {
		if got := order.Memory[label]; got < want || got >= want+64 {
			t.Errorf("%s: got %d, want %d", label, got, want)
		}
	}
	if order.Cores != 4 {
		t.Errorf("got %d cores, want 4", order.Cores)
	}
	answer("2+ 1+\\n") // where the memory of nodes is not configured, SLURM refuses each job that asks for some
	if r.AskFor(t.Context(), &order); order.Memory != nil || order.Cores != 2 {
		t.Errorf("got %v, %d cores", order.Memory, order.Cores)
	}
}
