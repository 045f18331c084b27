package main

import (
	"regexp"
	"strings"
	"syscall"
	"testing"
)

// In a healthy first build, shards that have not started are waiting; after it is killed, all are
// that it had not completed.
func TestStatusOfARunningBuild(t *testing.T) {
	t.Parallel()
	f := newFixture(t, 190_000, 530)
	cmd := f.beginStopped(t, 8<<20, "out.building/.build/.shard-00000-of-00002.tcbuild-*/*/data.mdb",
		f.dataset("full-masks", "raw", "out", "--shards", "2")...)
	if o := must(t, f.dir, "status", "out"); !lines(o.stdout, `shard-00000-of-00002 +running +265 samples`, `shard-00001-of-00002 +waiting +265 samples`,
		`out: 0 shards done, 1 running, 1 waiting`) {
		t.Errorf("running: got\n%s", o.stdout)
	}
	send(t, cmd, syscall.SIGKILL)
	finish(t, cmd)
	if o := must(t, f.dir, "status", "out"); !lines(o.stdout, `shard-00000-of-00002 +waiting +265 samples`, `shard-00001-of-00002 +waiting +265 samples`,
		`out: 0 shards done, 0 running, 2 waiting`) {
		t.Errorf("killed: got\n%s", o.stdout)
	}
	must(t, f.dir, f.dataset("full-masks", "raw", "out", "--shards", "2")...)
}

// A dataset of the incidence variant has one line. A folder without a dataset exits 3, a missing
// one 1.
func TestStatusWithoutShards(t *testing.T) {
	t.Parallel()
	f := newFixture(t, 600, 30)
	must(t, f.dir, "incidence", "--graph", "graph", "--perturbations", "sets.tsv", "--out", "inc")
	if o := must(t, f.dir, "status", "inc"); o.stdout != "inc: done, without shards, 30 samples\n" {
		t.Errorf("got %q", o.stdout)
	}
	for _, command := range []string{"status", "verify", "inspect"} {
		execute(t, f.dir, command, "nowhere").refused(t, 1, "nowhere")
		if command != "inspect" {
			execute(t, f.dir, command, "graph").refused(t, 3, "graph")
		}
	}
	execute(t, f.dir, "stage", "nowhere", "copy").refused(t, 1, "nowhere")
}

// lines reports whether a text's lines are those, as patterns.
func lines(text string, want ...string) bool {
	return regexp.MustCompile("^" + strings.Join(want, "\n") + "\n$").MatchString(text)
}
