package main

import (
	"encoding/json"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"tcbuild/internal/inspect"
)

func TestInspectInput(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	must(t, dir, "synth", "--out", "in", "--samples", "100")
	for name, args := range map[string][]string{
		"graph": {"in/graph"}, "folder around a graph": {"in"},
		"perturbations": {"in/perturbations.arrow", "--graph", "in"}, "perturbations alone": {"in/perturbations.arrow"},
	} {
		t.Run(name, func(t *testing.T) {
			text := must(t, dir, with([]string{"inspect", "--html", "page.html"}, args...)...).stdout
			page := read(t, filepath.Join(dir, "page.html"))
			for line := range strings.Lines(text) { // the page tells what the text does
				if words := strings.Fields(line); len(words) > 0 && !strings.Contains(page, words[0]) {
					t.Errorf("the page lacks %q of %q", words[0], line)
				}
			}
			if plots := selfContained(t, page); plots < 3 {
				t.Errorf("the page has %d plots, want 3 or more", plots)
			}
		})
	}

	var graph inspect.GraphSummary
	if err := json.Unmarshal([]byte(must(t, dir, "inspect", "in/graph", "--json").stdout), &graph); err != nil || graph.Nodes[0].Nodes != 60 {
		t.Errorf("got %+v, %v", graph, err)
	}
	var set inspect.PerturbationSummary
	if err := json.Unmarshal([]byte(must(t, dir, "inspect", "in/perturbations.arrow", "--json").stdout), &set); err != nil || set.Samples != 100 {
		t.Errorf("got %+v, %v", set, err)
	}
	writeFiles(t, dir, map[string]string{"empty.tsv": "genes\tfitness\n", "bad.tsv": "gene\nYA\n"})
	if o := must(t, dir, "inspect", "empty.tsv", "--html", "empty.html"); !strings.Contains(o.stdout, "samples                              0") {
		t.Errorf("got %s", o.stdout)
	}
	execute(t, dir, "inspect", "bad.tsv", "--html", "bad.html").refused(t, 3, "read perturbations bad.tsv: found columns")
	execute(t, dir, "inspect", "empty.tsv", "--html", "nowhere/page.html").failed(t, "write page: ", "nowhere/page.html")
	nothing(t, filepath.Join(dir, "bad.html"), filepath.Join(dir, ".bad.html"), filepath.Join(dir, ".page.html"))
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
		{"graph --samples 0:1", "inspect graph: --samples is for a dataset"},
		{"graph --graph graph", "inspect graph: --graph is for a perturbation set"},
		{"sets.tsv --samples 0:1", "inspect sets.tsv: --samples is for a dataset"},
		{"out --html page.html", "inspect out: --html is for a graph or perturbation set"},
		{"out --graph graph", "inspect out: --graph is for a perturbation set"},
	} {
		execute(t, dir, append([]string{"inspect"}, strings.Fields(c.args)...)...).refused(t, 2, c.want)
	}
	nothing(t, filepath.Join(dir, "page.html"))
	if err := os.Remove(filepath.Join(dir, "out/manifest.json")); err != nil {
		t.Fatal(err)
	}
	for _, flags := range []string{"--samples 0:1", "--croissant"} {
		execute(t, dir, append([]string{"inspect", "out"}, strings.Fields(flags)...)...).refused(t, 3, "open dataset out: it has no manifest.json")
	}
}

func TestInspectCroissant(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	must(t, dir, "synth", "--out", "in", "--samples", "100")
	must(t, dir, "dataset", "--mode", "indices", "--graph", "in", "--perturbations", "in/perturbations.arrow", "--out", "indices")
	var description struct {
		Type string `json:"@type"`
	}
	if err := json.Unmarshal([]byte(must(t, dir, "inspect", "indices", "--croissant").stdout), &description); err != nil || description.Type != "sc:Dataset" {
		t.Errorf("type %q, error %v, expected sc:Dataset", description.Type, err)
	}
}
