package bench

import (
	"os"
	"strings"
	"testing"
	"time"

	"tcbuild/internal/testing/testrun"
)

func TestStatusBytes(t *testing.T) {
	const status = "Name:\ttcbuild\nVmHWM:\t    1024 kB\nRssAnon:\t      12 kB\nThreads:\t7\n"
	for name, want := range map[string]float64{"VmHWM:": 1 << 20, "RssAnon:": 12288, "Threads:": 0, "RssFile:": 0} {
		if got := statusBytes([]byte(status), name); got != want {
			t.Errorf("%s got %g, want %g", name, got, want)
		}
	}
}

func TestWatchMemory(t *testing.T) {
	const size = 64 << 20
	memory := make([]byte, size)
	var anon float64
	// longer and longer: a busy machine lets nobody sample in time
	for wait := 20 * samplingInterval; anon < size && wait < 10*time.Minute; wait *= 2 {
		peak := watchMemory(os.Getpid())
		for i := 0; i < size; i += 4096 {
			memory[i] = 1
		}
		time.Sleep(wait)
		var err error
		if anon, err = peak(); err != nil {
			t.Fatal(err)
		}
	}
	if anon < size || memory[0] != 1 {
		t.Errorf("got %g bytes after %d were written", anon, size)
	}
}

func TestMeasureLimits(t *testing.T) {
	dir := t.TempDir()
	for _, size := range []int{1, 3 << 20, 881}[:testrun.Cases(3, 2)] {
		var l Limits
		if err := l.measure(dir, size, 100_000); err != nil || l.Fill.Min <= 0 || l.Copy.Min <= 0 || l.DiskWrite.Min <= 0 {
			t.Errorf("buffers of %d bytes: got %+v, %v", size, l, err)
		}
	}
	if left, err := os.ReadDir(dir); err != nil || len(left) > 0 {
		t.Errorf("%v was left behind (error: %v)", left, err)
	}
	if err := new(Limits).measure(dir+"/none", 1, 1); err == nil || !strings.Contains(err.Error(), "no such file") {
		t.Errorf("got %v, want an error of a missing folder", err)
	}
}
