package sampletable

import (
	"bytes"
	"strings"
	"testing"

	"tcbuild/fault"
	"tcbuild/ingest"
)

// Texts that would take gigabytes of memory are an error that names their column.
func TestTextsAreBounded(t *testing.T) {
	long := ingest.Value{Text: bytes.Repeat([]byte{'x'}, 1<<20)}
	for _, c := range []struct {
		id, note, more ingest.Value
		want, hint     string
	}{
		{ingest.Value{Text: []byte("a")}, ingest.Value{}, long, `most of them in column "more"`, "--attributes"},
		{long, ingest.Value{Text: []byte("x")}, ingest.Value{}, `most of them in column "sample_id"`, "shorter ids"},
	} {
		columns := ingest.Columns{Attributes: []ingest.Attribute{
			{Name: "note", Type: ingest.TextAttribute}, {Name: "more", Type: ingest.TextAttribute}}}
		samples := ingest.NewSamples(0, columns, 4)
		for range 4 {
			samples.Append(c.id.Text, nil, nil, []ingest.Value{c.note, c.more})
		}
		w, err := Create("", columns)
		if err != nil {
			t.Fatal(err)
		}
		added := 0
		for ; err == nil && added < 100; added++ {
			err = w.Add(samples)
		}
		if err == nil || fault.KindOf(err) != fault.Input || !strings.Contains(err.Error(), c.want) ||
			!strings.Contains(fault.HintOf(err), c.hint) || added < 60 || added > 64 {
			t.Errorf("after %d batches of 4 MiB: %v", added, err)
		}
	}
}

func TestTextBytes(t *testing.T) {
	columns := ingest.Columns{Attributes: []ingest.Attribute{{Name: "a", Type: ingest.TextAttribute}, {Name: "b", Type: ingest.NumberAttribute}}}
	samples := ingest.NewSamples(0, columns, 3)
	samples.Append([]byte("x"), nil, nil, []ingest.Value{{Text: []byte("one")}, {Number: 1}})
	samples.Append([]byte("yy"), nil, nil, []ingest.Value{{}, {Number: 2}})
	samples.Append(nil, nil, nil, []ingest.Value{{Text: []byte("four")}, {}})
	for from, want := range [][]int{{0, 4, 6, 10}, {0, 2, 6}, {0, 4}, {0}} {
		for n, bytes := range want {
			if got := samples.TextBytes(from, from+n); got != bytes {
				t.Errorf("samples %d to %d: got %d, want %d", from, from+n, got, bytes)
			}
		}
	}
}
