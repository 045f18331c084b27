package build

import (
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/apache/arrow/go/v17/arrow/array"

	"tcbuild/conf"
	"tcbuild/fault"
	"tcbuild/ingest"
	"tcbuild/ingest/graph/networks"
	"tcbuild/ingest/graph/ontologies"
	"tcbuild/ingest/inputfile"
	"tcbuild/ingest/names"
	"tcbuild/ingest/table"
)

// These tests change no file while it is read.
func init() { inputfile.ClockTick = 0 }

// writeFile writes a file into a fresh folder and returns its path.
func writeFile(t testing.TB, name, text string) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), name)
	if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	return path
}

// genesNamed is a gene list file's spec.
func genesNamed(t testing.TB, ids ...string) GenesSpec {
	t.Helper()
	path := writeFile(t, "genes.tsv", "id\n"+strings.Join(ids, "\n")+"\n")
	return GenesSpec{TextSpec: table.TextSpec{File: path}, Column: "id"}
}

// fromSource has the settings of a public source for a file.
func fromSource[T any](t testing.TB, name, section string, file func(*T) *string, path string) (spec T) {
	t.Helper()
	if err := conf.DecodeSource(name, section, &spec); err != nil {
		t.Fatal(err)
	}
	*file(&spec) = path
	return spec
}

func sgdGenes(t testing.TB, path string) GenesSpec {
	return fromSource(t, "sgd_features", "genes", func(s *GenesSpec) *string { return &s.File }, path)
}

func sgdAliases(t testing.TB, path string) []names.AliasTable {
	return []names.AliasTable{fromSource(t, "sgd_features", "aliases", func(s *names.AliasTable) *string { return &s.File }, path)}
}

// gafOf has the settings of GAF files, or of another such source.
func gafOf(t testing.TB, source string, paths ...string) (tables []ontologies.AnnotationsSpec) {
	for _, path := range paths {
		tables = append(tables, fromSource(t, source, "annotations", func(s *ontologies.AnnotationsSpec) *string { return &s.File }, path))
	}
	return tables
}

// edgesOf has the settings of a public source of edges, as changed.
func edgesOf(t testing.TB, name, path string, change func(*networks.Spec)) networks.Spec {
	spec := fromSource(t, name, "edges", func(s *networks.Spec) *string { return &s.File }, path)
	if change != nil {
		change(&spec)
	}
	return spec
}

// stringLinks has the settings of STRING's links, for edges r of columns of scores.
func stringLinks(t testing.TB, path string, least float64, columns ...string) networks.Spec {
	return edgesOf(t, "string", path, func(s *networks.Spec) { s.Relation, s.Weight, s.Min = "r", columns, &least })
}

// modelText is a model with reactions r1, r2 … of these rules, a line for each, from line 4 on.
func modelText(rules ...string) string {
	text := "metabolites: [{id: M}, {id: N}]\ngenes: []\nreactions:\n"
	for i, rule := range rules {
		text += fmt.Sprintf("- {id: r%d, metabolites: {M: -1, N: 1}, lower_bound: 0, upper_bound: 1, gene_reaction_rule: %q}\n", i+1, rule)
	}
	return text
}

// edgeText writes edges as "A-B A-C:0.5": ids and the carried number.
func edgeText(e *ingest.Edges, source, target *ingest.Nodes) string {
	texts := make([]string, e.Len())
	for i := range texts {
		texts[i] = source.IDs[e.Src[i]] + "-" + target.IDs[e.Dst[i]]
		for _, column := range e.Columns {
			texts[i] += fmt.Sprintf(":%v", number(column, i))
		}
	}
	return strings.Join(texts, " ")
}

func number(column ingest.Column, row int) float64 { return numbersOf(column)[row] }

func numbersOf(column ingest.Column) []float64 { return column.Values.(*array.Float64).Float64Values() }

// checkAccounts checks that the rows of every source are kept or reported.
func checkAccounts(t testing.TB, report ingest.Accounts) {
	t.Helper()
	for _, r := range report {
		if !r.IsComplete() {
			t.Errorf("%s: rows without an account: %+v", r.Made, r)
		}
	}
}

// reportLines are the reports as text.
func reportLines(report ingest.Accounts) (lines []string) {
	for _, r := range report {
		lines = append(lines, r.String())
	}
	return lines
}

// reportOf returns the report of what a source made.
func reportOf(t testing.TB, report ingest.Accounts, made string) *ingest.Account {
	t.Helper()
	i := slices.IndexFunc(report, func(r *ingest.Account) bool { return r.Made == made })
	if i < 0 {
		t.Fatalf("no report of %s", made)
	}
	return report[i]
}

// checkFault checks an error's kind and that its text holds all parts.
func checkFault(t testing.TB, err error, kind fault.Kind, parts ...string) {
	t.Helper()
	if err == nil {
		t.Errorf("no error, expected one with %q", parts)
		return
	}
	if fault.KindOf(err) != kind {
		t.Errorf("error %q has kind %v, expected %v", err, fault.KindOf(err), kind)
	}
	for _, part := range parts {
		if !strings.Contains(err.Error(), part) {
			t.Errorf("error %q lacks %q", err, part)
		}
	}
	if strings.Contains(err.Error(), "\n") || strings.Contains(err.Error(), "%!") {
		t.Errorf("error %q is not one clean line", err)
	}
}

// opened are files that are closed at the end of a test.
func opened(t testing.TB) *inputfile.Files {
	var files inputfile.Files
	t.Cleanup(func() { files.Close() })
	return &files
}
