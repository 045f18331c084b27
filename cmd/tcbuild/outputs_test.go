package main

import (
	"errors"
	"io"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"
	"golang.org/x/sys/unix"
)

// outputCases has the other arguments of a run that succeeds, by command and flag.
var outputCases = map[string]string{
	"synth --out":                          "--samples 5",
	"ingest graph --out":                   "--config ingest.yaml",
	"ingest perturbations --out":           "sets.tsv --graph graph",
	"ingest perturbations --dropped-names": "sets.tsv --graph graph --out @.tsv",
	"incidence --out":                      "--graph graph --perturbations sets.tsv",
	"dataset --out":                        "--mode indices --graph graph --perturbations sets.tsv",
	"verify --json":                        "ds",
	"diff --html":                          "ds ds",
	"inspect --html":                       "ds",
	"bench --out": "--graph graph --perturbations sets.tsv " +
		"--samples 2 --rounds 1",
	"select --out":           "ds --where fitness>0",
	"export --out":           "ds",
	"split --out":            "ds --by sample --fractions a=0.5,b=0.5",
	"split --html":           "ds --by sample --fractions a=0.5,b=0.5 --out @.split",
	"rebuild --root":         "--dataset d --config rebuild.yaml",
	"rebuild --log-file":     "--root r --dataset d --config rebuild.yaml",
	"rebuild --metrics-file": "--root r --dataset d --config rebuild.yaml",
}

// inputFlagNames are the flags for paths that commands only read.
var inputFlagNames = []string{"aliases", "config", "graph", "perturbations", "pin"}

// isPath reports whether the value of a flag is a path.
func isPath(flag *pflag.Flag) bool {
	word, _ := pflag.UnquoteUsage(flag)
	return slices.Contains([]string{"FILE", "DIR", "DATASET"}, word)
}

// Every flag for a path names an output, in outputCases, or an input, in inputFlagNames.
func TestOutputsAreDeclared(t *testing.T) {
	declared := make(map[string]bool)
	everyCommand(newRoot(newEnv(io.Discard, io.Discard)), func(cmd *cobra.Command) {
		cmd.LocalFlags().VisitAll(func(flag *pflag.Flag) {
			if _, isOutput := flag.Value.(*output); isOutput {
				declared[strings.TrimPrefix(cmd.CommandPath(), "tcbuild ")+" --"+flag.Name] = true
			} else if isPath(flag) && !slices.Contains(inputFlagNames, flag.Name) {
				t.Errorf("%s --%s is a path: declare it as an output, or name it among the inputs",
					cmd.CommandPath(), flag.Name)
			}
		})
	})
	for name := range declared {
		if outputCases[name] == "" {
			t.Errorf("outputCases lacks %q", name)
		}
	}
	if len(declared) < 15 {
		t.Errorf("found only %d outputs", len(declared))
	}
}

// outputTargets are paths where no output may change anything.
var outputTargets = []string{
	"sets.tsv", "ingest.yaml", "base.yaml", "rebuild.yaml", "text", "empty",
	"graph/nodes/gene.tsv", "graph/new", "graph/nodes/new.tsv",
	"ds/manifest.json", "ds/run.json", "ds/shard-00000-of-00001/data.mdb",
	"ds/new", "ds/samples/new", "current/new",
	"v/d/000001-01234567/version.json", "v/d/000001-01234567/new", "v/d/current/version.json",
	"other.html", "other.json", "names.tsv", "link", "hardlink", "dangling",
	"dirlink/manifest.json", "folder", "inside", "ds", "current", "graph",
	"text/below", "ds/../sets.tsv", "./text", "line\nbreak", "later/../text", "text/../sets.tsv",
	"up/../../names.tsv", "folder/../later/../../text", "hollow", "",
}

