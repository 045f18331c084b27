package main

import (
	"path/filepath"
	"strings"
	"testing"

	"tcbuild/internal/testing/sets"
)

// What unknown genes do to samples is counted in the log, in the manifest and in what commands
// print.
func TestUnknownGenesAreCounted(t *testing.T) {
	t.Parallel()
	f := newFixture(t, 40, 2)
	writeFiles(t, f.dir, map[string]string{
		"sets.tsv":    "genes\ty\nY000|X\t1\nX\t2\nY001\t3\n\t4\nY002|X|Z\t5\n",
		"unknown.tsv": "genes\ty\nX\t1\nZ\t2\n",
		"tabs.csv":    "genes,y\nY000,1\nA\tB,2\n\"C\"\"D\",2\n",
	})
	args := func(command, set, out, unknown string, more ...string) []string {
		words := map[string][]string{
			"incidence": {"incidence", "--perturbations", set},
			"indices":   {"dataset", "--mode", "indices", "--perturbations", set},
			"dry run":   {"incidence", "--perturbations", set, "--dry-run"},
		}[command]
		return with(with(words, "--graph", "graph", "--out", out, "allow_wildtype=true",
			"--unknown-genes", unknown, "max_dropped=1"), more...)
	}
	for _, test := range []struct {
		unknown string
		ids     string
		counts  string
		logged  string
		printed string
	}{
		{
			unknown: "drop-sample",
			ids:     "2 3",
			counts:  "2 kept, 3 unknown_gene, 1 wildtype",
			logged:  `unknown_gene=3 wildtype=1`,
			printed: "samples: 2 of 5 rows of sets.tsv; dropped: 3 of unknown genes; noted: 1 " +
				"that delete no gene; unknown names: X, Z\n",
		},
		{
			unknown: "drop-gene",
			ids:     "0 2 3 4",
			counts:  "4 kept, 1 no_gene_left, 1 wildtype, 3 unknown_left_out",
			logged:  "no_gene_left=1 wildtype=1 unknown_left_out=3",
			printed: "samples: 4 of 5 rows of sets.tsv; dropped: 1 left without a gene, as " +
				"theirs are unknown; noted: 1 that delete no gene, 3 unknown genes left out; " +
				"unknown names: X, Z\n",
		},
	} {
		for _, command := range []string{"incidence", "indices"} {
			out := command + test.unknown
			o := must(t, f.dir, args(command, "sets.tsv", out, test.unknown)...)
			if !strings.Contains(o.stderr, test.logged) {
				t.Errorf("%s: log\n%swant %s", out, o.stderr, test.logged)
			}
			must(t, f.dir, "verify", out)
			got := sets.Counts(manifestOf(t, filepath.Join(f.dir, out)).Account)
			if got != test.counts {
				t.Errorf("%s: counts %+v, want %+v", out, got, test.counts)
			}
			printed := must(t, f.dir, "inspect", out, "--samples", "0:", "--json").stdout
			var ids []string
			for line := range strings.Lines(printed) {
				_, rest, _ := strings.Cut(line, `"sample_id":"`)
				id, _, _ := strings.Cut(rest, `"`)
				ids = append(ids, id)
			}
			if strings.Join(ids, " ") != test.ids {
				t.Errorf("%s: sample ids %q, want %s", out, ids, test.ids)
			}
		}
		o := must(t, f.dir, args("dry run", "sets.tsv", "none", test.unknown)...)
		if !strings.Contains(o.stdout, test.printed) {
			t.Errorf("%s: got %q, want %q", test.unknown, o.stdout, test.printed)
		}
		o = must(t, f.dir, args("dry run", "sets.tsv", "none", test.unknown, "--quiet")...)
		if o.stdout != "" {
			t.Errorf("%s: --quiet printed %q", test.unknown, o.stdout)
		}
		for command, want := range map[string]string{
			"incidence": "unknown.tsv: kept 0 of 2 rows; dropped: 2 ",
			"indices":   "such as X",
			"dry run":   "unknown.tsv: kept 0 of 2 rows; dropped: 2 ",
		} {
			execute(t, f.dir, args(command, "unknown.tsv", "none.tsv", test.unknown)...).refused(t,
				3, want)
		}
	}
	nothing(t, filepath.Join(f.dir, "none"), filepath.Join(f.dir, "none.tsv"),
		filepath.Join(f.dir, "none.tsv.building"))
	must(t, f.dir, with(args("incidence", "sets.tsv", "listed", "drop-gene"), "--dropped",
		"dropped.tsv")...)
	execute(t, f.dir, with(args("incidence", "unknown.tsv", "none", "drop-gene"), "--dropped",
		"all.tsv")...).refused(t, 3, "kept 0 of 2 rows")
	must(t, f.dir, with(args("dry run", "tabs.csv", "none", "drop-sample"), "--dropped",
		"tabs.tsv")...)
	// a pass that ends early knows only some names, or none
	execute(t, f.dir, with(args("incidence", "sets.tsv", "none", "error"), "--dropped",
		"first.tsv")...).refused(t, 3, `sets.tsv:2: gene "X" is not in the graph`)
	nothing(t, filepath.Join(f.dir, "first.tsv"))
	for file, want := range map[string]string{
		"dropped.tsv": "dropped_name\twhy\tcount\nX\tunknown\t3\nZ\tunknown\t1\n",
		"all.tsv":     "dropped_name\twhy\tcount\nX\tunknown\t1\nZ\tunknown\t1\n",
		"tabs.tsv":    "dropped_name\twhy\tcount\n\"A\tB\"\tunknown\t1\n\"C\"\"D\"\tunknown\t1\n",
	} {
		if got := read(t, filepath.Join(f.dir, file)); got != want {
			t.Errorf("%s: got %q, want %q", file, got, want)
		}
	}
}

func TestSampleIDs(t *testing.T) {
	t.Parallel()
	f := newFixture(t, 40, 2)
	writeFiles(t, f.dir, map[string]string{
		"twice.tsv": "sample_id\tgenes\na\tY000\nb\tY001\na\tY002\n",
		"empty.tsv": "sample_id\tgenes\na\tY000\n\tY001\n",
		"blank.tsv": "genes\nY000\nY001\n\n",
	})
	args := func(set, out string, more ...string) []string {
		return with([]string{
			"dataset", "--mode", "indices", "--graph", "graph", "--perturbations", set, "--out",
			out,
		},
			more...)
	}
	execute(t, f.dir, args("twice.tsv", "out")...).refused(t, 3,
		`twice.tsv:4: found sample id "a", which is also in twice.tsv:2`)
	execute(t, f.dir, args("empty.tsv", "out")...).refused(t, 3, `empty.tsv:3: found sample id ""`)
	execute(t, f.dir, args("blank.tsv", "out", "--allow-wildtype")...).refused(t, 3,
		"blank.tsv:4: found an empty line")
	nothing(t, filepath.Join(f.dir, "out"))
	for _, set := range []string{"twice.tsv", "empty.tsv"} {
		must(t, f.dir, args(set, set+".out", "allow_duplicate_ids=true")...)
		m := manifestOf(t, filepath.Join(f.dir, set+".out"))
		if m.Options.Perturbations["allow_duplicate_ids"] != true || m.Samples < 2 {
			t.Errorf("%s: options %+v, %d samples", set, m.Options, m.Samples)
		}
		must(t, f.dir, "verify", set+".out")
	}
}
