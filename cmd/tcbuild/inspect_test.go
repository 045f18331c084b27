package main

import (
	"encoding/json"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"tcbuild/internal/inspect"
	"tcbuild/internal/testing/pagetest"
)

func TestInspectPages(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	must(t, dir, "synth", "--out", "in", "--samples", "100")
	must(t, dir, "incidence", "--graph", "in", "--perturbations", "in/perturbations.arrow", "--out", "incidence")
	must(t, dir, "dataset", "--mode", "full-masks", "--graph", "in", "--perturbations", "in/perturbations.arrow", "--out", "masks")
	for name, args := range map[string][]string{
		"incidence": {"incidence"}, "dataset": {"masks"},
	} {
		t.Run(name, func(t *testing.T) {
			text := must(t, dir, with([]string{"inspect", "--html", "page.html"}, args...)...).stdout
			page := read(t, filepath.Join(dir, "page.html"))
			words := strings.NewReplacer("<wbr/>", "", `<wbr class="narrow"/>`, "").Replace(page) // as they are shown
			for line := range strings.Lines(text) {                                               // the page tells what the text does
				if told := strings.Fields(line); len(told) > 0 && !strings.Contains(words, told[0]) {
					t.Errorf("the page lacks %q of %q", told[0], line)
				}
			}
			if plots := pagetest.Check(t, page); plots < 3 {
				t.Errorf("the page has %d plots, want 3 or more", plots)
			}
		})
	}

	execute(t, dir, "inspect", "masks", "--html", "nowhere/page.html").failed(t, "write nowhere/page.html: ")
	execute(t, dir, "inspect", "in/graph").refused(t, 3, "open dataset in/graph: it has no manifest.json")
	nothing(t, filepath.Join(dir, ".page.html"))
}

// Of a dataset, inspect summarises what the sample table holds, the same for every variant.
func TestInspectDataset(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	writeFiles(t, dir, sound, map[string]string{"sets.tsv": "sample_id\tgenes\tfitness\t\"<b>&\"\"se\"\tmedium\tdegrees\tplate\n" +
		"s0\tYA\t0.5\t1\tYPD\t30\tp0\ns1\tYB\t\t2\t<i>SC</i>\t30\tp1\ns2\tYA|YC\t0.75\t2\tYPD\t37.5\tp2\ns3\tYB\t1\t2\t\t\tp3\n"})
	build := []string{"--graph", "graph", "--perturbations", "sets.tsv", "--attributes", "medium,degrees,plate", "--out"}
	must(t, dir, with([]string{"incidence"}, with(build, "incidence")...)...)
	must(t, dir, with([]string{"dataset", "--mode", "indices"}, with(build, "indices")...)...)
	want := `{"genotype_sizes":[{"genes":1,"samples":3},{"genes":2,"samples":1}],` +
		`"genes":{"things":3,"none":0,"median":2,"mean":1.6666666666666667,"p90":2,"max":2,"most":"YA","bins":[{"from":0,"to":0,"things":0},{"from":1,"to":1,"things":1},{"from":2,"to":3,"things":2}]},` +
		`"phenotypes":[{"name":"fitness","values":3,"missing":1,"min":0.5,"mean":0.75,"sd":0.25,"max":1,"bins":[`
	for _, variant := range []string{"incidence", "indices"} {
		var summary struct {
			Samples    int
			Phenotypes []struct{ Name string }
			Summary    inspect.SampleSummary
		}
		text := must(t, dir, "inspect", variant, "--json").stdout
		if err := json.Unmarshal([]byte(text), &summary); err != nil || summary.Samples != 4 || summary.Phenotypes[0].Name != "fitness" {
			t.Errorf("found %+v, %v, expected the manifest", summary, err)
		}
		fitness := summary.Summary.Phenotypes[0]
		values := 0
		for _, bin := range fitness.Bins {
			values += bin.Value
		}
		if again, err := json.Marshal(summary.Summary); err != nil || !strings.HasPrefix(string(again), want) || values != 3 {
			t.Errorf("%s: found %s, %d values in bins, expected %s…, 3 values", variant, again, values, want)
		}
		attributes, err := json.Marshal(summary.Summary.Attributes)
		if want := `[{"name":"medium","type":"text","values":3,"missing":1,"different":2,"most_frequent":[{"value":"YPD","samples":2},{"value":"\u003ci\u003eSC\u003c/i\u003e","samples":1}]},` +
			`{"name":"degrees","type":"number","values":3,"missing":1,"different":2,"most_frequent":[{"value":30,"samples":2},{"value":37.5,"samples":1}],"numbers":{"values":3,"missing":1,"min":30,`; err != nil || !strings.HasPrefix(string(attributes), want) {
			t.Errorf("%s: found %s, expected %s…", variant, attributes, want)
		}

		text = must(t, dir, "inspect", variant, "--html", "page.html").stdout
		for _, line := range []string{"fitness 3 1 25.0 0.5 0.75 0.25 1 ", "medium text 3 1 25.0 2", "degrees number 3 1 25.0 30 32.5 4.33 37.5 2 ", "YPD 2 50.0", "(missing) 1 25.0"} {
			if !strings.Contains(strings.Join(strings.Fields(text), " ")+" ", line) {
				t.Errorf("%s: the text lacks %s\n%s", variant, line, text)
			}
		}
		if strings.Contains(text, "Values of plate") { // each has its own
			t.Errorf("%s: the text lists values of plate\n%s", variant, text)
		}
		page := read(t, filepath.Join(dir, "page.html"))
		if plots := pagetest.Check(t, page); plots != 5 {
			t.Errorf("%s: found %d plots, expected those of two phenotypes, an attribute, genotype sizes and genes", variant, plots)
		}
		for _, part := range []string{"&lt;b&gt;&amp;&#34;se", "&lt;i&gt;SC&lt;/i&gt;", "sets.tsv", "Dataset " + variant} {
			if !strings.Contains(page, part) {
				t.Errorf("%s: the page lacks %s", variant, part)
			}
		}
	}
	must(t, dir, "incidence", "--graph", "graph", "--out", "table")
	if text := must(t, dir, "inspect", "table", "--html", "page.html", "--json").stdout; strings.Contains(text, `"summary"`) {
		t.Errorf("a table without samples has a summary of them:\n%s", text)
	}
	pagetest.Check(t, read(t, filepath.Join(dir, "page.html")))
}

