package main

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strconv"
	"sync/atomic"
	"testing"
	"time"

	"tcbuild/gpuverify"
	"tcbuild/internal/disk"
	"tcbuild/internal/rebuild"
	"tcbuild/internal/testing/seed"
	"tcbuild/store"
)

// loopVariable is the number of rounds of TestRebuildLoop, 100 in its long form.
const loopVariable = "TCBUILD_LOOP_ROUNDS"

// As under cron, for weeks: inputs that change now and then, runs that overlap, a kill at a random
// moment in each fifth round. A reader looks at current all the while: it must be complete and
// verified at every moment.
func TestRebuildLoop(t *testing.T) {
	skipShort(t)
	t.Parallel()
	rounds := 10
	if text := os.Getenv(loopVariable); text != "" {
		rounds, _ = strconv.Atoi(text)
	}
	f := newFixture(t, 2000, 150)
	r := seed.Rand(t)
	args := rebuildOf("--quiet", "--metrics-file", "set.prom", "--log-file", "set.log")
	must(t, f.dir, args...)
	stop := watchCurrent(t, filepath.Join(f.dir, "out/set/current"))

	samples, killed, overlapped := len(f.genotypes), 0, 0
	for round := range rounds {
		if r.IntN(2) == 0 {
			rewrite(t, filepath.Join(f.dir, "sets.tsv"), fmt.Sprintf("more%d\tY%03d\t0\t\n", round, r.IntN(fixtureGenes)))
			samples++
		}
		first := begin(t, f.dir, args...)
		if round%5 == 4 {
			time.Sleep(time.Duration(r.IntN(350)) * time.Millisecond)
			_ = first.Process.Kill() // it may have ended
			if finish(t, first).code == -1 {
				killed++
			}
			continue
		}
		time.Sleep(time.Duration(r.IntN(100)) * time.Millisecond)
		second := begin(t, f.dir, args...)
		codes := []int{finish(t, first).code, finish(t, second).code}
		switch {
		case codes[0] == 0 && codes[1] == 75, codes[0] == 75 && codes[1] == 0:
			overlapped++
		case codes[0] != 0 || codes[1] != 0:
			t.Errorf("round %d: got exit codes %v", round, codes)
		}
		if n := f.versionsOf(t); n > 3 {
			t.Errorf("round %d: got %d versions", round, n)
		}
	}
	must(t, f.dir, args...)
	looks := stop()
	t.Logf("%d rounds, %d killed, %d overlapped, %d looks at current", rounds, killed, overlapped, looks)
	if looks == 0 {
		t.Error("the reader never saw a version")
	}
	if manifest := manifestOf(t, filepath.Join(f.dir, "out/set/current/full-masks")); manifest.Samples != samples {
		t.Errorf("got %d samples, want %d", manifest.Samples, samples)
	}
	f.versionsOf(t)
	if left, _ := filepath.Glob(filepath.Join(f.dir, ".tmp-*")); len(left) > 0 {
		t.Errorf("%v was left behind", left)
	}
}

// watchCurrent looks at a version in a loop, and ends with the number of looks.
func watchCurrent(t *testing.T, current string) (stop func() int) {
	var ended atomic.Bool
	looks, done := 0, make(chan struct{})
	go func() {
		defer close(done)
		for !ended.Load() {
			before, _ := os.Readlink(current)
			err := lookAt(current)
			if now, _ := os.Readlink(current); err != nil && now != before && errors.Is(err, fs.ErrNotExist) {
				continue // a slow look: the version is not current any more, and may have been removed
			}
			if err != nil {
				t.Errorf("current is not whole: %v", err)
				return
			}
			looks++
			time.Sleep(5 * time.Millisecond) // the rebuilds need the cores, too
		}
	}()
	return func() int {
		ended.Store(true)
		<-done
		return looks
	}
}

// lookAt checks that a version has all its datasets, undamaged and of one content, and the reports
// of their verification.
func lookAt(current string) error {
	version, err := filepath.EvalSymlinks(current)
	if err != nil {
		return err
	}
	if _, err := os.Stat(filepath.Join(version, rebuild.RecordName)); err != nil {
		return err
	}
	var content string
	for _, variant := range allVariants {
		dataset, err := store.Open(filepath.Join(version, variant))
		if err != nil {
			return err
		}
		for _, file := range dataset.Manifest.Files {
			if err := dataset.CheckFile(file); err != nil {
				return err
			}
		}
		var report gpuverify.Report
		if err := disk.ReadJSON(filepath.Join(version, rebuild.ReportName(variant)), &report); err != nil {
			return err
		}
		if content == "" {
			content = dataset.Manifest.LogicalContent
		}
		if !report.Passed() || report.Samples != dataset.Manifest.Samples || report.LogicalContent != content || dataset.Manifest.LogicalContent != content {
			return fmt.Errorf("%s: %s is not what was verified", version, variant)
		}
	}
	return nil
}
