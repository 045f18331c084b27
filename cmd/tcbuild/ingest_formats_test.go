package main

import (
	"maps"
	"path/filepath"
	"strings"
	"testing"

	"github.com/apache/arrow/go/v17/arrow"
	"github.com/apache/arrow/go/v17/arrow/array"
	"github.com/apache/arrow/go/v17/arrow/memory"

	"tcbuild/internal/testing/testrun"
)

// TestIngestFormats gives every ingest command Arrow and Parquet files in each place of a table: it
// reads them, or fails with an error that names the file and leaves no files.
func TestIngestFormats(t *testing.T) {
	files := maps.Clone(published)
	files["ids.tsv"] = "id\nYDL227C\nYAL001C\nYAL002W\n"
	files["ids.yaml"] = "genes: {file: ids.tsv, column: id}\n"
	files["set.tsv"] = "genes\nYAL001C\n"
	for name, record := range map[string]arrow.Record{
		"genes":   idsRecord("YAL001C", "YAL002W"),
		"empty":   idsRecord(),
		"unknown": genesRecord(),
	} {
		files[name+".arrow"], files[name+".parquet"] = arrowFile(t, record), parquetFile(t, record)
	}
	for _, c := range []struct {
		place, run string // FILE is replaced by the table; sections are settings of ingest graph
		reads      bool   // it accepts a table with the genes' ids in a column id
	}{
		{"gem", "ingest graph --config ids.yaml --out made +gem.file=FILE", false},
		{"graph genes", "ingest graph --config ids.yaml --out made genes.file=FILE", true},
		{"graph genes, columns", "ingest graph --config ids.yaml --out made genes.file=FILE +genes.columns=[id,more,most]", false},
		{"graph sgd_features", "ingest graph --out made +genes.source=sgd_features +genes.file=FILE", false},
		{"graph aliases", "aliases: [{source: sgd_features, file: FILE}]", false},
		{"graph string", "edges: [{source: string, file: FILE}]", false},
		{"graph table", "edges: [{file: FILE, relation: x, from: id, to: id, undirected: true}]", true},
		{"graph ids", "edges: [{file: set.tsv, relation: x, from: genes, to: genes, undirected: true, ids: FILE}]", false},
		{"graph biogrid", "edges: [{source: biogrid_physical, file: FILE}]", false},
		{"graph matrix", "edges: [{file: FILE, matrix: targets, relation: x}]", false},
		{"perturbations", "ingest perturbations FILE --graph g --out made.tsv --genes-columns id", true},
		{"perturbations, columns", "ingest perturbations FILE --graph g --out made.tsv columns=[genes,more,most]", false},
		{"perturbations --aliases", "ingest perturbations set.tsv --graph g --out made.tsv --aliases FILE", false},
		{"sga", "ingest perturbations FILE --source costanzo2016 --graph g --out made.tsv strains=[{\"strain\":id}]", true},
		{"sga --aliases", "ingest perturbations sga.txt --source costanzo2016 --graph g --out made.tsv --aliases FILE", false},
		{"emap", "ingest perturbations FILE --source emap --graph g --out made.tsv strains=[{\"gene\":id}]", true},
		{"emap --aliases", "ingest perturbations emap.tsv --source emap --graph g --out made.tsv --aliases FILE", false},
		{"matrix", "ingest perturbations FILE --source matrix --graph g --out made.tsv", false},
		{"matrix --aliases", "ingest perturbations wide.tsv --source matrix --graph g --out made.tsv --aliases FILE", false},
	} {
		for _, file := range []string{"genes.arrow", "genes.parquet", "empty.arrow", "empty.parquet", "unknown.arrow", "unknown.parquet"} {
			t.Run(c.place+" of "+file, func(t *testing.T) {
				testrun.OneIn(t, 5)
				run := strings.ReplaceAll(c.run, "FILE", file)
				if strings.Contains(run, ": [{") {
					files["edges.yaml"], run = "defaults: [ids]\n"+run+"\n", "ingest graph --config edges.yaml --out made"
				}
				code, _, stderr := inFolder(t, files, "ingest graph +genes.source=sgd_features +genes.file=features.tab --out g --quiet", run)
				made, _ := filepath.Glob("*made*")
				switch {
				case c.reads && strings.HasPrefix(file, "genes"):
					if code != 0 || len(made) != 1 {
						t.Errorf("got exit code %d and %v, expected a result, stderr\n%s", code, made, stderr)
					}
				case code != 0 && (code != 3 || !strings.Contains(stderr, file) || len(made) > 0):
					t.Errorf("got exit code %d and %v, expected 3, nothing made and an error with %s, stderr\n%s", code, made, file, stderr)
				}
			})
		}
	}
}

// idsRecord is a table of one column of texts.
func idsRecord(ids ...string) arrow.Record {
	b := array.NewRecordBuilder(memory.NewGoAllocator(), arrow.NewSchema([]arrow.Field{{Name: "id", Type: arrow.BinaryTypes.String}}, nil))
	b.Field(0).(*array.StringBuilder).AppendValues(ids, nil)
	return b.NewRecord()
}
