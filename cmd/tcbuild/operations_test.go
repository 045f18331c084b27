package main

import (
	"errors"
	"fmt"
	"maps"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"tcbuild/internal/testing/testrun"
)

// operations is a folder with everything that docs/OPERATIONS.md assumes, and a PATH with the
// program.
func operations(t *testing.T) (dir string, environment []string) {
	t.Helper()
	dir = t.TempDir()
	must(t, dir, "synth", "--out", "cell", "samples=60")
	if err := os.Rename(filepath.Join(dir, "cell/perturbations.arrow"), filepath.Join(dir, "screen.arrow")); err != nil {
		t.Fatal(err)
	}
	executable, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	bin := t.TempDir()
	if err := os.Symlink(executable, filepath.Join(bin, "tcbuild")); err != nil {
		t.Fatal(err)
	}
	return dir, append(os.Environ(), modeVariable+"=main", "PATH="+bin+":"+os.Getenv("PATH"))
}

// example is the first block of a language in docs/OPERATIONS.md.
func example(t *testing.T, language string) string {
	t.Helper()
	match := regexp.MustCompile("(?s)```" + language + "\n(.*?)```").FindStringSubmatch(read(t, "../../docs/OPERATIONS.md"))
	if match == nil {
		t.Fatalf("there is no example in %s", language)
	}
	return match[1]
}

func runIn(t *testing.T, dir string, environment []string, name string, args ...string) (output string, ok bool) {
	t.Helper()
	cmd := exec.Command(name, args...)
	cmd.Dir, cmd.Env = dir, environment
	out, err := cmd.CombinedOutput()
	return string(out), err == nil
}

func TestSettingsOfOperations(t *testing.T) {
	t.Parallel()
	dir, _ := operations(t)
	writeFiles(t, dir, map[string]string{"my.yaml": example(t, "yaml")})
	must(t, dir, "rebuild", "--config", "my.yaml")
	must(t, dir, "verify", "data/my/current/indices")
}

// The command for SLURM builds the dataset of the example.
func TestFirstSLURMRun(t *testing.T) {
	skipShort(t)
	t.Parallel()
	command := regexp.MustCompile("`(sbatch --wait .*?)` \\|").
		FindStringSubmatch(read(t, "../../docs/OPERATIONS.md"))
	if command == nil {
		t.Fatal("docs/OPERATIONS.md has no command for SLURM")
	}
	c := startCluster(t)
	dir, environment := operations(t)
	writeFiles(t, dir, map[string]string{"my.yaml": example(t, "yaml")})
	environment = append(environment, "SLURM_CONF="+filepath.Join(c.dir, "slurm.conf"))
	if out, ok := runIn(t, dir, environment, "bash", "-euc", command[1]); !ok {
		t.Fatal(out)
	}
	must(t, dir, "verify", "data/my/current/incidence")
}

