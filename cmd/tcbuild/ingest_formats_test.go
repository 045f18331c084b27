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
	files["ids.yaml"] = "genes:\n  table: {file: ids.tsv, column: id}\n"
	files["set.tsv"] = "genes\nYAL001C\n"
	for name, record := range map[string]arrow.Record{
		"genes":   idsRecord("YAL001C", "YAL002W"),
		"empty":   idsRecord(),
		"unknown": genesRecord(),
	} {
		files[name+".arrow"], files[name+".parquet"] = arrowFile(t, record), parquetFile(t, record)
	}
	for _, c := range []struct {
		place, run string // FILE is replaced by the table; edges: are settings of ingest graph
		reads      bool   // it accepts a table with the genes' ids in a column id
	}{
		{"sgd", "ingest sgd FILE --out made", false},
		{"biogrid", "ingest biogrid FILE --genes features.tab --out made", false},
		{"biogrid --genes", "ingest biogrid biogrid.txt --genes FILE --out made", false},
		{"tf-matrix", "ingest tf-matrix FILE --genes features.tab --out made", false},
		{"tf-matrix --genes", "ingest tf-matrix tf.tsv --genes FILE --out made", false},
		{"gem", "ingest gem FILE --genes features.tab --out made", false},
		{"gem --genes", "ingest gem gem.txt --genes FILE --out made", false},
		{"graph genes", "ingest graph --config ids.yaml --out made genes.table.file=FILE", true},
		{"graph genes, columns", "ingest graph --config ids.yaml --out made genes.table.file=FILE +genes.table.columns=[id,more,most]", false},
		{"graph sgd_features", "ingest graph --out made +genes.sgd_features=FILE", false},
		{"graph aliases", "ingest graph --config ids.yaml --out made +aliases.sgd_features=FILE", false},
		{"graph string", "edges: [{string: {file: FILE, relation: x, columns: [x], min: 1}}]", false},
		{"graph table", "edges: [{table: {file: FILE, relation: x, source: id, target: id, undirected: true}}]", true},
		{"graph ids", "edges: [{table: {file: set.tsv, relation: x, source: genes, target: genes, undirected: true, ids: FILE}}]", false},
		{"graph biogrid", "edges: [{biogrid: {file: FILE, relation: x, type: physical}}]", false},
		{"graph tf_matrix", "edges: [{tf_matrix: {file: FILE, relation: x}}]", false},
		{"perturbations", "ingest perturbations FILE --graph g --out made.tsv --genes-columns id", true},
		{"perturbations, columns", "ingest perturbations FILE --graph g --out made.tsv --columns genes,more,most", false},
		{"perturbations --aliases", "ingest perturbations set.tsv --graph g --out made.tsv --aliases FILE", false},
		{"sga", "ingest sga FILE --graph g --out made.tsv --strain-columns id", true},
		{"sga --aliases", "ingest sga sga.txt --graph g --out made.tsv --aliases FILE", false},
		{"emap", "ingest emap FILE --graph g --out made.tsv --genes-columns id", true},
		{"emap --aliases", "ingest emap emap.tsv --graph g --out made.tsv --aliases FILE", false},
		{"matrix", "ingest matrix FILE --graph g --out made.tsv", false},
		{"matrix --aliases", "ingest matrix wide.tsv --graph g --out made.tsv --aliases FILE", false},
	} {
		for _, file := range []string{"genes.arrow", "genes.parquet", "empty.arrow", "empty.parquet", "unknown.arrow", "unknown.parquet"} {
			t.Run(c.place+" of "+file, func(t *testing.T) {
				testrun.OneIn(t, 5)
				run := strings.ReplaceAll(c.run, "FILE", file)
				if strings.HasPrefix(run, "edges:") {
					files["edges.yaml"], run = "defaults: [ids]\n"+run+"\n", "ingest graph --config edges.yaml --out made"
				}
				code, _, stderr := inFolder(t, files, "ingest sgd features.tab --out g --quiet", run)
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
