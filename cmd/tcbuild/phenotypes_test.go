package main

import (
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

// Every command that reads a perturbation table applies the same rule to its columns.
func TestPhenotypeColumns(t *testing.T) {
	t.Parallel()
	f := newFixture(t, 40, 2)
	writeFiles(t, f.dir, map[string]string{
		"good.tsv":     "genes\tnote\ty\tx, z\nY000\tlow\tN/A\t1\nY001\t\t 2\t3\n",
		"mixed.tsv":    "genes\ty\tx\nY000\t.\t1\nY001\t1\t2\n",
		"rebuild.yaml": "root: rebuilt\ndataset: d\ngraph: graph\nperturbations: mixed.tsv\nvariants: [indices]\n",
	})
	commands := map[string][]string{
		"incidence": {"incidence", "--graph", "graph", "--perturbations", "SET", "--out", "OUT"},
		"dataset":   {"dataset", "--mode", "indices", "--graph", "graph", "--perturbations", "SET", "--out", "OUT"},
		"bench":     {"bench", "--graph", "graph", "--perturbations", "SET", "--out", "OUT", "--rounds", "1"},
		"rebuild":   {"rebuild", "--config", "rebuild.yaml", "--perturbations", "SET", "--root", "OUT"},
	}
	for name, command := range commands {
		t.Run(name, func(t *testing.T) {
			if name == "bench" {
				skipShort(t)
			}
			of := func(set, out string, more ...string) []string {
				args := slices.Clone(command)
				for i := range args {
					args[i] = strings.ReplaceAll(strings.ReplaceAll(args[i], "SET", set), "OUT", name+"-"+out)
				}
				if name == "rebuild" { // where they are settings
					for i := 0; i < len(more); i += 2 {
						args = append(args, strings.ReplaceAll(more[i][2:], "-", "_")+"=["+more[i+1]+"]")
					}
					return args
				}
				return append(args, more...)
			}
			execute(t, f.dir, of("mixed.tsv", "mixed")...).refused(t, 3, `mixed.tsv:2: column "y": found ".", expected a number as in line 3`)
			execute(t, f.dir, of("mixed.tsv", "mixed", "--phenotypes", "x,y")...).refused(t, 3, `mixed.tsv:2: phenotype "y": found ".", expected a number`)
			execute(t, f.dir, of("mixed.tsv", "mixed", "--phenotypes", "x", "--attributes", "x")...).refused(t, 2, `column "x" of mixed.tsv is already a phenotype`)
			nothing(t, filepath.Join(f.dir, name+"-mixed.tsv"), filepath.Join(f.dir, name+"-mixed", "manifest.json"))

			must(t, f.dir, of("good.tsv", "chosen", "--phenotypes", `"x, z"`)...)
			if name == "bench" {
				return // it takes seconds
			}
			must(t, f.dir, of("mixed.tsv", "left-out", "--phenotypes", "x")...)
			o := must(t, f.dir, of("good.tsv", "good")...)
			if strings.Count(o.stdout+o.stderr, "note") != 1 && name != "rebuild" {
				t.Errorf("the attribute is not listed once:\n%s%s", o.stdout, o.stderr)
			}
		})
	}
	for out, want := range map[string][]string{"good": {"y", "x, z"}, "left-out": {"x"}, "chosen": {"x, z"}} {
		for _, dataset := range []string{"incidence-" + out, "dataset-" + out, "rebuild-" + out + "/d/current/indices"} {
			if got := manifestOf(t, filepath.Join(f.dir, dataset)).Columns().PhenotypeNames(); !slices.Equal(got, want) {
				t.Errorf("%s: phenotypes %q, want %q", dataset, got, want)
			}
		}
	}
	// sets.tsv has a phenotype without a value. It stays one, and is named.
	if o := must(t, f.dir, "incidence", "--graph", "graph", "--perturbations", "sets.tsv", "--out", "unmeasured"); !strings.Contains(o.stderr, "phenotypes without a value in any sample  phenotypes=growth") {
		t.Errorf("got stderr:\n%s", o.stderr)
	}
	// A version with other attributes is another version.
	rebuild := []string{"rebuild", "--config", "rebuild.yaml", "--perturbations", "good.tsv"}
	for _, names := range []string{"note", "", "y"} {
		must(t, f.dir, with(rebuild, "attributes=["+names+"]")...)
		if got := manifestOf(t, filepath.Join(f.dir, "rebuilt/d/current/indices")).Columns().AttributeNames(); strings.Join(got, ",") != names {
			t.Errorf("rebuild attributes=%q: found %q", names, got)
		}
	}
}
