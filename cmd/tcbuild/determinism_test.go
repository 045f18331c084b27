package main

import (
	"fmt"
	"path/filepath"
	"strconv"
	"strings"
	"testing"

	"tcbuild/encode"
)

// eachCodec runs a test for every mode and codec.
func eachCodec(t *testing.T, test func(t *testing.T, mode, codec string)) {
	for _, mode := range []encode.Mode{encode.Indices, encode.FullMasks} {
		for _, codec := range encode.Codecs(mode) {
			t.Run(string(mode)+"/"+codec, func(t *testing.T) { test(t, string(mode), codec) })
		}
	}
}

// The raw masks need three write transactions, the others several values.
func TestSameBytesForAnyWorkers(t *testing.T) {
	skipShort(t)
	t.Parallel()
	large, small := newFixture(t, 190_000, 450), newFixture(t, 5_000, 450)
	eachCodec(t, func(t *testing.T, mode, codec string) {
		f := small
		if mode == "full-masks" && codec == "raw" {
			f = large
		}
		var want map[string]string
		for _, workers := range []int{1, 2, 3, 7} {
			out := fmt.Sprint(mode, codec, workers)
			must(t, f.dir, f.dataset(mode, codec, out, "--workers", strconv.Itoa(workers))...)
			got := dataOf(t, filepath.Join(f.dir, out))
			if want == nil {
				want = got
				must(t, f.dir, "verify", out)
			}
			sameData(t, got, want)
		}
	})
}

// The masks that are read back are those of the design, whatever the variant, codec, number of
// shards and format of the graph.
func TestSameContent(t *testing.T) {
	skipShort(t)
	t.Parallel()
	f := newFixture(t, 3000, 333)
	f.writeTSV(t, filepath.Join(f.dir, "text/graph"))
	var masks strings.Builder
	for sample := range f.genotypes {
		masks.WriteString(oracleJSON(f.oracle(sample)) + "}\n")
	}
	var content, digest, lines string
	check := func(t *testing.T, args ...string) {
		t.Helper()
		must(t, f.dir, args...)
		out := args[len(args)-1]
		manifest := manifestOf(t, filepath.Join(f.dir, out))
		printed := must(t, f.dir, "inspect", out, "--samples", ":", "--json").stdout
		if lines == "" {
			content, digest, lines = manifest.LogicalContent, manifest.GraphDigest, printed
			compareMasks(t, printed, masks.String())
		}
		if manifest.LogicalContent != content || manifest.GraphDigest != digest {
			t.Errorf("%s: got logical content %s and graph digest %s, want %s and %s", out, manifest.LogicalContent, manifest.GraphDigest, content, digest)
		}
		if printed != lines {
			t.Errorf("%s: inspect prints something else than before", out)
		}
	}
	eachCodec(t, func(t *testing.T, mode, codec string) {
		for _, shards := range []string{"1", "2", "5"} {
			check(t, f.dataset(mode, codec, mode+codec+shards, "--shards", shards)...)
		}
		check(t, f.dataset(mode, codec, mode+codec+"text", "--graph", "text")...)
	})
	t.Run("incidence", func(t *testing.T) {
		check(t, "incidence", "--graph", "graph", "--perturbations", "sets.tsv", "--out", "incidence")
	})
}

// compareMasks compares the masks in lines of inspect with those of the oracle.
func compareMasks(t *testing.T, printed, oracle string) {
	t.Helper()
	got, want := strings.Split(printed, "\n"), strings.Split(oracle, "\n")
	if len(got) != len(want) {
		t.Fatalf("inspect printed %d lines, want %d", len(got), len(want))
	}
	for sample := range want {
		if !strings.HasSuffix(got[sample], want[sample]) {
			t.Fatalf("sample %d: got\n%s\nwant its end to be\n%s", sample, got[sample], want[sample])
		}
	}
}
