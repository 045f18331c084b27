package tcbuild_test

import (
	"context"
	"os"
	"path/filepath"
	"runtime"
	"testing"

	"tcbuild"
	"tcbuild/ingest/samples"
	"tcbuild/internal/disk"
	"tcbuild/internal/testing/synthetic"
	"tcbuild/store"
)

// While a build of a shard waits for the lock of the dataset, the process that built the last shard
// publishes it. The build finds it up to date.
func TestPublishedWhileShardWaits(t *testing.T) {
	dir := t.TempDir()
	cell, set := synthetic.Write(t, 1000)
	out := filepath.Join(dir, "indices")
	build := func(out string, part *int) (*tcbuild.Result, error) {
		return tcbuild.Build(context.Background(), tcbuild.Options{
			Variant: store.Indices,
			Graph:   cell,
			Spec:    samples.Spec{File: set},
			Out:     out,
			Parts:   2,
			Part:    part,
			Resume:  store.ResumeIfPossible,
		})
	}
	first, second := 0, 1
	complete := filepath.Join(dir, "complete")
	for _, err := range []error{errorOf(build(complete, nil)), errorOf(build(out, &first))} {
		if err != nil {
			t.Fatal(err)
		}
	}
	path := out + ".building/.build/lock"
	lock, err := disk.TryLock(path, disk.Alone)
	if err != nil {
		t.Fatal(err)
	}
	defer lock.Close()

	var result *tcbuild.Result
	ended := make(chan error)
	go func() {
		var err error
		result, err = build(out, &second)
		ended <- err
	}()
	for openFiles(t, path) < 2 { // until the build tries to lock the dataset
		select {
		case err := <-ended:
			t.Fatal(err)
		default:
			runtime.Gosched()
		}
	}
	for _, err := range []error{
		os.Rename(complete, out), os.RemoveAll(out + ".building"), lock.Close(),
	} {
		if err != nil {
			t.Fatal(err)
		}
	}
	if err := <-ended; err != nil {
		t.Fatal(err)
	}
	if result.State != tcbuild.Unchanged {
		t.Errorf("got %v, want %v", result.State, tcbuild.Unchanged)
	}
}

func errorOf[T any](_ T, err error) error { return err }

// openFiles is how often this process has a file open.
func openFiles(t *testing.T, path string) (count int) {
	t.Helper()
	links, err := filepath.Glob("/proc/self/fd/*")
	if err != nil {
		t.Fatal(err)
	}
	for _, link := range links {
		if file, _ := os.Readlink(link); file == path {
			count++
		}
	}
	return count
}
