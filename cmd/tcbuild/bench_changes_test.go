package main

import (
	"fmt"
	"log/slog"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"tcbuild"
	"tcbuild/fault"
	"tcbuild/incidence"
	"tcbuild/ingest"
	"tcbuild/ingest/samples/duplicates"
	"tcbuild/internal/bench"
)

// bench fails if its builds find other files than it read itself, even if those are restored
// afterwards.
func TestBenchInputsChange(t *testing.T) {
	skipShort(t)
	t.Parallel()
	f := newFixture(t, 400, 20)
	writeFiles(t, f.dir, map[string]string{
		"own/nodes/gene.tsv":                 "id\n" + strings.Join(f.graph.Genes.IDs, "\n") + "\n",
		"own/edges/gene__physical__gene.tsv": "src\tdst\nY000\tY001\nY002\tY003\n",
		"edges.tsv":                          "src\tdst\nY000\tY001\nY002\tY004\n",
		"other.tsv":                          "sample_id\tgenes\tfitness\tgrowth\ns0\tY000\t1\t\n",
	})
	program, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct{ file, with, want string }{
		{"own/edges/gene__physical__gene.tsv", "edges.tsv", "input edges/gene__physical__gene.tsv changed"},
		{"own/edges/gene__regulatory__gene.tsv", "edges.tsv", "input edges/gene__regulatory__gene.tsv is new"},
		{"sets.tsv", "other.tsv", "sets.tsv: the file changed while it was read"},
		{"unrelated", "other.tsv", ""},
	} {
		t.Run(c.file, func(t *testing.T) {
			file := filepath.Join(f.dir, c.file)
			script := fmt.Sprintf("#!/bin/sh\n[ ! -e %[1]s ] || mv %[1]s %[1]s.old\ncp %[2]s %[1]s\n%[3]s=main %[4]s \"$@\"\ncode=$?\nrm %[1]s\n[ ! -e %[1]s.old ] || mv %[1]s.old %[1]s\nexit $code\n",
				file, filepath.Join(f.dir, c.with), modeVariable, program)
			executable := filepath.Join(t.TempDir(), "build")
			if err := os.WriteFile(executable, []byte(script), 0o777); err != nil {
				t.Fatal(err)
			}
			o := bench.Options{Options: tcbuild.Options{
				Graph: filepath.Join(f.dir, "own"), Perturbations: filepath.Join(f.dir, "sets.tsv"), ReactionRule: incidence.RuleAll,
				Out: t.TempDir(), Workers: 1, Log: slog.New(slog.DiscardHandler), MaxDropped: new(tcbuild.DefaultMaxDropped),
			}, Rounds: 1, Executable: executable}
			o.UnknownGenes, o.Duplicates = ingest.RefuseUnknownGenes, duplicates.Keep
			_, err := bench.Run(t.Context(), o)
			if c.want == "" && err == nil {
				return
			}
			if fault.KindOf(err) != fault.Busy || !strings.Contains(err.Error(), c.want) || fault.HintOf(err) == "" {
				t.Errorf("got kind %d, %v, want %q", fault.KindOf(err), err, c.want)
			}
		})
	}
}
