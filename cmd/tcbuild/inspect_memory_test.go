package main

import (
	"bufio"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
)

// The memory of inspect does not grow with the samples of a perturbation set or dataset, each of
// which has a text or number of its own.
func TestInspectMemoryIsFlat(t *testing.T) {
	if testing.Short() {
		t.Skip("-short: it reads a million samples")
	}
	dir := t.TempDir()
	genes := "id\n"
	for i := range 1000 {
		genes += fmt.Sprintf("Y%d\nZ%d\n", i, i)
	}
	writeFiles(t, dir, map[string]string{"graph/nodes/gene.tsv": genes})
	peaks := func(samples int) (kilobytes map[string]int64) {
		set, dataset := fmt.Sprint(samples, ".tsv"), fmt.Sprint(samples)
		file, err := os.Create(filepath.Join(dir, set))
		if err != nil {
			t.Fatal(err)
		}
		// not in memory: until it has started, a process has that of its parent
		out := bufio.NewWriter(file)
		fmt.Fprintln(out, "sample_id\tgenes\tfitness\tstrain\tplate")
		for i := range samples {
			fmt.Fprintf(out, "s%d\tY%d|Z%d\t%d\tstrain %d\t%d\n", i, i%1000, i/1000%1000, i, i, i)
		}
		if err := errors.Join(out.Flush(), file.Close()); err != nil {
			t.Fatal(err)
		}
		// of texts, the reader would have the dictionaries of the parts that it has open
		must(t, dir, "incidence", "--graph", "graph", "--perturbations", set, "--phenotypes", "fitness", "--attributes", "plate", "--out", dataset)
		kilobytes = make(map[string]int64)
		for name, path := range map[string]string{"perturbation set": set, "dataset": dataset} {
			cmd := program(t, "main", "inspect", path)
			cmd.Dir, cmd.Env = dir, append(cmd.Environ(), "GOGC=20") // what is kept counts, not what is not yet collected
			text, err := cmd.Output()
			if err != nil || !strings.Contains(string(text), "too many to count") {
				t.Fatalf("%v\n%s", err, text)
			}
			if name == "perturbation set" && !strings.Contains(string(text), "with the id of an earlier one        0") {
				t.Errorf("found repeated ids:\n%s", text)
			}
			kilobytes[name] = cmd.ProcessState.SysUsage().(*syscall.Rusage).Maxrss
		}
		return kilobytes
	}
	// that ten times the samples may take more; with 16 bytes for each it was 38 MB
	const most = 14 << 10
	some, all := peaks(130_000), peaks(1_300_000)
	for what := range some {
		if all[what] > some[what]+most {
			t.Errorf("%s: 130,000 samples take %d kB, ten times as many %d kB, expected at most %d kB more", what, some[what], all[what], most)
		}
	}
	t.Log(some, all)
}