// The commands under "Restoring" bring back what was lost or damaged, with the same data, also from
// a version that an older one shares its files with.
func TestRestoring(t *testing.T) {
	t.Parallel()
	dir, environment := operations(t)
	writeFiles(t, dir, map[string]string{"my.yaml": example(t, "yaml")})
	_, section, _ := strings.Cut(read(t, "../../docs/OPERATIONS.md"), "### Restoring")
	commands := regexp.MustCompile(`(?m)^(tcbuild .*)$`).FindAllStringSubmatch(section, 2)
	again, force := commands[0][1], commands[1][1]
	do := func(command, version string) {
		t.Helper()
		if out, ok := runIn(t, dir, environment, "bash", "-c", command); !ok {
			t.Fatal(out)
		}
		if current, _ := os.Readlink(filepath.Join(dir, "data/my/current")); !strings.HasPrefix(current, version+"-") {
			t.Errorf("after %s: got current version %s, want %s", command, current, version)
		}
		must(t, dir, "verify", "data/my/current/incidence")
		must(t, dir, "verify", "data/my/current/indices")
	}
	do(again, "000001")
	current := filepath.Join(dir, "data/my/current")
	data := dataOf(t, current+"/indices")
	remove := func(pattern string) {
		t.Helper()
		for _, path := range glob(t, dir, pattern) {
			if err := os.RemoveAll(path); err != nil {
				t.Fatal(err)
			}
		}
	}
	remove("data/my")
	do(again, "000001")
	sameData(t, dataOf(t, current+"/indices"), data)
	remove("data/my/0*")
	do(again, "000001")
	remove("data/my/current/indices/shard-*/data.mdb")
	do(again, "000002")
	sameData(t, dataOf(t, current+"/indices"), data)

	for _, shard := range glob(t, current, "*/*/data.mdb") {
		if err := os.WriteFile(shard, []byte(flipped(read(t, shard), 5000)), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	do(force, "000003")
	sameData(t, dataOf(t, current+"/indices"), data)
	// after going back, current stays until --forward, which ends at the newest version
	if err := errors.Join(os.Remove(current), os.Symlink(filepath.Base(glob(t, dir, "data/my/000001-*")[0]), current)); err != nil {
		t.Fatal(err)
	}
	out, ok := runIn(t, dir, environment, "bash", "-c", again)
	if !ok || !strings.Contains(out, "WARN current stays") {
		t.Error(out)
	}
	do(again+" --forward", "000003")
}

// The alerts in conf are valid, and Prometheus raises each in its case and no other, from the
// series that a run writes.
func TestAlerts(t *testing.T) {
	t.Parallel()
	testrun.NeedPrograms(t, "promtool")
	dir, environment := operations(t)
	writeFiles(t, dir, map[string]string{"my.yaml": example(t, "yaml"), "rules.yml": read(t, "../../conf/prometheus/tcbuild.yml")})
	must(t, dir, "rebuild", "--config", "my.yaml", "--metrics-file", "my.prom")
	if out, ok := runIn(t, dir, environment, "bash", "-c", "promtool check metrics <my.prom && promtool check rules rules.yml >/dev/null"); !ok || out != "" {
		t.Errorf("promtool check: got %s", out)
	}
	success, heartbeat, running, code := "last_success_timestamp_seconds", "heartbeat_timestamp_seconds", "running", "last_exit_code"
	for _, c := range []struct {
		name   string
		series map[string]string // what differs from hourly runs without failure, in promtool's notation, by the minute
		want   string
	}{
		{"well", nil, ""},
		{"failing", map[string]string{code: "0x290 3x20"}, "TcbuildFailing"},
		{"interrupted", map[string]string{code: "0x290 75x20"}, ""},
		{"at work", map[string]string{running: "0x290 1x20", heartbeat: "0+60x310"}, ""},
		{
			"stalled",
			map[string]string{running: "0x290 16x20", heartbeat: "0+60x290 17400x20"},
			"TcbuildStalled",
		},
		{"too old", map[string]string{success: "60x310"}, "TcbuildTooOld"},
		{"damaged", map[string]string{"damaged": "0x290 1x20"}, "TcbuildDamaged"},
		{"vanished", map[string]string{"version": "1x250 _x60"}, "TcbuildVanished"},
		{"never done", map[string]string{success: "0x310"}, "TcbuildTooOld"},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			const hourly = "0x59 3600x59 7200x59 10800x59 14400x70"
			values := map[string]string{
				success: hourly, heartbeat: hourly, "version": "1x310",
				running: "0x310", code: "0x310", "damaged": "0x310",
			}
			maps.Copy(values, c.series)
			test := "rule_files: ['" + dir + "/rules.yml']\ntests:\n- interval: 1m\n  input_series:\n"
			for name, of := range values {
				series := "tcbuild_rebuild_" + name + `{dataset="my"}`
				if !strings.Contains(read(t, filepath.Join(dir, "my.prom")), "\n"+series+" ") {
					t.Errorf("a run writes no %s", series)
				}
				test += "  - {series: '" + series + "', values: '" + of + "'}\n"
			}
			test += "  promql_expr_test:\n  - {expr: 'count by (alertname) (ALERTS{alertstate=\"firing\"})', eval_time: 5h5m, exp_samples: ["
			if c.want != "" {
				test += "{labels: '{alertname=\"" + c.want + "\"}', value: 1}"
			}
			path := filepath.Join(t.TempDir(), "test.yml")
			if err := os.WriteFile(path, []byte(test+"]}\n"), 0o644); err != nil {
				t.Fatal(err)
			}
			if out, ok := runIn(t, dir, environment, "promtool", "test", "rules", path); !ok {
				t.Errorf("got %s for\n%s", out, test)
			}
		})
	}
}

