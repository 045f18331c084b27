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

// The memory of inspect does not grow with the samples of a perturbation set.
func TestInspectMemoryIsFlat(t *testing.T) {
	if testing.Short() {
		t.Skip("-short: it reads a million samples")
	}
	t.Setenv("GOGC", "20") // what is kept counts, not what is not yet collected
	dir := t.TempDir()
	peak := func(samples int) (kilobytes int64) {
		path := filepath.Join(dir, fmt.Sprint(samples, ".tsv"))
		file, err := os.Create(path)
		if err != nil {
			t.Fatal(err)
		}
		// not in memory: until it has started, a process has that of its parent
		out := bufio.NewWriter(file)
		fmt.Fprintln(out, "sample_id\tgenes\tfitness")
		for i := range samples {
			fmt.Fprintf(out, "s%d\tY%d|Z%d\t%d\n", i, i%1000, i/1000%1000, i)
		}
		if err := errors.Join(out.Flush(), file.Close()); err != nil {
			t.Fatal(err)
		}
		cmd := begin(t, dir, "inspect", path)
		if o := finish(t, cmd); o.code != 0 || !strings.Contains(o.stdout, "with the id of an earlier one        0") {
			t.Fatalf("exit code %d\n%s%s", o.code, o.stdout, o.stderr)
		}
		return cmd.ProcessState.SysUsage().(*syscall.Rusage).Maxrss
	}
	// that ten times the samples may take more; with 16 bytes for each it was 38 MB
	const most = 14 << 10
	if some, all := peak(130_000), peak(1_300_000); all > some+most {
		t.Errorf("130,000 samples take %d kB, ten times as many %d kB, expected at most %d kB more", some, all, most)
	} else {
		t.Logf("%d kB, %d kB", some, all)
	}
}
