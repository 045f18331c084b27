package croissant

import (
	"encoding/json"
	"strings"
	"testing"

	"tcbuild/ingest"
	"tcbuild/store"
)

func TestDescribe(t *testing.T) {
	manifest := &store.Manifest{
		Variant: store.Indices, Codec: "zstd", Samples: 3, LogicalContent: "abc", Phenotypes: ingest.NamedPhenotypes("fitness"),
		Masks: []store.MaskSize{{Name: "gene", Size: 4}, {Name: "gene__physical__gene", Size: 6}},
		Files: []store.File{{Name: "graph/nodes/gene.arrow", Bytes: 10, SHA256: "00"}, {Name: "shard-00000-of-00001/data.mdb", Bytes: 20, SHA256: "11"}},
	}
	text, err := Describe(manifest, "/data/yeast/current/indices/")
	if err != nil {
		t.Fatal(err)
	}
	var got struct {
		Type         string `json:"@type"`
		Name         string
		Description  string
		ConformsTo   string
		Distribution []struct {
			ID          string `json:"@id"`
			ContentURL  string
			ContentSize string
			SHA256      string
		}
		RecordSet []struct {
			Name  string
			Field []struct{ Name string }
			Data  []map[string]any
		}
	}
	if err := json.Unmarshal(text, &got); err != nil {
		t.Fatal(err)
	}
	if got.Type != "sc:Dataset" || got.Name != "indices" || !strings.HasSuffix(got.ConformsTo, "/croissant/1.0") || !strings.Contains(got.Description, "3 samples with 2 masks of 10 positions") {
		t.Errorf("got %+v", got)
	}
	for i, file := range manifest.Files {
		if f := got.Distribution[i]; f.ContentURL != file.Name || f.SHA256 != file.SHA256 || !strings.HasSuffix(f.ContentSize, "0 B") {
			t.Errorf("file %d: got %+v", i, f)
		}
	}
	for _, set := range got.RecordSet { // a record has exactly the fields of its set
		for _, record := range set.Data {
			if len(record) != len(set.Field) {
				t.Errorf("%s: got %v", set.Name, record)
			}
			for _, field := range set.Field {
				if record[field.Name] == nil {
					t.Errorf("%s: %v has no %s", set.Name, record, field.Name)
				}
			}
		}
	}
	if len(got.RecordSet) != 2 || len(got.RecordSet[0].Data) != 2 || len(got.RecordSet[1].Data) != 1 {
		t.Errorf("got %+v", got.RecordSet)
	}
	again, _ := Describe(manifest, "indices")
	if string(again) != string(text) {
		t.Error("the same dataset has two descriptions")
	}
}
