package main

import (
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
)

// The recipe for a first SLURM run works as printed. python/tests/test_docs.py runs the other
// recipes.
func TestFirstSLURMRun(t *testing.T) {
	skipShort(t)
	t.Parallel()
	_, section, _ := strings.Cut(read(t, "../../docs/recipes.md"), "\n## A first SLURM run\n")
	block := regexp.MustCompile("(?s)```sh\n(.*?)```").FindStringSubmatch(section)
	if block == nil {
		t.Fatal("the recipe has no commands")
	}
	c := startCluster(t)
	dir, environment := operations(t)
	if err := os.Rename(filepath.Join(dir, "screen.arrow"), filepath.Join(dir, "cell/perturbations.arrow")); err != nil {
		t.Fatal(err)
	}
	environment = append(environment, "SLURM_CONF="+filepath.Join(c.dir, "slurm.conf"))
	out, ok := runIn(t, dir, environment, "bash", "-euc", block[1])
	if !ok {
		t.Fatal(out)
	}
	must(t, dir, "verify", "data/my/current/incidence")
}
