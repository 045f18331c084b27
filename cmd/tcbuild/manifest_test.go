package main

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"tcbuild/internal/testing/testrun"
)

// A changed manifest is detected, by its content or by comparison with the files.
func TestDamagedManifest(t *testing.T) {
	t.Parallel()
	f := newFixture(t, 600, 130)
	must(t, f.dir, f.dataset("indices", "zstd", "indices", "--shards", "2")...)
	must(t, f.dir, "incidence", "--graph", "graph", "--perturbations", "sets.tsv", "--out", "incidence")
	for _, c := range []struct {
		name, dataset, old, new string
		code                    int
	}{
		{"torn", "indices", "\n}\n", "", 4},
		{"empty", "indices", "*", "", 4},
		{"not JSON", "indices", "{", "[", 4},
		{"another type", "indices", `"samples": 130`, `"samples": "many"`, 4},
		{"another version", "indices", `"format_version": 6`, `"format_version": 5`, 3},
		{"unknown variant", "indices", `"variant": "indices"`, `"variant": "indexes"`, 4},
		{"other variant", "indices", `"variant": "indices"`, `"variant": "full-masks"`, 4},
		{"incidence variant", "indices", `"variant": "indices"`, `"variant": "incidence"`, 4},
		{"unknown codec", "indices", `"codec": "zstd"`, `"codec": "zst"`, 4},
		{"no codec", "indices", `"codec": "zstd",`, "", 4},
		{"other codec", "indices", `"codec": "zstd"`, `"codec": "delta"`, 4},
		{"more samples", "indices", `"samples": 130`, `"samples": 131`, 4},
		{"fewer samples", "indices", `"samples": 130`, `"samples": 129`, 4},
		{"negative samples", "incidence", `"samples": 130`, `"samples": -1`, 4},
		{"more samples than rows", "incidence", `"samples": 130`, `"samples": 131`, 4},
		{"fewer samples than rows", "incidence", `"samples": 130`, `"samples": 129`, 4},
		{"no samples in a value", "indices", `"samples_per_value": 64`, `"samples_per_value": 0`, 4},
		{"other samples in a value", "indices", `"samples_per_value": 64`, `"samples_per_value": 63`, 4},
		{"huge mask", "indices", `"size": 300`, `"size": 3000000000`, 4},
		{"negative mask", "indices", `"size": 300`, `"size": -300`, 4},
		{"other mask", "indices", `"size": 300`, `"size": 301`, 4},
		{"other mask name", "incidence", `"name": "metabolite"`, `"name": "metabolism"`, 4},
		{"other phenotype", "indices", `"fitness"`, `"fitnes"`, 4},
		{"one phenotype less", "incidence", "{\n      \"name\": \"fitness\"\n    },", "", 4},
		{"other rule", "indices", `"reaction_rule": "all"`, `"reaction_rule": "gpr"`, 4},
		{"other graph digest", "indices", `"graph_digest": "`, `"graph_digest": "0`, 4},
		{"other logical content", "incidence", `"logical_content": "`, `"logical_content": "0`, 4},
		{"shard elsewhere", "indices", `"first": 65`, `"first": 64`, 4},
		{"shard of another name", "indices", `"name": "shard-00001-of-00002"`, `"name": "../shard"`, 4},
		{"file of another size", "indices", `"bytes": `, `"bytes": 1`, 4},
		{"file of another digest", "incidence", `"sha256": "`, `"sha256": "0`, 4},
		{"file left out", "indices", `"name": "shard-00001-of-00002/data.mdb"`, `"name": "graph/nodes/gene.arrow"`, 4},
		{"file elsewhere", "incidence", `"name": "incidence.arrow"`, `"name": "../incidence.arrow"`, 4},
	} {
		t.Run(c.name, func(t *testing.T) {
			testrun.OneIn(t, 5)
			t.Parallel()
			dir := copied(t, filepath.Join(f.dir, c.dataset))
			path := filepath.Join(dir, "manifest.json")
			text := read(t, path)
			// inputs, which nothing can check, stand before files
			changed := replaceLast(text, c.old, c.new)
			if c.old == "*" {
				changed = ""
			}
			if changed == text {
				t.Fatalf("the manifest has no %s", c.old)
			}
			if err := os.WriteFile(path, []byte(changed), 0o644); err != nil {
				t.Fatal(err)
			}
			execute(t, f.dir, "verify", dir).refused(t, c.code, dir)
			if o := execute(t, f.dir, "inspect", dir, "--samples", ":", "--json"); o.code != c.code && o.code != 0 {
				t.Errorf("inspect: got exit code %d, stderr:\n%s", o.code, o.stderr)
			}
		})
	}
}

func replaceLast(text, old, new string) string {
	if i := strings.LastIndex(text, old); i >= 0 {
		return text[:i] + new + text[i+len(old):]
	}
	return text
}
