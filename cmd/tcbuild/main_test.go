package main

import (
	"bufio"
	"bytes"
	"cmp"
	"context"
	"errors"
	"flag"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"golang.org/x/sys/unix"

	"tcbuild/internal/rebuild"
)

// modeVariable turns the test binary into the program, or into one that hangs
// after its first signal.
const modeVariable = "TCBUILD_TEST_MODE"

// longestEndVariable is longestEnd, a duration; without it, as long as tests wait.
const longestEndVariable = "TCBUILD_TEST_LONGEST_END"

// commitVariable is the commit of a release that the program is; without it, of-the-tests.
const commitVariable = "TCBUILD_TEST_COMMIT"

var update = flag.Bool("update", false, "rewrite the files that tests compare with")

func TestMain(m *testing.M) {
	hinted = checkHint
	switch os.Getenv(modeVariable) {
	case "main":
		commit = cmp.Or(os.Getenv(commitVariable), "of-the-tests")
		for i := range rebuild.Pauses {
			rebuild.Pauses[i] = 100 * time.Millisecond
		}
		longestEnd = patience
		if text := os.Getenv(longestEndVariable); text != "" {
			longestEnd, _ = time.ParseDuration(text)
		}
		if size, pattern, ok := strings.Cut(os.Getenv(stopVariable), " "); ok {
			bytes, _ := strconv.ParseInt(size, 10, 64)
			go stopAt(bytes, pattern)
		}
		if file := os.Getenv(peakVariable); file != "" {
			notePeak(file)
		}
		main()
	case "hang":
		ctx, _ := interruptible(context.Background())
		fmt.Println("ready")
		<-ctx.Done()
		fmt.Println(context.Cause(ctx))
		select {}
	default:
		// The processes of tests are short: collecting garbage would take half of their time.
		os.Setenv("GOGC", "off")
		os.Setenv("GOMEMLIMIT", "256MiB")
		// They wait for their processes, and these for the disk.
		flag.Set("test.parallel", strconv.Itoa(2*runtime.GOMAXPROCS(0)))
		os.Exit(m.Run())
	}
}

// program is the program as its own process, to be started in a new folder.
func program(t *testing.T, mode string, args ...string) *exec.Cmd {
	t.Helper()
	executable, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithTimeout(t.Context(), patience)
	t.Cleanup(cancel)
	cmd := exec.CommandContext(ctx, executable, args...)
	cmd.Dir = t.TempDir()
	// or each process of -race ends a second late
	cmd.Env = append(os.Environ(), modeVariable+"="+mode, "GORACE=atexit_sleep_ms=0")
	return cmd
}

// A signal ends a build with exit code 75 and leaves no files.
func TestInterruptedRun(t *testing.T) {
	t.Parallel()
	for _, signal := range []syscall.Signal{syscall.SIGINT, syscall.SIGTERM, syscall.SIGUSR1} {
		cmd := program(t, "main", "synth", "--out", "deep/demo", "--samples", "2000000000")
		stderr, err := cmd.StderrPipe()
		if err != nil {
			t.Fatal(err)
		}
		if err := cmd.Start(); err != nil {
			t.Fatal(err)
		}
		lines := bufio.NewReader(stderr)
		if line, err := lines.ReadString('\n'); !strings.Contains(line, "made graph") {
			t.Fatalf("got %q, %v", line, err)
		}
		if err := cmd.Process.Signal(signal); err != nil {
			t.Fatal(err)
		}
		rest, err := io.ReadAll(lines)
		if err != nil {
			t.Fatal(err)
		}
		_ = cmd.Wait()
		if code := cmd.ProcessState.ExitCode(); code != 75 {
			t.Errorf("%v: got exit code %d, want 75", signal, code)
		}
		if want := "tcbuild: interrupted by SIG"; !strings.HasPrefix(string(rest), want) || !strings.Contains(string(rest), "\nhint: ") {
			t.Errorf("%v: got %q, want %q… and a hint", signal, rest, want)
		}
		if left, _ := os.ReadDir(filepath.Join(cmd.Dir, "deep")); len(left) > 0 {
			t.Errorf("%v: %v was left behind", signal, left)
		}
	}
}

// Copies of a signal do nothing: SLURM sends its own to the process and to its group. One that
// comes later kills.
func TestLaterSignalKills(t *testing.T) {
	t.Parallel()
	cmd := program(t, "hang")
	stdout, err := cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	lines := bufio.NewReader(stdout)
	send := func() error { return cmd.Process.Signal(syscall.SIGTERM) }
	var sent time.Time
	for _, want := range []string{"ready\n", "interrupted by SIGTERM\n"} {
		if line, _ := lines.ReadString('\n'); line != want {
			t.Fatalf("got %q, want %q", line, want)
		}
		if sent.IsZero() {
			sent = time.Now()
		}
		if err := send(); err != nil {
			t.Fatal(err)
		}
	}
	go func() {
		for send() == nil {
			time.Sleep(10 * time.Millisecond)
		}
	}()
	exit, ok := errors.AsType[*exec.ExitError](cmd.Wait())
	if !ok {
		t.Fatal("the program ended well")
	}
	if status := exit.Sys().(syscall.WaitStatus); status.Signal() != syscall.SIGTERM {
		t.Errorf("got %v, want an end by SIGTERM", exit)
	}
	if lived := time.Since(sent); lived < signalGrace {
		t.Errorf("killed after %v, expected %v or more", lived, signalGrace)
	}
}

// A command whose output nobody reads ends after a signal too.
func TestInterruptedWait(t *testing.T) {
	skipShort(t)
	t.Parallel()
	f := newFixture(t, 4000, 150)
	must(t, f.dir, f.dataset("indices", "zstd", "indices")...)
	args := []string{"inspect", "indices", "--samples", "0:150", "--json"}
	longest := 0
	for line := range strings.Lines(must(t, f.dir, args...).stdout) {
		longest = max(longest, len(line))
	}
	cmd := program(t, "main", args...)
	cmd.Dir, cmd.Env = f.dir, append(cmd.Env, longestEndVariable+"=100ms")
	unread, full, err := os.Pipe()
	if err != nil {
		t.Fatal(err)
	}
	defer unread.Close()
	size, err := unix.FcntlInt(full.Fd(), unix.F_SETPIPE_SZ, 4096)
	if err != nil {
		t.Fatal(err)
	}
	var stderr bytes.Buffer
	cmd.Stdout, cmd.Stderr = full, &stderr
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	full.Close()
	eventually(t, "a full pipe", func() bool {
		waiting, err := unix.IoctlGetInt(int(unread.Fd()), unix.TIOCINQ)
		return err == nil && waiting > size-longest // a line that does not fit waits as a whole
	})
	if err := cmd.Process.Signal(syscall.SIGTERM); err != nil {
		t.Fatal(err)
	}
	_ = cmd.Wait()
	outcome{cmd.ProcessState.ExitCode(), "", stderr.String()}.refused(t, 75, "interrupted by SIGTERM")
}