// An output of a command replaces its own earlier file, and changes nothing else.
func TestOutputsDestroyNothing(t *testing.T) {
	skipShort(t)
	t.Parallel()
	shared := outputFixture(t)
	for _, name := range slices.Sorted(maps.Keys(outputCases)) {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			dir := t.TempDir()
			if err := os.CopyFS(dir, os.DirFS(shared)); err != nil {
				t.Fatal(err)
			}
			plantLinks(t, dir)
			fields := strings.Fields(name)
			flag := fields[len(fields)-1]
			args := func(path string) []string {
				more := strings.ReplaceAll(outputCases[name], "@", filepath.Base(path))
				command := fields[:len(fields)-1]
				return slices.Concat(command, strings.Fields(more), []string{flag, path})
			}
			before := snapshot(t, dir)
			for _, target := range outputTargets {
				if mayBeThere(name, target) {
					continue
				}
				o := execute(t, dir, args(target)...)
				if o.code == 0 && !isWarned(name, target) {
					t.Errorf("%s %q: exit code 0", name, target)
				}
				after := snapshot(t, dir)
				for path, text := range before {
					if after[path] != text {
						t.Errorf("%s %q: %s was changed; stderr:\n%s", name, target, path, o.stderr)
					}
				}
				if extra := len(after) - len(before); extra > 0 && o.code != 0 {
					t.Errorf("%s %q: it left %d files; stderr:\n%s", name, target, extra, o.stderr)
				}
			}
			fresh := "fresh.tsv"
			must(t, dir, args(fresh)...)
			if flag == "--out" && !slices.Contains([]string{"dataset", "incidence"}, fields[0]) {
				execute(t, dir, args(fresh)...).refused(t, 2, "write fresh.tsv: it already exists")
				return
			}
			again := args(fresh)
			if name == "split --html" || name == "ingest perturbations --dropped-names" {
				again = with(again, "--out", "second.tsv")
			}
			must(t, dir, again...)
		})
	}
}

// mayBeThere reports whether an output accepts a target that others refuse.
func mayBeThere(name, target string) bool {
	switch {
	case name == "rebuild --root":
		return slices.Contains([]string{"folder", "link", "dangling", "hollow"}, target)
	case name == "diff --html":
		return target == "other.html"
	case name == "rebuild --log-file":
		return target == "empty"
	case name == "dataset --out": // the same dataset is kept
		return slices.Contains([]string{"ds", "current"}, target)
	}
	return false
}

// isWarned reports whether a run only warns: it does not fail for want of metrics.
func isWarned(name, target string) bool {
	noFiles := strings.Fields("link dangling hollow folder inside ds current graph text/below")
	return name == "rebuild --metrics-file" && slices.Contains(noFiles, target)
}

// What is checked is what is written: up/../new is not beside up, which is a link to a folder
// elsewhere.
func TestOutputsThroughLinks(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	writeFiles(t, dir, sound, map[string]string{"there/d/x": "x", "new": "precious\n"})
	if err := os.Symlink("there/d", filepath.Join(dir, "up")); err != nil {
		t.Fatal(err)
	}
	must(t, dir, buildArgs...)
	for _, args := range [][]string{
		{"verify", "out", "--json", "up/../new"},
		{"inspect", "out", "--html", "up/../page"},
		with(buildArgs, "--out", "up/../ds"),
		with(smallRebuild, "--root", "up/../r", "--log-file", "up/../log",
			"--metrics-file", "up/../m"),
	} {
		must(t, dir, args...)
	}
	for _, name := range []string{"new", "page", "ds", "r", "log", "m"} {
		if _, err := os.Lstat(filepath.Join(dir, "there", name)); err != nil {
			t.Errorf("%s: %v", name, err)
		}
		if name != "new" {
			nothing(t, filepath.Join(dir, name))
		}
	}
	if text := read(t, filepath.Join(dir, "new")); text != "precious\n" {
		t.Errorf("the file beside the link is now %q", text)
	}
}

