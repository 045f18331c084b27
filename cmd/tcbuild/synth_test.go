package main

import (
	"bytes"
	"context"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"tcbuild/ingest/graph"
	"tcbuild/ingest/samples"
	"tcbuild/internal/testing/sets"
)

func TestSynth(t *testing.T) {
	code, stdout, stderr := inFolder(t, nil, "synth --out deep/demo --samples 50")
	if code != 0 || stdout != "" || !strings.Contains(stderr, "made perturbations  samples=50\n") {
		t.Fatalf("got exit code %d, stdout %q, stderr %q", code, stdout, stderr)
	}
	graph, _, err := graph.Read("deep/demo")
	if err != nil {
		t.Fatal(err)
	}
	perturbations, err := samples.Open(samples.Spec{File: "deep/demo/perturbations.arrow"}, graph)
	if err != nil {
		t.Fatal(err)
	}
	counts, err := sets.ReadAll(perturbations)
	if err != nil || counts.Kept != 50 {
		t.Errorf("got %+v, %v", counts, err)
	}
}

func TestSynthIsReproducible(t *testing.T) {
	code, _, stderr := inFolder(t, nil, "synth --out a --seed 7", "synth --quiet --out b seed=7", "synth --quiet --out c --seed 8")
	if code != 0 || stderr != "" {
		t.Fatalf("got exit code %d, stderr %q", code, stderr)
	}
	files := 0
	err := filepath.WalkDir("a", func(path string, entry os.DirEntry, err error) error {
		if err != nil || entry.IsDir() {
			return err
		}
		files++
		rest := strings.TrimPrefix(path, "a")
		one, two, other := read(t, path), read(t, "b"+rest), read(t, "c"+rest)
		if one != two {
			t.Errorf("%s differs for the same seed", path)
		}
		if filepath.Base(path) == "perturbations.arrow" && one == other {
			t.Errorf("%s is the same for another seed", path)
		}
		return nil
	})
	if err != nil || files < 5 {
		t.Errorf("compared %d files: %v", files, err)
	}
}

func TestSynthErrors(t *testing.T) {
	const whole = ", expected a whole decimal number, 0 or more"
	for args, want := range map[string]string{
		"synth --out x --scale huge": "found \"huge\", expected tiny or yeast",
		"synth --out x --samples -1": "read --samples: found \"-1\"" + whole,
		"synth --out . ":             "write .: it already exists",
		"synth --out x --seed minus": "read --seed: found \"minus\"" + whole,
		"synth --out x ~s":           "found argument \"~s\"",
		"synth --out x --samples 17179869185": "found --samples 17179869185, " +
			"expected at most the 17,179,869,184 that",
	} {
		code, _, stderr := inFolder(t, nil, args)
		if code != 2 || !strings.Contains(stderr, want) {
			t.Errorf("%s: got exit code %d, stderr\n%s\nwant 2 and\n%s", args, code, stderr, want)
		}
		if left, _ := os.ReadDir("."); len(left) > 0 {
			t.Errorf("%s: %v was left behind", args, left)
		}
	}
}

func read(t *testing.T, path string) string {
	t.Helper()
	text, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	return string(text)
}

// inFolder runs commands, in this process, in a fresh folder with some files.
func inFolder(
	t *testing.T, files map[string]string, runs ...string,
) (code int, stdout, stderr string) {
	t.Helper()
	t.Chdir(t.TempDir())
	for name, text := range files {
		if err := os.WriteFile(name, []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	for _, args := range runs {
		var out, errs bytes.Buffer
		code = run(context.Background(), strings.Fields(args), &out, &errs)
		stdout, stderr = out.String(), errs.String()
	}
	return code, stdout, stderr
}