// Every scheduler's line gives its first job part 1, and its last one part 16.
func TestPartNumbersOfSchedulers(t *testing.T) {
	t.Parallel()
	rows := regexp.MustCompile("(?m)^\\| .* \\| `--part (\\S.*)` \\| (as given|from [01]) \\|$").
		FindAllStringSubmatch(read(t, "../../docs/OPERATIONS.md"), -1)
	if len(rows) != 6 {
		t.Fatalf("got %d rows", len(rows))
	}
	for _, row := range rows {
		name := regexp.MustCompile(`[A-Z]+(_[A-Z]+)+`).FindString(row[1])
		first := 1
		if row[2] == "from 0" {
			first = 0
		}
		for number, want := range map[int]string{first: "1/16", first + 15: "16/16"} {
			environment := append(os.Environ(), fmt.Sprintf("%s=%d", name, number))
			out, ok := runIn(t, t.TempDir(), environment, "sh", "-c", "echo "+row[1])
			if !ok || out != want+"\n" {
				t.Errorf("%s=%d: got %q, want %q", name, number, out, want)
			}
		}
	}
}

// The Makefile brings the dataset up to date, and a bad input changes nothing.
func TestMakefile(t *testing.T) {
	t.Parallel()
	dir, environment := operations(t)
	file, err := filepath.Abs("../../conf/make/Makefile")
	if err != nil {
		t.Fatal(err)
	}
	run := func() (string, bool) { return runIn(t, dir, environment, "make", "-f", file) }
	for _, want := range []string{"0 differences", "nothing to do"} {
		if out, ok := run(); !ok || !strings.Contains(out, want) {
			t.Fatal(out)
		}
	}
	screen := read(t, filepath.Join(dir, "screen.arrow"))
	writeFiles(t, dir, map[string]string{"screen.arrow": "junk"})
	if out, ok := run(); ok {
		t.Errorf("junk passes: %s", out)
	}
	must(t, dir, "verify", "data/my/current/indices")
	writeFiles(t, dir, map[string]string{"screen.arrow": screen})
	if out, ok := run(); !ok {
		t.Error(out)
	}
}

func TestStatusAndStage(t *testing.T) {
	t.Parallel()
	f := newFixture(t, 2000, 150)
	execute(t, f.dir, "status", "graph").refused(t, 3, "read status of graph")
	must(t, f.dir, f.dataset("indices", "zstd", "out", "--shards", "3")...)

	if o := must(t, f.dir, "stage", "out", "local/out"); !strings.HasSuffix(o.stdout, " copied\n") {
		t.Errorf("got %q", o.stdout)
	}
	if o := must(t, f.dir, "stage", "out", "local/out"); !strings.HasSuffix(o.stdout, " were there\n") {
		t.Errorf("got %q", o.stdout)
	}
	sameData(t, dataOf(t, filepath.Join(f.dir, "local/out")), dataOf(t, filepath.Join(f.dir, "out")))
	must(t, f.dir, "verify", "local/out")
	execute(t, f.dir, "stage", "out", "graph").refused(t, 2, "expected a dataset or an empty folder")

	must(t, f.dir, rebuildOf("--quiet", "--root", "versions")...)
}
