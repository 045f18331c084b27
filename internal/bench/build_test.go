package bench

import (
	"os"
	"testing"
	"time"
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
