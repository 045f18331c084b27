package main

import (
	"encoding/json"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"testing"

	"tcbuild/encode"
	"tcbuild/internal/bench"
	"tcbuild/internal/testing/pagetest"
	"tcbuild/store"
)

func TestBench(t *testing.T) {
	skipShort(t)
	t.Parallel()
	dir := t.TempDir()
	must(t, dir, "synth", "--out", "in")
	run := must(t, dir, "bench", "--graph", "in/graph", "--perturbations", "in/perturbations.arrow",
		"--out", "bench", "--rounds", "1", "--samples", "130", "--workers", "2", "--extrapolate",
		"1000000", "--keep")
	var results bench.Results
	decoder := json.NewDecoder(strings.NewReader(read(t, filepath.Join(dir, "bench/results.json"))))
	decoder.DisallowUnknownFields()
	if err := decoder.Decode(&results); err != nil {
		t.Fatal(err)
	}
	want := []string{string(store.Incidence)}
	for _, mode := range []encode.Mode{encode.Indices, encode.FullMasks} {
		for _, codec := range encode.Codecs(mode) {
			want = append(want, string(mode)+" "+codec)
		}
	}
	var got []string
	for _, c := range results.Cases {
		got = append(got, c.String())
		checkCase(t, filepath.Join(dir, "bench/datasets"), c)
		if !strings.Contains(run.stdout, c.String()) {
			t.Errorf("stdout does not tell of %s", c)
		}
	}
	if !slices.Equal(got, want) {
		t.Errorf("got cases %q, want %q", got, want)
	}
	if results.Setup.TotalSamples != 200 || results.Setup.Rounds != 1 ||
		results.Setup.Workers != 2 {
		t.Errorf("got setup %+v", results.Setup)
	}
	checkPage(t, read(t, filepath.Join(dir, "bench/report.html")), want)
	left, err := os.ReadDir(filepath.Join(dir, "bench"))
	if err != nil || len(left) != 4 {
		t.Errorf("got %v, %v; want datasets, inputs, report.html and results.json", left, err)
	}
}

// checkCase compares what was measured of a case with its dataset.
func checkCase(t *testing.T, datasets string, c *bench.CaseResult) {
	t.Helper()
	path := filepath.Join(datasets, strings.ReplaceAll(c.String(), " ", "-"))
	m := manifestOf(t, path)
	if m.Variant != c.Variant || m.Codec != c.Codec {
		t.Errorf("%s: its dataset has variant %s, codec %q", c, m.Variant, m.Codec)
	}
	if m.Samples != 130 || c.Samples != 130 {
		t.Errorf("%s: it has %d samples, its dataset %d, want 130", c, c.Samples, m.Samples)
	}
	if got := filesBytes(t, path); got != c.Size.DatasetBytes {
		t.Errorf("%s: the files have %d bytes, the results say %d", c, got, c.Size.DatasetBytes)
	}
	for name, value := range map[string]float64{
		"build seconds": c.Build.Seconds.Median,
		"CPU seconds":   c.Build.CPUSeconds.Median,
		"open":          c.Warm.OpenSeconds.Median,
		"read":          c.Warm.SecondsPerSample.Median,
		"read CPU":      c.Warm.CPUPerSample.Median,
		"per sample":    c.Size.BytesPerSample,
		"extrapolated":  c.Extrapolated.Bytes,
	} {
		if value <= 0 {
			t.Errorf("%s: %s is %g", c, name, value)
		}
	}
}

