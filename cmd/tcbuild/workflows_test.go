package main

import (
	"errors"
	"fmt"
	"maps"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"tcbuild/internal/testing/testrun"
)

// operations is a folder, with a space and a quote in its name, that has what docs/OPERATIONS.md
// assumes, and a PATH with the program.
func operations(t *testing.T) (dir string, environment []string) {
	t.Helper()
	dir, bin := filepath.Join(t.TempDir(), "o'brien's data"), t.TempDir()
	executable, err := os.Executable()
	err = errors.Join(err, os.Mkdir(dir, 0o755),
		os.Symlink(executable, filepath.Join(bin, "tcbuild")))
	if err != nil {
		t.Fatal(err)
	}
	must(t, dir, "synth", "--out", "cell", "samples=60")
	if err := os.Rename(filepath.Join(dir, "cell/perturbations.arrow"),
		filepath.Join(dir, "screen.arrow")); err != nil {
		t.Fatal(err)
	}
	writeFiles(t, dir, map[string]string{
		"my.yaml": "root: data\ngraph: cell/graph\nperturbations: screen.arrow\n" +
			"variants: [incidence]\n",
		"config/config.yaml": "root: data\ndataset: my\ngraph: cell/graph\n" +
			"perturbations: screen.arrow\nvariants: [incidence]\nparts: 3\n",
		"nextflow.config": "params { dataset = 'my'\n parts = 3 }\n",
	})
	environment = append(os.Environ(), modeVariable+"=main", "NXF_ANSI_LOG=false",
		"NXF_OFFLINE=true", "NXF_DISABLE_CHECK_LATEST=true", "PATH="+bin+":"+os.Getenv("PATH"))
	return dir, environment
}

func runIn(
	t *testing.T, dir string, environment []string, name string, args ...string,
) (output string, ok bool) {
	t.Helper()
	cmd := exec.Command(name, args...)
	cmd.Dir, cmd.Env = dir, environment
	out, err := cmd.CombinedOutput()
	return string(out), err == nil
}

func absolute(t *testing.T, path string) string {
	t.Helper()
	path, err := filepath.Abs(path)
	if err != nil {
		t.Fatal(err)
	}
	return path
}

const (
	snakefile      = "../../conf/snakemake/workflow/Snakefile"
	nextflowScript = "../../conf/nextflow/main.nf"
)

// ways are the workflows in conf that bring data/my up to date in the folder of operations, as a
// shell's commands.
func ways(t *testing.T) map[string]string {
	t.Helper()
	cron := read(t, "../../conf/cron/tcbuild")
	_, night, _ := strings.Cut(cron, " data cd /srv/data && ")
	unit := strings.ReplaceAll(read(t, "../../conf/systemd/tcbuild@.service"), "\\\n", "")
	systemd := ""
	for _, command := range regexp.MustCompile(`(?m)^Exec\w+=-?(.*)$`).
		FindAllStringSubmatch(unit, -1) {
		systemd += command[1] + "\nlast=$?; code=${code:-$last}\n"
	}
	inPlace := strings.NewReplacer("/usr/local/bin/", "", "%i", "my",
		"/var/lib/prometheus/node-exporter/", "")
	return map[string]string{
		"cron":      inPlace.Replace(night),
		"systemd":   inPlace.Replace(systemd) + "exit $code",
		"snakemake": "snakemake --cores 2 --snakefile '" + absolute(t, snakefile) + "'",
		"nextflow":  "nextflow run -resume '" + absolute(t, nextflowScript) + "'",
	}
}