// What a process left that was killed just after it had given an output its name is removed by the
// next run with that output, whether there is anything to do or not.
func TestLeftoversOfOutputs(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	writeFiles(t, dir, sound)
	must(t, dir, buildArgs...)
	leave := func(name string) string {
		temporary := filepath.Join(dir, "."+name+".tcbuild-ABCDEFGHIJKLMNOPQRSTUVWXYZ")
		if err := os.Mkdir(temporary, 0o755); err != nil {
			t.Fatal(err)
		}
		return temporary
	}
	for _, c := range []struct {
		name string
		code int
		args []string
	}{
		{"out", 0, buildArgs},
		{"demo", 0, []string{"synth", "--samples", "3", "--out", "demo"}},
		{"demo", 2, []string{"synth", "--samples", "3", "--out", "demo"}},
		{"report", 4, []string{"verify", "demo", "--json", "report"}},
		{"report", 0, []string{"verify", "out", "--json", "report"}},
	} {
		left := leave(c.name)
		if o := execute(t, dir, c.args...); o.code != c.code && c.code != 4 {
			t.Errorf("%v: got exit code %d; stderr:\n%s", c.args, o.code, o.stderr)
		}
		nothing(t, left)
	}
}

// outputFixture makes the files that tests name as outputs, except links.
func outputFixture(t *testing.T) string {
	t.Helper()
	dir := t.TempDir()
	writeFiles(t, dir, sound, map[string]string{
		"base.yaml": "self_loops: keep\n",
		"ingest.yaml": "defaults: [base]\ngenes: {file: genes.tsv, column: id}\n" +
			"edges:\n- {file: edges.tsv, relation: r, from: a, to: b, undirected: true}\n",
		"genes.tsv": "id\nYA\nYB\nYC\n", "edges.tsv": "a\tb\nYA\tYB\n",
		"rebuild.yaml": "graph: graph\nperturbations: sets.tsv\nvariants: [incidence]\n",
		"text":         "precious\n", "folder/x": "precious\n",
		"names.tsv": "name\twhy\tcount\na\tunknown\t1\n", "v/d/000001-01234567/version.json": "{}\n",
	})
	if err := os.WriteFile(filepath.Join(dir, "empty"), nil, 0o644); err != nil {
		t.Fatal(err)
	}
	must(t, dir, with(buildArgs, "--out", "ds")...)
	must(t, dir, "synth", "--samples", "3", "--out", "small")
	must(t, dir, "diff", "small/graph", "small/graph", "--html", "other.html")
	writeFiles(t, dir, map[string]string{"other.json": "{\n  \"tcbuild\": \"another\"\n}\n"})
	return dir
}

func plantLinks(t *testing.T, dir string) {
	t.Helper()
	at := func(name string) string { return filepath.Join(dir, name) }
	err := errors.Join(os.Symlink("ds/manifest.json", at("link")),
		os.Symlink("nowhere", at("dangling")), os.Symlink("ds", at("dirlink")),
		os.Symlink("ds", at("current")), os.Symlink("ds/samples", at("inside")),
		os.Symlink("v/d", at("up")), os.Mkdir(at("no"), 0o755), os.Symlink("no", at("hollow")),
		os.Symlink("000001-01234567", at("v/d/current")),
		os.Link(at("ds/manifest.json"), at("hardlink")))
	if err != nil {
		t.Fatal(err)
	}
}