// A broken link is an error, not a guess: a dataset with such a manifest is damaged, not a graph,
// and such a settings file is not the preset of its name.
func TestDanglingNames(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	writeFiles(t, dir, sound, map[string]string{"quickstart.yaml": "samples: 2\n"})
	must(t, dir, buildArgs...)
	must(t, dir, with(buildArgs, "--out", "other")...)
	for _, target := range []string{"nowhere", "manifest.json", "quickstart.yaml"} {
		for _, path := range []string{filepath.Join(dir, "out/manifest.json"), filepath.Join(dir, "quickstart.yaml")} {
			if err := errors.Join(os.Remove(path), os.Symlink(target, path)); err != nil {
				t.Fatal(err)
			}
		}
		for _, args := range []string{"inspect out", "inspect out --samples 0:1", "diff out other", "diff other out"} {
			execute(t, dir, strings.Fields(args)...).refused(t, 4, "out/manifest.json")
		}
		execute(t, dir, "synth", "--config", "quickstart.yaml", "--out", "made").refused(t, 1, "quickstart.yaml")
	}
}

func TestInspectFlags(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	writeFiles(t, dir, sound)
	must(t, dir, buildArgs...)
	for _, c := range []struct{ args, want string }{
		{"out --html page.html --samples 0:1", "inspect out: --html shows all samples, found --samples 0:1"},
	} {
		execute(t, dir, append([]string{"inspect"}, strings.Fields(c.args)...)...).refused(t, 2, c.want)
	}
	nothing(t, filepath.Join(dir, "page.html"))
	if err := os.Remove(filepath.Join(dir, "out/manifest.json")); err != nil {
		t.Fatal(err)
	}
	execute(t, dir, "inspect", "out", "--samples", "0:1").refused(t, 3, "open dataset out: it has no manifest.json")
}
