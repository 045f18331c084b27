package main

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"tcbuild/internal/testing/testrun"
)

// Files that can be foreseen may be links that somebody planted. No command writes through one.
func TestPlantedLinks(t *testing.T) {
	t.Parallel()
	rebuildArgs := "rebuild --root r --dataset d --graph graph --perturbations sets.tsv variants=[incidence]"
	for _, c := range []struct {
		run   string
		names []string // that a user or a temporary file has
		code  int
	}{
		{"inspect sets.tsv --html page.html", []string{".page.html"}, 0},
		{"inspect sets.tsv --html page.html", []string{"page.html"}, 1},
		{"verify out --json report", []string{"report"}, 1},
		{"synth --out demo", []string{"demo"}, 2},
		{"ingest perturbations sets.tsv --graph graph --out p.tsv", []string{"p.tsv"}, 2},
		{rebuildArgs + " --metrics-file m.prom", []string{".m.prom"}, 0},
		{rebuildArgs + " --metrics-file m.prom", []string{"m.prom"}, 0},
		{rebuildArgs + " --log-file log", []string{"log"}, 1},
		{rebuildArgs, []string{"r/d/.lock"}, 1},
		{rebuildArgs, []string{"r/d/.tmp-current", "r/d/.tmp-version.json"}, 0},
	} {
		t.Run(c.run+" "+c.names[0], func(t *testing.T) {
			testrun.OneIn(t, 4)
			t.Parallel()
			dir := t.TempDir()
			writeFiles(t, dir, sound, map[string]string{"victim": "precious"})
			if strings.HasPrefix(c.run, "verify") {
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