// Every way brings the dataset up to date whatever has happened to it: other inputs, also with old
// times, other variants, another program, lost and damaged versions, a second way on the same root.
func TestWays(t *testing.T) {
	skipShort(t)
	t.Parallel()
	for name, command := range ways(t) {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			if name == "snakemake" || name == "nextflow" {
				testrun.NeedPrograms(t, name)
			}
			w := way{t: t, command: command}
			w.dir, w.environment = operations(t)
			first := w.succeeds("first")
			if again := w.succeeds("again"); again != first {
				t.Errorf("again: got version %s, want %s", again, first)
			}
			screen := read(t, w.path("screen.arrow"))
			w.replace("junk")
			w.fails("junk", 3)
			must(t, w.dir, "synth", "--out", "other", "samples=61")
			w.replace(read(t, w.path("other/perturbations.arrow")))
			second := w.succeeds("other input")
			if m := manifestOf(t, w.path("data/my/current/incidence")); m.Samples != 61 {
				t.Errorf("got %d samples, expected 61", m.Samples)
			}
			w.replace(screen)
			w.is("input as before", first)

			w.damage(second)
			w.is("damage elsewhere", first)
			w.damage(first)
			w.fails("damage", 4)
			w.is("after damage", first)

			for _, lost := range []string{"current", first, first + "/incidence"} {
				if err := os.RemoveAll(w.path("data/my/" + lost)); err != nil {
					t.Fatal(err)
				}
				if strings.Contains(lost, "/") {
					w.fails("a lost variant", 4)
				}
				w.is("lost "+lost, first)
			}
			w.environment = append(w.environment, commitVariable+"=another")
			if w.succeeds("another program") == first {
				t.Error("another program built nothing")
			}
			w.environment = w.environment[:len(w.environment)-1]
			w.is("program as before", first)

			must(t, w.dir, "rebuild", "--config", "my.yaml", "variants=[indices]")
			w.is("after a second way", first)
			for name, text := range map[string]string{
				"my.yaml": "[incidence]", "config/config.yaml": "[incidence]",
			} {
				writeFiles(t, w.dir, map[string]string{name: strings.Replace(read(t, w.path(name)),
					text, "[incidence, indices]", 1)})
			}
			writeFiles(t, w.dir, map[string]string{"nextflow.config": "params { dataset = 'my'\n" +
				" parts = 3\n variants = ['incidence', 'indices'] }\n"})
			w.succeeds("other variants")
			must(t, w.dir, "verify", "data/my/current/indices")
		})
	}
}

// way is a workflow in a folder of operations.
type way struct {
	t           *testing.T
	dir         string
	environment []string
	command     string
}

func (w way) path(name string) string { return filepath.Join(w.dir, name) }

// succeeds runs the workflow, and returns the key of the current version.
func (w way) succeeds(what string) string {
	w.t.Helper()
	if out, ok := runIn(w.t, w.dir, w.environment, "bash", "-c", w.command); !ok {
		w.t.Fatalf("%s: %s", what, out)
	}
	must(w.t, w.dir, "status", "data")
	must(w.t, w.dir, "verify", "data/my/current/incidence")
	key, _ := os.Readlink(w.path("data/my/current"))
	return key
}

func (w way) is(what, want string) {
	w.t.Helper()
	if got := w.succeeds(what); got != want {
		w.t.Errorf("%s: got version %s, want %s", what, got, want)
	}
}

// fails runs the workflow, which must fail, as status says until the next success.
func (w way) fails(what string, code int) {
	w.t.Helper()
	out, ok := runIn(w.t, w.dir, w.environment, "bash", "-c", w.command)
	if ok {
		w.t.Errorf("%s: it passes: %s", what, out)
	}
	execute(w.t, w.dir, "status", "data").prints(w.t, 4, fmt.Sprintf("with %d, ", code))
}

// replace puts an older file in place of the perturbation set.
func (w way) replace(content string) {
	w.t.Helper()
	next, old := w.path("next"), time.Now().Add(-240*time.Hour)
	err := errors.Join(os.WriteFile(next, []byte(content), 0o644), os.Chtimes(next, old, old),
		os.Rename(next, w.path("screen.arrow")))
	if err != nil {
		w.t.Fatal(err)
	}
}

func (w way) damage(version string) {
	w.t.Helper()
	path := w.path("data/my/" + version + "/incidence/incidence.positions")
	if err := os.WriteFile(path, []byte(flipped(read(w.t, path), 9)), 0o644); err != nil {
		w.t.Fatal(err)
	}
}

func TestSnakemakeLint(t *testing.T) {
	skipShort(t)
	t.Parallel()
	testrun.NeedPrograms(t, "snakemake")
	dir, environment := operations(t)
	run := func(how string) (string, bool) {
		return runIn(t, dir, environment, "snakemake", how, "--snakefile", absolute(t, snakefile))
	}
	if out, ok := run("--lint"); !ok || !strings.Contains(out, "in a good condition") {
		t.Error(out)
	}
	writeFiles(t, dir, map[string]string{"config/config.yaml": "root: data\ndataset: a b\n" +
		"graph: g\nperturbations: screen.arrow\nvariants: [masks]\nparts: 0\n"})
	if out, ok := run("-n"); ok {
		t.Errorf("a wrong configuration passes: %s", out)
	}
}

