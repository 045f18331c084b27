package main

import (
	"strings"
	"testing"
)

// A path that leads nowhere is a failure of input and output: exit code 1, a line that names it, and a hint.
func TestMissingPaths(t *testing.T) {
	dir := t.TempDir()
	writeFiles(t, dir, sound)
	for _, run := range []string{
		"synth --out s --config none.yaml",
		"ingest graph --config none.yaml --out g",
		"rebuild --root r --config none.yaml",
		"clean none",
		"ingest perturbations none.tsv --graph graph --out p.tsv",
		"ingest sga none --graph graph --out p.tsv",
		"ingest sgd none --out g",
		"incidence --graph graph --perturbations none.tsv --out o",
		"verify none",
		"inspect none",
		"status none",
		"stage none o",
	} {
		t.Run(run, func(t *testing.T) { execute(t, dir, strings.Fields(run)...).refused(t, 1, "none") })
	}
	execute(t, dir, "synth", "--out", "s", "--config", "nopreset").refused(t, 2, "neither a file nor a preset nopreset")
}
