package tcbuild

import (
	"path/filepath"
	"reflect"
	"slices"
	"testing"

	"tcbuild/ingest"
	"tcbuild/ingest/synth"
	"tcbuild/store"
)

func maskReader(t *testing.T, path string) *store.MaskReader {
	t.Helper()
	dataset, err := store.Open(path)
	if err != nil {
		t.Fatal(err)
	}
	reader, err := dataset.NewMaskReader()
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(reader.Close)
	return reader
}

// A set too large for the survey gives the same dataset, from shards built separately in any order.
func TestUnreadSet(t *testing.T) {
	dir := t.TempDir()
	graph := filepath.Join(dir, "graph")
	if err := ingest.WriteGraph(graph, synth.Graph(synth.Tiny, 1)); err != nil {
		t.Fatal(err)
	}
	run := func(variant store.Variant, out string, shard int) *Result {
		t.Helper()
		o := Options{
			Variant: variant, Graph: graph, Perturbations: "combinations:" + filepath.Join(graph, "nodes/gene.arrow") + ":2:30:1030",
			Out: filepath.Join(dir, out), Workers: 2, Resume: store.ResumeIfPossible,
		}
		if variant != store.Incidence {
			o.Shards = 3
		}
		if shard != store.AllShards {
			o.Shard = &shard
		}
		result, err := Build(t.Context(), o)
		if err != nil {
			t.Fatal(err)
		}
		return result
	}
	read := run(store.Indices, "read", store.AllShards)
	if read.State != Built || read.Manifest.Samples != 1000 {
		t.Fatalf("got %+v", read)
	}

	usual := surveyedSamples
	surveyedSamples = 999
	defer func() { surveyedSamples = usual }()
	for _, shard := range []int{2, 0, 2, 1} {
		if result := run(store.Indices, "unread", shard); result.State != Kept {
			t.Errorf("shard %d: got state %d, want %d", shard, result.State, Kept)
		}
	}
	unread := run(store.Indices, "unread", store.AllShards)
	if unread.State != Built || len(unread.Manifest.LogicalContent) != 64 {
		t.Fatalf("got %+v", unread)
	}
	for _, shard := range []int{1, store.AllShards} {
		if again := run(store.Indices, "unread", shard); again.State != Unchanged || again.Manifest.LogicalContent != read.Manifest.LogicalContent {
			t.Errorf("shard %d again: got %+v", shard, again)
		}
	}
	published, err := store.ReadManifest(filepath.Join(dir, "unread"))
	if err != nil {
		t.Fatal(err)
	}
	if published.LogicalContent != read.Manifest.LogicalContent || len(published.Files) != len(read.Manifest.Files) {
		t.Errorf("got %+v, want %+v", published, read.Manifest)
	}
	// Its checksums are bound to its input, as its logical content was not known: the bytes differ,
	// the samples do not.
	a, b := maskReader(t, filepath.Join(dir, "read")), maskReader(t, filepath.Join(dir, "unread"))
	for sample := range published.Samples {
		recordA, removedA, errA := a.Sample(sample)
		recordB, removedB, errB := b.Sample(sample)
		if errA != nil || errB != nil || !reflect.DeepEqual(recordA, recordB) || !slices.Equal(removedA, removedB) {
			t.Fatalf("sample %d: got %+v, %v, want %+v, %v", sample, recordB, errB, recordA, errA)
		}
	}
	if table := run(store.Incidence, "incidence", store.AllShards); table.Manifest.LogicalContent != read.Manifest.LogicalContent {
		t.Errorf("incidence: got the logical content %s, want %s", table.Manifest.LogicalContent, read.Manifest.LogicalContent)
	}
	// built of another dataset, with its survey, it is the same
	base, err := store.Open(filepath.Join(dir, "incidence"))
	if err != nil {
		t.Fatal(err)
	}
	based, err := Build(t.Context(), Options{Variant: store.Indices, Base: base, Out: filepath.Join(dir, "based"), Shards: 3})
	if err != nil || !reflect.DeepEqual(based.Manifest.Files, published.Files) || based.Manifest.Identity != published.Identity {
		t.Errorf("built of another dataset: got %+v, %v, want %+v", based, err, published)
	}
}