func TestNextflowStubs(t *testing.T) {
	skipShort(t)
	t.Parallel()
	testrun.NeedPrograms(t, "nextflow")
	dir, environment := operations(t)
	out, ok := runIn(t, dir, environment, "nextflow", "run", absolute(t, nextflowScript),
		"-stub-run")
	if !ok {
		t.Error(out)
	}
	nothing(t, filepath.Join(dir, "data"))
}

// The example of docs/OPERATIONS.md works, and so do the commands of its tasks.
func TestSettingsOfOperations(t *testing.T) {
	t.Parallel()
	dir, environment := operations(t)
	page := read(t, "../../docs/OPERATIONS.md")
	example := regexp.MustCompile("(?s)```yaml\n(.*?)```").FindStringSubmatch(page)
	writeFiles(t, dir, map[string]string{"my.yaml": example[1]})
	commands := regexp.MustCompile("(?m)^(tcbuild .*?)( *#.*)?$").FindAllStringSubmatch(page, -1)
	if len(commands) < 4 {
		t.Errorf("found %d commands", len(commands))
	}
	for _, command := range commands {
		line := strings.ReplaceAll(command[1], "3/16", "1/1")
		line = strings.ReplaceAll(line, "--parts 16", "--parts 1")
		if out, ok := runIn(t, dir, environment, "bash", "-c", line); !ok {
			t.Errorf("%s: %s", line, out)
		}
	}
	must(t, dir, "verify", "data/my/current/indices")
}

// The alerts in conf are valid, and Prometheus raises each in its case and no other, from the
// series that status writes.
func TestAlerts(t *testing.T) {
	t.Parallel()
	testrun.NeedPrograms(t, "promtool")
	dir, environment := operations(t)
	writeFiles(t, dir, map[string]string{"rules.yml": read(t, "../../conf/prometheus/tcbuild.yml")})
	must(t, dir, "rebuild", "--config", "my.yaml")
	must(t, dir, "status", "data", "--metrics-file", "my.prom")
	if out, ok := runIn(t, dir, environment, "bash", "-c",
		"promtool check metrics <my.prom && promtool check rules rules.yml >/dev/null"); !ok ||
		out != "" {
		t.Errorf("promtool check: got %s", out)
	}
	const success = "last_success_timestamp_seconds"
	for _, c := range []struct {
		name   string
		series map[string]string // what differs from nightly runs, in promtool's notation, by hour
		want   string
	}{
		{"well", nil, ""},
		{"failing", map[string]string{"problems": "0x150 1x60"}, "TcbuildProblem"},
		{"too old", map[string]string{success: "0x200"}, "TcbuildTooOld"},
		{"vanished", map[string]string{"problems": "0x150 _x60", success: "0x150 _x60"},
			"TcbuildVanished"},
		{"held", map[string]string{"held": "0x9 1x190"}, "TcbuildHeld"},
		{"held for less than a week", map[string]string{"held": "0x30 1x170"}, ""},
		{"cut", map[string]string{"samples": "2000x180 1022x20"}, "TcbuildFewerSamples"},
		{"trimmed", map[string]string{"samples": "2000x180 1900x20"}, ""},
	} {
		values := map[string]string{"problems": "0x200", success: "0+3600x200", "held": "0x200",
			"samples": "2000x200"}
		maps.Copy(values, c.series)
		test := "rule_files: ['" + strings.ReplaceAll(dir, "'", "''") + "/rules.yml']\n" +
			"evaluation_interval: 1h\ntests:\n- interval: 1h\n  input_series:\n"
		for _, name := range slices.Sorted(maps.Keys(values)) {
			series := "tcbuild_rebuild_" + name + `{dataset="my"}`
			if !strings.Contains(read(t, filepath.Join(dir, "my.prom")), "\n"+series+" ") {
				t.Errorf("status writes no %s", series)
			}
			test += "  - {series: '" + series + "', values: '" + values[name] + "'}\n"
		}
		test += "  promql_expr_test:\n  - {expr: 'count by (alertname) " +
			"(ALERTS{alertstate=\"firing\"})', eval_time: 190h, exp_samples: ["
		if c.want != "" {
			test += "{labels: '{alertname=\"" + c.want + "\"}', value: 1}"
		}
		path := filepath.Join(t.TempDir(), "test.yml")
		if err := os.WriteFile(path, []byte(test+"]}\n"), 0o644); err != nil {
			t.Fatal(err)
		}
		if out, ok := runIn(t, dir, environment, "promtool", "test", "rules", path); !ok {
			t.Errorf("%s: got %s for\n%s", c.name, out, test)
		}
	}
}
