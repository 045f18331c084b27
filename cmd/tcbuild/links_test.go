package main

import (
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"tcbuild/internal/testing/testrun"
)

// No command follows another user's link in a folder that everyone can write to. A rebuild follows
// the user's own link.
func TestLinksOfOthers(t *testing.T) {
	if os.Geteuid() != 0 {
		t.Skip("only root can make links of another user")
	}
	t.Parallel()
	dir := t.TempDir()
	writeFiles(t, dir, sound, map[string]string{"theirs/keep": "precious", "own/keep": "precious"})
	must(t, dir, buildArgs...)
	link := func(target, name string, owner int) error {
		path := filepath.Join(dir, name)
		return errors.Join(os.Symlink(target, path), os.Lchown(path, owner, owner))
	}
	root := filepath.Join(dir, "r")
	err := errors.Join(os.Mkdir(root, 0o755), os.Chmod(root, os.ModeSticky|0o777),
		link("../theirs", "r/d", 4321), link("../own", "r/mine", 0))
	if err != nil {
		t.Fatal(err)
	}
	for _, args := range [][]string{
		smallRebuild,
		with(smallRebuild, "--force"),
		with(buildArgs, "--out", "r/d"),
		with(buildArgs, "--out", "r/d/out"),
		{"synth", "--out", "r/d/x"},
		{"inspect", "out", "--html", "r/d/page.html"},
	} {
		execute(t, dir, args...).refused(t, 2, "r/d is a symbolic link of another user")
	}
	if entries, _ := os.ReadDir(filepath.Join(dir, "theirs")); len(entries) != 1 {
		t.Errorf("files were written through the link: %v", entries)
	}
	must(t, dir, with(smallRebuild, "--dataset", "mine")...)
	must(t, dir, "verify", "own/current/incidence")
}

// smallRebuild rebuilds r/d from sound.
var smallRebuild = strings.Fields("rebuild --root r --dataset d " +
	"--graph graph --perturbations sets.tsv variants=[incidence]")

// Files that can be foreseen may be links that somebody planted. No command writes through one.
func TestPlantedLinks(t *testing.T) {
	t.Parallel()
	rebuildArgs := "rebuild --root r --dataset d --graph graph --perturbations sets.tsv variants=[incidence]"
	for _, c := range []struct {
		run   string
		names []string // that a user or a temporary file has
		code  int
	}{
		{"inspect out --html page.html", []string{".page.html"}, 0},
		{"inspect out --html page.html", []string{"page.html"}, 1},
		{"verify out --json report", []string{"report"}, 1},
		{"synth --out demo", []string{"demo"}, 2},
		{"status r --metrics-file m.prom", []string{".m.prom"}, 0},
		{"status r --metrics-file m.prom", []string{"m.prom"}, 1},
		{rebuildArgs, []string{"r/d/.lock"}, 1},
		{rebuildArgs, []string{"r/d/state.json"}, 1},
	} {
		t.Run(c.run+" "+c.names[0], func(t *testing.T) {
			testrun.OneIn(t, 4)
			t.Parallel()
			dir := t.TempDir()
			writeFiles(t, dir, sound, map[string]string{"victim": "precious"})
			if strings.HasPrefix(c.run, "status") {
				must(t, dir, smallRebuild...)
			}
			if strings.HasPrefix(c.run, "verify") || strings.HasPrefix(c.run, "inspect") {
				must(t, dir, buildArgs...)
			}
			for _, target := range []string{"victim", "planted"} {
				for _, name := range c.names {
					link := filepath.Join(dir, name)
					if err := os.MkdirAll(filepath.Dir(link), 0o755); err != nil {
						t.Fatal(err)
					}
					os.Remove(link)
					if err := os.Symlink(filepath.Join(dir, target), link); err != nil {
						t.Fatal(err)
					}
				}
				if o := execute(t, dir, strings.Fields(c.run)...); o.code != c.code {
					t.Errorf("got exit code %d, want %d; stderr:\n%s", o.code, c.code, o.stderr)
				} else if c.code != 0 && (!hasHint(o.stderr) && !strings.Contains(o.stderr, "found a symbolic link")) {
					t.Errorf("got stderr:\n%s", o.stderr)
				}
				if text := read(t, filepath.Join(dir, "victim")); text != "precious" {
					t.Fatalf("the file that %s leads to has been overwritten", c.names)
				}
				nothing(t, filepath.Join(dir, "planted"))
			}
		})
	}
}
