package croissant

import (
	"encoding/json"
	"strings"
	"testing"

	"tcbuild/fault"
	"tcbuild/ingest"
	"tcbuild/store"
)

func TestDescribe(t *testing.T) {
	manifest := &store.Manifest{
		Variant: store.Indices, Codec: "zstd", Samples: 3, LogicalContent: "abc", Phenotypes: ingest.NamedPhenotypes("fitness", "growth rate/h", ".."),
		Masks: []store.MaskSize{{Name: "gene", Size: 4}, {Name: "gene__physical__gene", Size: 6}},
		Files: []store.File{{Name: "graph/nodes/gene.arrow", Bytes: 10, SHA256: "00"}, {Name: "shard-00000-of-00001/data.mdb", Bytes: 20, SHA256: "11"}},
	}
	about := About{Name: "a screen", License: "CC-BY-4.0", Date: "2026-01-31"}
	text, err := json.Marshal(describe(manifest, manifest.Files, about))
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
			Field []struct {
				ID     string `json:"@id"`
				Name   string
				Source struct{ Extract struct{ Column string } }
			}
			Data []map[string]any
		}
		License, DatePublished string
		CiteAs                 *string
	}
	if err := json.Unmarshal(text, &got); err != nil {
		t.Fatal(err)
	}
	if got.Type != "sc:Dataset" || got.Name != "a screen" || !strings.HasSuffix(got.ConformsTo, "/croissant/1.0") || !strings.Contains(got.Description, "3 samples with 2 masks of 10 positions") {
		t.Errorf("got %+v", got)
	}
	for i, file := range manifest.Files {
		if f := got.Distribution[i]; f.ContentURL != file.Name || f.SHA256 != file.SHA256 || !strings.HasSuffix(f.ContentSize, "0 B") {
			t.Errorf("file %d: got %+v", i, f)
		}
	}
	masks, samples := got.RecordSet[0], got.RecordSet[1]
	for _, record := range masks.Data { // a record has exactly the fields of its set
		if len(record) != len(masks.Field) || record[masks.Field[0].ID] == nil || record[masks.Field[1].ID] == nil {
			t.Errorf("masks: got %v", record)
		}
	}
	var fields []string
	for _, field := range samples.Field {
		if field.Source.Extract.Column != field.Name {
			t.Errorf("field %s: found column %q", field.Name, field.Source.Extract.Column)
		}
		fields = append(fields, field.ID)
	}
	if want := "samples/sample_id samples/genes samples/fitness samples/growth%20rate%2Fh samples/%2E%2E"; len(got.RecordSet) != 2 || len(masks.Data) != 2 || strings.Join(fields, " ") != want {
		t.Errorf("found fields %v, expected %s", fields, want)
	}
	if got.License != "CC-BY-4.0" || got.DatePublished != "2026-01-31" || got.CiteAs != nil {
		t.Errorf("found %+v", got)
	}
}

func TestCheckNames(t *testing.T) {
	for _, columns := range []ingest.Columns{{Phenotypes: ingest.NamedPhenotypes("fitness", "genes")}, {Attributes: []ingest.Attribute{{}}}} {
		if err := checkNames(columns); fault.KindOf(err) != fault.Input {
			t.Errorf("%v: found error %v, expected a fault.Input", columns, err)
		}
	}
	if err := checkNames(ingest.Columns{Phenotypes: ingest.NamedPhenotypes("gene")}); err != nil {
		t.Error(err)
	}
}
