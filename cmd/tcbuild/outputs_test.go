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
	"synth --out":         "--samples 5",
	"incidence --out":     "--graph graph --perturbations sets.tsv",
	"dataset --out":       "--mode indices --graph graph --perturbations sets.tsv",
	"incidence --dropped": "--graph graph --perturbations sets.tsv --out @.ds",
	"dataset --dropped":   "--mode indices --graph graph --perturbations sets.tsv --out @.ds",
	"verify --json":       "ds",
	"inspect --html":      "ds",
	"bench --out": "--graph graph --perturbations sets.tsv " +
		"--samples 2 --rounds 1",
	"rebuild --root":        "--dataset d --config rebuild.yaml",
	"status --metrics-file": "r",
}

// inputFlagNames are the flags for paths that commands only read.
var inputFlagNames = []string{"config", "graph", "perturbations"}

// isPath reports whether the value of a flag is a path.
func isPath(flag *pflag.Flag) bool {
	word, _ := pflag.UnquoteUsage(flag)
	return slices.Contains([]string{"FILE", "DIR", "DATASET"}, word)
}

// Every flag for a path names an output, in outputCases, or an input, in inputFlagNames.
func TestOutputsAreDeclared(t *testing.T) {
	declared := make(map[string]bool)
	everyCommand(newRoot(newEnv(io.Discard, io.Discard)), func(cmd *cobra.Command) {
		if cmd.HasParent() && cmd.Parent().Name() == "rebuild" {
			return // steps have the flags of rebuild
		}
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
	if len(declared) < 10 {
		t.Errorf("found only %d outputs", len(declared))
	}
}

// outputTargets are paths where no output may change anything.
var outputTargets = []string{
	"sets.tsv", "rebuild.yaml", "text", "empty",
	"graph/nodes/gene.tsv", "graph/new", "graph/nodes/new.tsv",
	"ds/manifest.json", "ds/run.json", "ds/shard-00000-of-00001/data.mdb",
	"ds/new", "ds/samples/new", "current/new",
	"v/d/0123456789abcdef/key.json", "v/d/0123456789abcdef/new", "v/d/current/version.json",
	"other.html", "other.json", "names.tsv", "link", "hardlink", "dangling",
	"dirlink/manifest.json", "folder", "inside", "ds", "current", "graph",
	"text/below", "ds/../sets.tsv", "./text", "line\nbreak", "later/../text", "text/../sets.tsv",
	"up/../../names.tsv", "folder/../later/../../text", "hollow", "", "-", "s3://bucket/new",
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
				if o.code == 0 {
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
			if flag == "--dropped" {
				again = with(again, "--out", "second.tsv")
			}
			must(t, dir, again...)
		})
	}
}

// mayBeThere reports whether an output accepts a target that others refuse.
func mayBeThere(name, target string) bool {
	switch {
	case strings.HasSuffix(name, " --root"):
		return slices.Contains([]string{"folder", "link", "dangling", "hollow"}, target)
	case name == "verify --json":
		return target == "-"
	case name == "dataset --out": // the same dataset is kept
		return slices.Contains([]string{"ds", "current"}, target)
	}
	return false
}

// A command writes the path that it checked. If up links to a folder elsewhere, up/../new is beside
// that folder, not beside up.
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
		with(smallRebuild, "--root", "up/../r"),
		{"status", "there/r", "--metrics-file", "up/../m"},
	} {
		must(t, dir, args...)
	}
	for _, name := range []string{"new", "page", "ds", "r", "m"} {
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

// A process that is killed just after renaming its output leaves a folder. The next run with that
// output removes it, even if it has nothing to do.
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
		"rebuild.yaml": "graph: graph\nperturbations: sets.tsv\nvariants: [incidence]\n",
		"text":         "precious\n", "folder/x": "precious\n",
		"names.tsv": "name\twhy\tcount\na\tunknown\t1\n", "v/d/0123456789abcdef/key.json": "{}\n",
	})
	if err := os.WriteFile(filepath.Join(dir, "empty"), nil, 0o644); err != nil {
		t.Fatal(err)
	}
	must(t, dir, with(buildArgs, "--out", "ds")...)
	must(t, dir, smallRebuild...)
	must(t, dir, "synth", "--samples", "3", "--out", "small")
	writeFiles(t, dir, map[string]string{"other.html": "<!DOCTYPE html><!-- tcbuild other -->\n"})
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
		os.Symlink("0123456789abcdef", at("v/d/current")),
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

// No output replaces a device or pipe.
func TestOutputsToDevices(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	writeFiles(t, dir, sound)
	if err := unix.Mkfifo(filepath.Join(dir, "pipe"), 0o644); err != nil {
		t.Fatal(err)
	}
	must(t, dir, smallRebuild...)
	for _, path := range []string{"/dev/null", "pipe"} {
		for _, args := range [][]string{
			{"status", "r", "--metrics-file", path},
			{"inspect", "r/d/current/incidence", "--html", path},
		} {
			execute(t, dir, args...).refused(t, 1, "write "+path, "expected a file, or none")
		}
	}
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
		"site/manifest.json": "{}", "cluster/nodes/a.tsv": "x", "0123456789abcdef/x": "x",
		"[a]/nodes/gene.tsv": "x", "a/x": "x",
	})
	for name, want := range map[string]string{
		"site": "", "cluster": "", "0123456789abcdef": "", "a": "", "missing": "",
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
	built := with(buildArgs, "--out", "a")
	for _, args := range [][]string{
		with(built, "--dropped", "a"),
		with(built, "dropped=./graph/../a"),
		with(built, "--dropped", "a/names.tsv"),
	} {
		execute(t, dir, args...).refused(t, 2, "is another output of this command")
	}
	for _, name := range []string{"a", "r"} {
		nothing(t, filepath.Join(dir, name))
	}
}