// filesBytes adds up the lengths of the files of a folder.
func filesBytes(t *testing.T, dir string) (total int64) {
	t.Helper()
	err := filepath.WalkDir(dir, func(path string, entry fs.DirEntry, err error) error {
		if err != nil || entry.IsDir() {
			return err
		}
		info, err := entry.Info()
		total += info.Size()
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	return total
}

// checkPage checks that a report is complete and needs no other file.
func checkPage(t *testing.T, page string, cases []string) {
	t.Helper()
	pagetest.Check(t, page)
	for _, c := range cases {
		if strings.Count(page, ">"+c+"<") < 3 {
			t.Errorf("report.html does not tell of %s in every table", c)
		}
	}
}

// The builds drop as many samples as the user allows.
func TestBenchMaxDropped(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	writeFiles(t, dir,
		map[string]string{"graph/nodes/gene.tsv": "id\nYA\n", "few.tsv": "genes\nYA\nYA\nNO1\nNO2\n"})
	must(t, dir, "bench", "--graph", "graph", "--perturbations", "few.tsv", "--out", "out",
		"--rounds", "1", "--workers", "1", "--unknown-genes", "drop-sample", "max_dropped=1")
}

func TestBenchRefused(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	must(t, dir, "synth", "--out", "in")
	writeFiles(t, dir, map[string]string{
		"unknown.tsv": "genes\nNOGENE\n", "empty.tsv": "genes\n", "there/x": "precious",
		"one.tsv": "genes\nYAL001C\n",
	})
	base := []string{
		"bench", "--graph", "in/graph", "--perturbations", "in/perturbations.arrow", "--out", "out",
		"--rounds", "1",
	}
	for _, c := range []struct {
		args []string
		code int
		want string
	}{
		{[]string{"--rounds", "0"}, 2,
			`read --rounds: found "0", expected a whole decimal number, 1 or more`},
		{[]string{"--samples", "-1"}, 2,
			`read --samples: found "-1", expected a whole decimal number, 0 or more`},
		{[]string{"--extrapolate", "-1"}, 2,
			`read --extrapolate: found "-1", expected a whole decimal number, 0 or more`},
		{[]string{"--reaction-rule", "some"}, 2, `read --reaction-rule: found "some"`},
		{[]string{"--out", "there"}, 2, "write there: it already exists"},
		{[]string{"--perturbations", "unknown.tsv"}, 3,
			`unknown.tsv:2: gene "NOGENE" is not in the graph`},
		{[]string{"--perturbations", "empty.tsv"}, 3, "found no rows"},
		{[]string{"--perturbations", "one.tsv"}, 3, "samples: found 1, expected at least 2"},
	} {
		execute(t, dir, with(base, c.args...)...).refused(t, c.code, c.want)
		nothing(t, filepath.Join(dir, "out"))
	}
	entries, err := os.ReadDir(dir)
	if err != nil || len(entries) != 5 {
		t.Errorf("got %v, %v; want what was there before", entries, err)
	}
}

// bench reports what a build says before it fails.
func TestBenchBuildFails(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	must(t, dir, "synth", "--out", "in")
	disk := mountDisk(t, dir, 1<<20)
	resize(t, disk, 100<<10)
	o := execute(t, dir, "bench", "--graph", "in/graph", "--perturbations",
		"in/perturbations.arrow", "--out", "disk/out", "--rounds", "1")
	if o.code != 1 || !strings.Contains(o.stderr, "no space left on device") {
		t.Errorf("got exit code %d, stderr:\n%s\nwant 1 and a full disk", o.code, o.stderr)
	}
	nothing(t, filepath.Join(disk, "out"))
}

func TestBenchQuiet(t *testing.T) {
	skipShort(t)
	t.Parallel()
	dir := t.TempDir()
	must(t, dir, "synth", "--out", "in", "--samples", "20")
	o := must(t, dir, "bench", "--graph", "in/graph", "--perturbations", "in/perturbations.arrow", "--out",
		"out", "--rounds", "1", "--quiet")
	if o.stdout != "" || o.stderr != "" {
		t.Errorf("got stdout %q and stderr %q, want nothing", o.stdout, o.stderr)
	}
	results := read(t, filepath.Join(dir, "out/results.json"))
	if !strings.Contains(results, `"total_samples": 20`) {
		t.Error("it did not measure the 20 samples")
	}
}

func TestBenchInterrupted(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	must(t, dir, "synth", "--out", "in")
	cmd := begin(t, dir, "bench", "--graph", "in/graph", "--perturbations",
		"in/perturbations.arrow", "--out", "out", "--rounds", "1000")
	defer kill(t, cmd)
	eventually(t, "a build that bench starts", func() bool {
		built, err := filepath.Glob(filepath.Join(dir, ".out*/out/datasets/*"))
		return err == nil && len(built) > 0
	})
	if err := cmd.Process.Signal(syscall.SIGTERM); err != nil {
		t.Fatal(err)
	}
	o := finish(t, cmd)
	if o.code != 75 || !strings.Contains(o.stderr, "interrupted by SIGTERM\n") {
		t.Errorf("got exit code %d, want 75; stderr ends with %q", o.code,
			o.stderr[max(0, len(o.stderr)-300):])
	}
	if left, err := os.ReadDir(dir); err != nil || len(left) != 1 {
		t.Errorf("got %v, %v; want the input alone", left, err)
	}
}

// isIn reports whether a process is there and in a state, as ps writes it: T is stopped.
func isIn(pid int, state string) bool {
	stat, err := os.ReadFile(filepath.Join("/proc", strconv.Itoa(pid), "stat"))
	return err == nil && strings.Contains(string(stat), ") "+state+" ")
}
