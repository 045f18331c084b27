package main

import (
	"strings"
	"testing"
)

// A path that leads nowhere is a failure of input and output: exit code 1, a line that names it,
// and a hint; whichever path of whichever command it is. A folder without nodes/ is bad input (3).
func TestMissingPaths(t *testing.T) {
	skipShort(t)
	t.Parallel()
	dir := t.TempDir()
	writeFiles(t, dir, sound)
	writeFiles(t, dir, map[string]string{"empty/file": "x"})
	must(t, dir, "incidence", "--graph", "graph", "--perturbations", "sets.tsv", "--out", "dataset")
	for _, run := range []string{
		"synth --out s --config none.yaml",
		"incidence --graph none --out o",
		"incidence --graph graph --perturbations none.tsv --out o",
		"incidence --graph graph --perturbations none --out o",
		"dataset --mode indices --graph none --perturbations sets.tsv --out o",
		"dataset --mode full-masks --graph graph --perturbations none.tsv --out o",
		"verify none",
		"verify dataset --graph none",
		"inspect none",
		"diff none none2",
		"diff dataset none",
		"diff none dataset",
		"bench --graph none --perturbations sets.tsv --out o",
		"bench --graph graph --perturbations none.tsv --out o",
		"rebuild --root r --config none.yaml",
		"rebuild --root r --dataset d --graph none --perturbations sets.tsv",
		"rebuild --root r --dataset d --graph none --perturbations sets.tsv --dry-run",
		"rebuild --root r --dataset d --graph graph --perturbations none.tsv",
		"status none",
	} {
		t.Run(run, func(t *testing.T) { execute(t, dir, strings.Fields(run)...).refused(t, 1, "none") })
	}
	for _, run := range []string{
		"incidence --graph empty --out o",
		"inspect empty",
		"bench --graph empty --perturbations sets.tsv --out o",
		"rebuild --root r --dataset d --graph empty --perturbations sets.tsv",
	} {
		t.Run(run, func(t *testing.T) { execute(t, dir, strings.Fields(run)...).refused(t, 3, "empty") })
	}
	execute(t, dir, "synth", "--out", "s", "--config", "nopreset").refused(t, 1, "nopreset")
}
