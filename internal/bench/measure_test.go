package bench

import (
	"errors"
	"os"
	"strings"
	"testing"
	"time"

	"tcbuild/fault"
	"tcbuild/store"
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
	peaks := watchMemory(os.Getpid())
	memory := make([]byte, size)
	for i := 0; i < size; i += 4096 {
		memory[i] = 1
	}
	time.Sleep(20 * samplingInterval)
	anon, resident := peaks()
	if anon < size || resident < size || memory[0] != 1 {
		t.Errorf("got %g anonymous and %g resident bytes after %d were written", anon, resident, size)
	}
}

func TestChildError(t *testing.T) {
	c := Case{store.Indices, "zstd"}
	for _, test := range []struct {
		code          int
		stderr        string
		kind          fault.Kind
		message, hint string
	}{
		{3, "tcbuild: read x.tsv:2: bad\nhint: mend it\n", fault.Input, "build indices zstd: read x.tsv:2: bad", "mend it"},
		{1, "tcbuild: write x: no space\n", fault.Failed, "build indices zstd: write x: no space", ""},
		{2, "tcbuild: odd\nhint: a\n", fault.Usage, "build indices zstd: odd", "a"},
		{-1, "", fault.Failed, "build indices zstd: signal: killed", ""},
	} {
		err := childError(c, test.code, test.stderr, errors.New("signal: killed"))
		if err.Error() != test.message || fault.KindOf(err) != test.kind || fault.HintOf(err) != test.hint {
			t.Errorf("got %q of kind %d with hint %q, want %q, %d, %q", err, fault.KindOf(err), fault.HintOf(err), test.message, test.kind, test.hint)
		}
	}
}

func TestMeasureLimits(t *testing.T) {
	dir := t.TempDir()
	for _, size := range []int{1, 881, 3 << 20} {
		l, err := measureLimits(dir, size, 100_000)
		if err != nil || l.fill <= 0 || l.copy <= 0 || l.diskWrite <= 0 {
			t.Errorf("buffers of %d bytes: got %+v, %v", size, l, err)
		}
	}
	if left, err := os.ReadDir(dir); err != nil || len(left) > 0 {
		t.Errorf("%v was left behind (error: %v)", left, err)
	}
	if _, err := measureLimits(dir+"/none", 1, 1); err == nil || !strings.Contains(err.Error(), "no such file") {
		t.Errorf("got %v, want an error of a missing folder", err)
	}
}