// snapshot returns the content of all files in a folder, and the targets of links, by path. It
// leaves out the roots of rebuilds.
func snapshot(t *testing.T, dir string) map[string]string {
	t.Helper()
	files := make(map[string]string)
	err := filepath.WalkDir(dir, func(path string, entry os.DirEntry, err error) error {
		name := strings.TrimPrefix(path, dir+"/")
		switch {
		case err != nil:
			return err
		case entry.IsDir() && (name == "r" || name == "rootless"):
			return filepath.SkipDir
		case entry.IsDir():
			return nil
		case entry.Type()&os.ModeSymlink != 0:
			files[name], err = os.Readlink(path)
			return err
		}
		files[name] = read(t, path)
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	return files
}

// A log can go to a device or pipe. No output replaces them.
func TestOutputsToDevices(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	writeFiles(t, dir, sound)
	if err := unix.Mkfifo(filepath.Join(dir, "pipe"), 0o644); err != nil {
		t.Fatal(err)
	}
	must(t, dir, with(smallRebuild, "--log-file", "/dev/null")...)
	for _, path := range []string{"/dev/null", "pipe"} {
		must(t, dir, with(smallRebuild, "--metrics-file", path)...).warns(t, "WARN not recorded")
		execute(t, dir, "inspect", "sets.tsv", "--html", path).
			refused(t, 1, "write "+path, "expected a file, or none")
	}
	execute(t, dir, with(smallRebuild, "--log-file", "pipe")...).
		refused(t, 1, "write log pipe: found a pipe or socket that nobody reads")
	info, err := os.Stat(filepath.Join(dir, "pipe"))
	if err != nil || info.Mode()&os.ModeNamedPipe == 0 {
		t.Errorf("the pipe is gone: %v", err)
	}
}

// Outputs may lie in a folder that only resembles a graph or a dataset.
func TestFoldersThatHoldNothing(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	writeFiles(t, dir, map[string]string{
		"site/manifest.json": "{}", "cluster/nodes/a.tsv": "x", "000001-01234567/x": "x",
		"[a]/nodes/gene.tsv": "x", "a/x": "x",
	})
	for name, want := range map[string]string{
		"site": "", "cluster": "", "000001-01234567": "", "a": "", "missing": "",
		"site/manifest.json": "", "[a]": "a graph",
	} {
		if got := holds(filepath.Join(dir, name)); got != want {
			t.Errorf("%s: got %q, want %q", name, got, want)
		}
	}
}

// Two outputs of a command are not the same file, nor one inside the other.
func TestOutputsCollide(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	writeFiles(t, dir, sound)
	must(t, dir, buildArgs...)
	ingested := strings.Fields("ingest perturbations sets.tsv --graph graph --out a.tsv")
	split := strings.Fields("split out --by sample --fractions a=1 --out s")
	for _, args := range [][]string{
		with(ingested, "--dropped-names", "a.tsv"),
		with(ingested, "dropped_names=./graph/../a.tsv"),
		with(split, "--html", "s"),
		with(split, "--html", "s/page.html"),
		with(smallRebuild, "--log-file", "m", "--metrics-file", "m"),
	} {
		execute(t, dir, args...).refused(t, 2, "is another output of this command")
	}
	for _, name := range []string{"a.tsv", "s", "r", "m"} {
		nothing(t, filepath.Join(dir, name))
	}
}

// A log is appended only to a file that begins like a log, in either format.
func TestLogsAreKnown(t *testing.T) {
	t.Parallel()
	for text, ours := range map[string]bool{
		"":                                      true,
		"2026-01-31T10:00:00Z stage x  a=b\n":   true,
		"2026-01-31T10:00:00+01:00 WARN some\n": true,
		`{"time":"2026-01-31T10:00:00.5Z","level":"INFO","msg":"a"}` + "\n": true,
		"2026-01-31T10:00:00Z\t0.5\n":                                       false,
		"2026-01-31T10:00:00Z,0.5\n":                                        false,
		"2026-01-31\n":                                                      false,
		"\n2026-01-31T10:00:00Z stage x\n":                                  false,
		`{"time":"2026-01-31"}` + "\n":                                      false,
		"{\n":                                                               false,
		"sample_id\tgenes\n":                                                false,
	} {
		if isLog([]byte(text)) != ours {
			t.Errorf("%q: got %v", text, !ours)
		}
	}
	dir := t.TempDir()
	writeFiles(t, dir, sound)
	for _, format := range []string{"text", "json"} {
		for range 2 {
			logged := with(smallRebuild, "--force", "--log-file", "log")
			must(t, dir, with(logged, "--log-format", format)...)
		}
	}
}
