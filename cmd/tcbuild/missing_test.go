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
	writeFiles(t, dir, map[string]string{"genes.tab": "S1\tORF\tVerified\tYA" + strings.Repeat("\t", 12) + "\n", "empty/file": "x"})
	must(t, dir, "incidence", "--graph", "graph", "--perturbations", "sets.tsv", "--out", "dataset")
	for _, run := range []string{
		"synth --out s --config none.yaml",
		"ingest graph --config none.yaml --out g",
		"ingest perturbations none.tsv --graph graph --out p.tsv",
		"ingest perturbations sets.tsv --graph none --out p.tsv",
		"ingest perturbations sets.tsv --graph graph --aliases none.tab --out p.tsv",
		"ingest perturbations none --source costanzo2016 --graph graph --out p.tsv",
		"ingest perturbations sets.tsv --source costanzo2016 --graph none --out p.tsv",
		"ingest perturbations sets.tsv --source costanzo2016 --graph graph --aliases none.tab --out p.tsv",
		"ingest perturbations none.tab --source emap --graph graph --out p.tsv",
		"ingest perturbations sets.tsv --source emap --graph none --out p.tsv",
		"ingest perturbations none.tsv --source matrix --graph graph --out p.tsv",
		"ingest perturbations sets.tsv --source matrix --graph none --out p.tsv",
		"ingest graph +genes.source=sgd_features +genes.file=none --out g",
		"ingest graph +genes.source=sgd_features +genes.file=genes.tab +gem.file=none.yml --out g",
		"incidence --graph none --out o",
		"incidence --graph graph --perturbations none.tsv --out o",
		"incidence --graph graph --perturbations none --out o",
		"incidence --graph graph --perturbations combinations:none.txt:2 --out o",
		"dataset --mode indices --graph none --perturbations sets.tsv --out o",
		"dataset --mode full-masks --graph graph --perturbations none.tsv --out o",
		"verify none",
		"verify dataset --graph none",
		"inspect none",
		"inspect none.tsv",
		"inspect sets.tsv --graph none",
		"diff none none2",
		"diff dataset none",
		"diff none dataset",
		"diff graph none",
		"diff none graph",
		"bench --graph none --perturbations sets.tsv --out o",
		"bench --graph graph --perturbations none.tsv --out o",
		"rebuild --root r --config none.yaml",
		"rebuild --root r --dataset d --graph none --perturbations sets.tsv",
		"rebuild --root r --dataset d --graph none --perturbations sets.tsv --dry-run",
		"rebuild --root r --dataset d --graph graph --perturbations none.tsv",
		"rebuild --root r --dataset d --graph graph --perturbations combinations:none.txt:2",
		"status none",
		"stage none o",
		"clean none",
	} {
		t.Run(run, func(t *testing.T) { execute(t, dir, strings.Fields(run)...).refused(t, 1, "none") })
	}
	for _, run := range []string{
		"incidence --graph empty --out o",
		"inspect empty",
		"diff empty graph",
		"bench --graph empty --perturbations sets.tsv --out o",
		"rebuild --root r --dataset d --graph empty --perturbations sets.tsv",
	} {
		t.Run(run, func(t *testing.T) { execute(t, dir, strings.Fields(run)...).refused(t, 3, "empty") })
	}
	execute(t, dir, "synth", "--out", "s", "--config", "nopreset").refused(t, 2, "neither a file nor a preset nopreset")
}
