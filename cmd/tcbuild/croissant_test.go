package main

import (
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// croissant adds two files to a dataset, and nothing else changes: verify and readers go on. The
// samples among them are the perturbation set of the dataset. python/tests/test_croissant.py loads
// them with mlcroissant.
func TestCroissant(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	writeFiles(t, dir, sound, map[string]string{
		"sets.tsv": "sample_id\tgenes\tfitness\tmedium\tdegrees\n007\tYA\t0.5\tYPD\t30\nNA\t\t\tSC <i>\t\nΔ\tYA|YC\t-0.25\t\t37.5\n",
		"about.yaml": "name: A screen\nlicense: https://creativecommons.org/licenses/by/4.0/\ncitation: |\n  @article{a, title={\"x\"}}\n" +
			"date: 2026-01-31\nmode: indices\n",
	})
	build := []string{"--graph", "graph", "--allow-wildtype", "--attributes", "medium,degrees"}
	must(t, dir, with([]string{"dataset", "--mode", "indices", "--perturbations", "sets.tsv", "--out", "out"}, build...)...)
	must(t, dir, "synth", "--out", "in")
	before := dataOf(t, filepath.Join(dir, "out"))
	o := must(t, dir, "croissant", "out", "--config", "about.yaml", "--date", "2026-02-28")
	if strings.Contains(o.stderr, "catalogues ask for more") || !strings.Contains(o.stdout, "out/croissant.json: describes 3 samples") {
		t.Errorf("found %s%s", o.stdout, o.stderr)
	}
	var about struct{ Name, License, CiteAs, DatePublished string }
	if err := json.Unmarshal([]byte(read(t, filepath.Join(dir, "out/croissant.json"))), &about); err != nil || about.Name != "A screen" ||
		about.License != "https://creativecommons.org/licenses/by/4.0/" || about.CiteAs != "@article{a, title={\"x\"}}\n" || about.DatePublished != "2026-02-28" {
		t.Errorf("found %+v, %v", about, err)
	}
	first := dataOf(t, filepath.Join(dir, "out"))
	must(t, dir, "croissant", "out", "--config", "about.yaml", "--date", "2026-02-28")
	after := dataOf(t, filepath.Join(dir, "out"))
	sameData(t, after, first)
	delete(after, "croissant.json")
	delete(after, "samples.parquet")
	sameData(t, after, before)
	must(t, dir, "verify", "out")

	must(t, dir, with([]string{"incidence", "--perturbations", "out/samples.parquet", "--out", "again"}, build...)...)
	if got, want := manifestOf(t, filepath.Join(dir, "again")).LogicalContent, manifestOf(t, filepath.Join(dir, "out")).LogicalContent; got != want {
		t.Errorf("samples.parquet makes logical content %s, expected %s", got, want)
	}

	// samples of two parts of the sample table, and as many row groups
	must(t, dir, "incidence", "--graph", "in", "--perturbations", "synth:tiny:70000:1", "--out", "parts")
	must(t, dir, "croissant", "parts")
	must(t, dir, "incidence", "--graph", "in", "--perturbations", "parts/samples.parquet", "--out", "parts again")
	if got, want := manifestOf(t, filepath.Join(dir, "parts again")), manifestOf(t, filepath.Join(dir, "parts")); got.LogicalContent != want.LogicalContent || want.SamplesPerPart >= 70000 {
		t.Errorf("samples.parquet makes logical content %s, expected %s; %d samples in a part", got.LogicalContent, want.LogicalContent, want.SamplesPerPart)
	}

	// other programs' files with these names stay
	for _, name := range []string{"croissant.json", "samples.parquet"} {
		path := filepath.Join(dir, "again", name)
		writeFiles(t, dir, map[string]string{"again/" + name: "{}"})
		execute(t, dir, "croissant", "again").refused(t, 2, "write again/"+name+": it exists")
		if text := read(t, path); text != "{}" {
			t.Errorf("%s has %q", path, text)
		}
		if err := os.Remove(path); err != nil {
			t.Fatal(err)
		}
	}

	must(t, dir, "incidence", "--graph", "graph", "--out", "table")
	if o := must(t, dir, "croissant", "table"); !strings.Contains(o.stderr, "--license --citation --date") {
		t.Errorf("found no word about what is not given: %s", o.stderr)
	}
	nothing(t, filepath.Join(dir, "table/samples.parquet"))
	if text := read(t, filepath.Join(dir, "table/croissant.json")); !strings.Contains(text, `"name": "table"`) || strings.Contains(text, "datePublished") {
		t.Errorf("found %s", text)
	}
}

func TestCroissantRefused(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	writeFiles(t, dir, sound, map[string]string{"typo.yaml": "licence: CC0\n"})
	must(t, dir, buildArgs...)
	for date, found := range map[string]string{"31.1.2026": `found "31.1.2026"`, "2026-02-30": `found "2026-02-30"`, "2026-01-31T10:00:00": "found"} {
		execute(t, dir, "croissant", "out", "--date", date).refused(t, 2, "read --date: "+found)
	}
	execute(t, dir, "croissant", "out", "--config", "typo.yaml").refused(t, 2, `unknown setting "licence"`)
	execute(t, dir, "croissant", "graph").refused(t, 3, "open dataset graph: it has no manifest.json")
	execute(t, dir, "croissant", "nowhere").refused(t, 1, "open dataset nowhere: there is no such folder")
	part := filepath.Join(dir, "out/samples/part-00000.arrow")
	damaged := []byte(read(t, part))
	damaged[len(damaged)/2] ^= 1
	if err := os.WriteFile(part, damaged, 0o644); err != nil {
		t.Fatal(err)
	}
	execute(t, dir, "croissant", "out").refused(t, 4, "out/samples/part-00000.arrow")
	nothing(t, filepath.Join(dir, "out/croissant.json"), filepath.Join(dir, "out/samples.parquet"))
}

// What croissant adds to the current version of a dataset is no reason to rebuild it, and goes
// along as long as the dataset stays the same.
func TestCroissantOfRebuild(t *testing.T) {
	t.Parallel()
	f := newFixture(t, 400, 20)
	args := rebuildOf("variants=[incidence,indices]")
	must(t, f.dir, args...)
	must(t, f.dir, "croissant", "out/set/current/incidence")
	must(t, f.dir, "croissant", "out/set/current/indices")
	if o := must(t, f.dir, args...); !strings.Contains(o.stdout, "nothing to do") || f.versionsOf(t) != 1 {
		t.Errorf("found %s", o.stdout)
	}
	must(t, f.dir, with(args, "method=edges")...)
	if f.versionsOf(t) != 2 {
		t.Error("another method made no version")
	}
	for _, name := range []string{"incidence/samples.parquet", "indices/croissant.json"} {
		read(t, filepath.Join(f.dir, "out/set/current", name))
	}
	if o := must(t, f.dir, with(args, "method=edges")...); !strings.Contains(o.stdout, "nothing to do") {
		t.Errorf("found %s", o.stdout)
	}
	must(t, f.dir, "croissant", "out/set/current/indices", "--name", "other")
	if err := os.WriteFile(filepath.Join(f.dir, "out/set/current/indices/notes.txt"), []byte("x"), 0o644); err != nil {
		t.Fatal(err)
	}
	if o := must(t, f.dir, with(args, "method=edges", "--dry-run")...); !strings.Contains(o.stdout, "its output is missing or damaged") {
		t.Errorf("found %s", o.stdout)
	}
}
