package main

import (
	"bufio"
	"bytes"
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
)

// inspect's memory does not grow with a dataset's samples, even if each has a text or number of its
// own.
func TestInspectMemory(t *testing.T) {
	if testing.Short() {
		t.Skip("-short: it reads a million samples")
	}
	dir := t.TempDir()
	genes := "id\n"
	for i := range 1000 {
		genes += fmt.Sprintf("Y%d\nZ%d\n", i, i)
	}
	writeFiles(t, dir, map[string]string{"graph/nodes/gene.tsv": genes})
	peak := func(samples int) (kilobytes int64) {
		set, dataset := fmt.Sprint(samples, ".tsv"), fmt.Sprint(samples)
		file, err := os.Create(filepath.Join(dir, set))
		if err != nil {
			t.Fatal(err)
		}
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
		cmd := program(t, "main", "inspect", dataset)
		cmd.Dir, cmd.Env = dir, append(cmd.Environ(), "GOGC=20") // what is kept counts, not what is not yet collected
		var text bytes.Buffer
		cmd.Stdout = &text
		kilobytes, err = runWithPeak(t, cmd)
		if err != nil || !strings.Contains(text.String(), "too many to count") {
			t.Fatalf("%v\n%s", err, &text)
		}
		return kilobytes
	}
	const fewer, more = 130_000, 1_300_000
	const most = 14 << 10 // kB that the additional samples may take
	some, all := peak(fewer), peak(more)
	if all > some+most {
		t.Errorf("%d samples take %d kB, %d samples %d kB, expected at most %d kB more", fewer, some, more, all, most)
	}
	t.Log(some, all)
}

// peakVariable names a file for the last /proc/self/status of the program.
const peakVariable = "TCBUILD_TEST_PEAK"

// notePeak is the program as in main, and notes its peak of memory.
func notePeak(file string) {
	ctx, _ := interruptible(context.Background())
	code := run(ctx, os.Args[1:], os.Stdout, os.Stderr)
	status, err := os.ReadFile("/proc/self/status")
	if err = errors.Join(err, os.WriteFile(file, status, 0o644)); err != nil {
		panic(err)
	}
	os.Exit(code)
}

// runWithPeak runs the program, and returns the most memory that it had, in kB. The peak in its
// rusage is no less than its parent's when it was started.
func runWithPeak(t *testing.T, cmd *exec.Cmd) (peak int64, err error) {
	t.Helper()
	file := filepath.Join(t.TempDir(), "status")
	cmd.Env = append(cmd.Environ(), peakVariable+"="+file)
	if err := cmd.Run(); err != nil {
		return 0, err
	}
	_, line, _ := strings.Cut(read(t, file), "VmHWM:")
	_, err = fmt.Sscan(line, &peak)
	return peak, err
}
