package tcbuild_test

import (
	"context"
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"tcbuild"
	"tcbuild/encode"
	"tcbuild/ingest/samples"
	"tcbuild/internal/testing/synthetic"
	"tcbuild/store"
)

var update = flag.Bool("update", false, "rewrite testdata/data-files.sha256")

// The data files of every variant and codec keep their bytes. If a recorded digest changes, the
// format changed, and users must rebuild their datasets.
func TestDataFilesGolden(t *testing.T) {
	dir := t.TempDir()
	cell, set := synthetic.Write(t, 1000)
	var found strings.Builder
	build := func(variant store.Variant, codec string) {
		name := strings.TrimSuffix(string(variant)+"/"+codec, "/")
		result, err := tcbuild.Build(context.Background(), tcbuild.Options{
			Variant: variant,
			Codec:   codec,
			Graph:   cell,
			Spec:    samples.Spec{File: set},
			Out:     filepath.Join(dir, string(variant)+codec),
		})
		if err != nil {
			t.Fatalf("%s: %v", name, err)
		}
		for _, file := range result.Manifest.Files {
			fmt.Fprintf(&found, "%s  %s/%s\n", file.SHA256, name, file.Name)
		}
	}
	build(store.Incidence, "")
	for _, mode := range []encode.Mode{encode.Indices, encode.FullMasks} {
		for _, codec := range encode.Codecs(mode) {
			build(store.Variant(mode), codec)
		}
	}
	const path = "testdata/data-files.sha256"
	if *update {
		if err := os.WriteFile(path, []byte(found.String()), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	want, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	if found.String() != string(want) {
		t.Errorf("data files differ from %s; if that is meant, run with -update; found:\n%s", path,
			found.String())
	}
}
