package main

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"testing"
)

func TestShardsApart(t *testing.T) {
	skipShort(t)
	t.Parallel()
	f := newFixture(t, 3000, 333)
	out := filepath.Join(f.dir, "out")
	for _, mode := range []string{"indices", "full-masks"} {
		undisturbed := "undisturbed-" + mode
		must(t, f.dir, f.dataset(mode, "raw", undisturbed, "--shards", "4")...)
		want := dataOf(t, filepath.Join(f.dir, undisturbed))
		shard := func(i int) []string { return f.dataset(mode, "raw", "out", "--shard", fmt.Sprintf("%d/4", i)) }
		published := func(t *testing.T) {
			t.Helper()
			sameData(t, dataOf(t, out), want)
			nothing(t, out+".building")
			for i := range 4 {
				if o := must(t, f.dir, shard(i)...); o.stdout != "out: nothing to do, the dataset exists and is up to date\n" {
					t.Errorf("shard %d, built again: got %q", i, o.stdout)
				}
			}
			if err := os.RemoveAll(out); err != nil {
				t.Fatal(err)
			}
		}
		for name, order := range map[string][]int{"ascending": {0, 1, 2, 3}, "descending": {3, 2, 1, 0}, "one twice": {2, 2, 0, 3, 3, 1}} {
			t.Run(mode+"/"+name, func(t *testing.T) {
				for k, i := range order {
					o := must(t, f.dir, shard(i)...)
					if last := k == len(order)-1; !last && o.stdout != "out: this shard is complete; others are not\n" {
						t.Errorf("shard %d: got %q", i, o.stdout)
					} else if !last {
						nothing(t, out)
					}
				}
				published(t)
			})
		}
		t.Run(mode+"/the rest by a whole build", func(t *testing.T) {
			must(t, f.dir, shard(2)...)
			must(t, f.dir, f.dataset(mode, "raw", "out", "--shards", "4")...)
			published(t)
		})
		t.Run(mode+"/all at once", func(t *testing.T) {
			for range 3 {
				var processes [4]*exec.Cmd
				for i := range processes {
					processes[i] = begin(t, f.dir, shard(i)...)
				}
				for i, process := range processes {
					if o := finish(t, process); o.code != 0 {
						t.Errorf("shard %d: got exit code %d, stderr:\n%s", i, o.code, o.stderr)
					}
				}
				published(t)
			}
		})
	}
}

// Several builds of one shard at once: one of them builds it, the others say that they cannot.
func TestSameShardAtOnce(t *testing.T) {
	t.Parallel()
	f := newFixture(t, 3000, 333)
	args := f.dataset("indices", "raw", "out", "--shard", "0/1")
	for range 3 {
		var processes [3]*exec.Cmd
		for i := range processes {
			processes[i] = begin(t, f.dir, args...)
		}
		built := 0
		for _, process := range processes {
			switch o := finish(t, process); o.code {
			case 0:
				built++
			default:
				o.refused(t, 75, "write dataset out: another build of it ")
			}
		}
		if built == 0 {
			t.Error("none of them built the shard")
		}
		must(t, f.dir, args...)
		must(t, f.dir, "verify", "out")
		nothing(t, filepath.Join(f.dir, "out.building"), filepath.Join(f.dir, "out/.build"))
		if err := os.RemoveAll(filepath.Join(f.dir, "out")); err != nil {
			t.Fatal(err)
		}
	}
}

func TestShardOfAnotherInput(t *testing.T) {
	t.Parallel()
	f := newFixture(t, 3000, 333)
	writeFiles(t, f.dir, map[string]string{"other.tsv": "genes\tfitness\tgrowth\nY001\t1\t\nY002\t2\t\n"})
	must(t, f.dir, f.dataset("indices", "zstd", "out", "--shard", "0/2")...)
	shard := func(args ...string) []string {
		return f.dataset("indices", "zstd", "out", with([]string{"--shard", "1/2"}, args...)...)
	}
	for difference, args := range map[string][]string{
		"samples": {"--perturbations", "other.tsv"}, "options": {"--allow-wildtype"}, "codec": {"--codec", "raw"},
		"shards": {"--shard", "1/3"}, "variant": {"--mode", "full-masks"},
	} {
		execute(t, f.dir, shard(args...)...).refused(t, 2, "of dataset out: the unfinished build differs in its "+difference)
	}
	nothing(t, filepath.Join(f.dir, "out"))
	must(t, f.dir, shard()...)
	must(t, f.dir, "verify", "out")
}
