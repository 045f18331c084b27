package main

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"tcbuild/internal/testing/seed"
)

// masksOut is a raw dataset of about 100 MB, in sixteen shards, and the content of an uninterrupted
// build.
func masksOut(t *testing.T) (f fixture, args []string, want map[string]string) {
	t.Helper()
	f = newFixture(t, 190_000, 530)
	must(t, f.dir, f.dataset("full-masks", "raw", "undisturbed", "--shards", "16")...)
	return f, f.dataset("full-masks", "raw", "out", "--shards", "16"), dataOf(t, filepath.Join(f.dir, "undisturbed"))
}

// beginStopped starts the program, which stops itself when a file of a pattern has so many bytes.
func (f fixture) beginStopped(t *testing.T, size int64, pattern string, args ...string) *exec.Cmd {
	t.Helper()
	cmd := program(t, "main", args...)
	cmd.Dir, cmd.Env = f.dir, append(cmd.Env, fmt.Sprintf("%s=%d %s", stopVariable, size, pattern))
	start(t, cmd)
	stopped(t, cmd.Process.Pid)
	return cmd
}

// inFourthShard starts a build of sixteen shards that stops itself in the fourth: the first is
// complete by then, and what is left takes longer than a signal takes to be noticed.
func (f fixture) inFourthShard(t *testing.T, args ...string) *exec.Cmd {
	t.Helper()
	return f.beginStopped(t, 1<<20, "out.building/.build/.shard-00003-of-00016.tcbuild-*/*/data.mdb", args...)
}

func send(t *testing.T, cmd *exec.Cmd, signals ...syscall.Signal) {
	t.Helper()
	for _, s := range signals {
		if err := cmd.Process.Signal(s); err != nil {
			t.Fatal(err)
		}
	}
}

// completes checks that the same command now ends with the bytes of an undisturbed build.
func (f fixture) completes(t *testing.T, args []string, want map[string]string) {
	t.Helper()
	must(t, f.dir, args...)
	sameData(t, dataOf(t, filepath.Join(f.dir, "out")), want)
	nothing(t, filepath.Join(f.dir, "out.building"))
}

func TestResume(t *testing.T) {
	skipShort(t)
	t.Parallel()
	f, args, want := masksOut(t)
	out, building := filepath.Join(f.dir, "out"), filepath.Join(f.dir, "out.building")
	// interrupt leaves an unfinished build with a complete shard.
	interrupt := func(t *testing.T, how syscall.Signal) {
		t.Helper()
		if err := os.RemoveAll(out); err != nil {
			t.Fatal(err)
		}
		cmd := f.inFourthShard(t, args...)
		send(t, cmd, how, syscall.SIGCONT)
		o := finish(t, cmd)
		if how != syscall.SIGKILL {
			o.refused(t, 75, "interrupted by SIG")
			if !strings.HasSuffix(o.stderr, "hint: run the same command again to continue\n") {
				t.Errorf("got stderr %q", o.stderr)
			}
		}
		nothing(t, out)
	}
	for _, how := range []syscall.Signal{syscall.SIGTERM, syscall.SIGINT, syscall.SIGKILL} {
		t.Run(how.String(), func(t *testing.T) {
			interrupt(t, how)
			f.completes(t, with(args, "--resume", "always"), want)
			if !strings.Contains(read(t, filepath.Join(out, "run.json")), `"resumed": true`) {
				t.Error("run.json does not say that the build was resumed")
			}
		})
	}
	t.Run("again", func(t *testing.T) {
		before := modified(t, out)
		o := must(t, f.dir, args...)
		if o.stdout != "out: nothing to do, the dataset exists and is up to date\n" {
			t.Errorf("got %q", o.stdout)
		}
		if modified(t, out) != before {
			t.Error("the published dataset was touched")
		}
		nothing(t, building)
	})
	t.Run("never", func(t *testing.T) {
		interrupt(t, syscall.SIGTERM)
		f.completes(t, with(args, "--resume", "never"), want)
		if !strings.Contains(read(t, filepath.Join(out, "run.json")), `"resumed": false`) {
			t.Error("run.json says that the build was resumed")
		}
	})
	t.Run("other inputs", func(t *testing.T) {
		interrupt(t, syscall.SIGTERM)
		if err := os.WriteFile(filepath.Join(f.dir, "more.tsv"), []byte(read(t, filepath.Join(f.dir, "sets.tsv"))+"last\tY000\t0\t1\n"), 0o644); err != nil {
			t.Fatal(err)
		}
		other := with(args, "--perturbations", "more.tsv")
		execute(t, f.dir, with(other, "--resume", "always")...).refused(t, 2, "resume dataset out: the unfinished build differs in its samples")
		must(t, f.dir, other...)
		if manifest := manifestOf(t, out); manifest.Samples != len(f.genotypes)+1 {
			t.Errorf("got %d samples", manifest.Samples)
		}
		must(t, f.dir, "verify", "out")
	})
}

// modified is the names, sizes and times of all files of a folder.
func modified(t *testing.T, dir string) string {
	t.Helper()
	var all strings.Builder
	err := filepath.WalkDir(dir, func(path string, entry os.DirEntry, err error) error {
		if err != nil {
			return err
		}
		info, err := entry.Info()
		all.WriteString(path + info.ModTime().String() + info.Mode().String() + "\n")
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	return all.String()
}

// A build that is killed at any moment, again and again, ends with the bytes of an undisturbed one.
func TestKilledAtRandom(t *testing.T) {
	skipShort(t)
	t.Parallel()
	f, args, want := masksOut(t)
	r := seed.Rand(t)
	for round := range 3 {
		if err := os.RemoveAll(filepath.Join(f.dir, "out")); err != nil {
			t.Fatal(err)
		}
		for kills := 0; kills < 4; kills++ {
			cmd := begin(t, f.dir, args...)
			time.Sleep(time.Duration(r.IntN(400)) * time.Millisecond)
			_ = cmd.Process.Kill() // it may have ended
			if o := finish(t, cmd); o.code == 0 {
				t.Logf("round %d: it ended before kill %d", round, kills)
				break
			} else if o.code != -1 {
				t.Fatalf("got exit code %d, stderr:\n%s", o.code, o.stderr)
			}
		}
		f.completes(t, args, want)
	}
}

func TestTwoBuildsAtOnce(t *testing.T) {
	skipShort(t)
	t.Parallel()
	f, args, want := masksOut(t)
	first := f.inFourthShard(t, args...)
	for _, second := range [][]string{args, with(args, "--resume", "never"), with(args, "--codec", "bits")} {
		execute(t, f.dir, second...).refused(t, 75, "write dataset out: another build of it is running")
	}
	send(t, first, syscall.SIGCONT)
	if o := finish(t, first); o.code != 0 {
		t.Fatalf("got exit code %d, stderr:\n%s", o.code, o.stderr)
	}
	f.completes(t, args, want)
}
