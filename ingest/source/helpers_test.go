package source

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
	"tcbuild/ingest/graph/build"
	"tcbuild/ingest/inputfile"
	"tcbuild/ingest/names"
	"tcbuild/ingest/samples"
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

// fromSource has the settings of a public source for a file.
func fromSource[T any](t testing.TB, name, section string, file func(*T) *string, path string) (spec T) {
	t.Helper()
	if err := conf.DecodeSource(name, section, &spec); err != nil {
		t.Fatal(err)
	}
	*file(&spec) = path
	return spec
}

func sgdAliases(t testing.TB, path string) []names.AliasTable {
	return []names.AliasTable{fromSource(t, "sgd_features", "aliases", func(s *names.AliasTable) *string { return &s.File }, path)}
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

// openForm opens a set in files without what Open does after its form.
func openForm(spec samples.Spec, cell *ingest.Graph) (perturbations, error) {
	if err := conf.Check(&spec); err != nil {
		return nil, err
	}
	var tables inputfile.Files
	defer tables.Close()
	return opener{spec}.open(&tables, cell)
}

// data is the folder of the public files.
const data = "../../../shared/data"

// yeastSpec is the preset of yeast, for tests that read its files.
func yeastSpec(t testing.TB) (spec build.Spec) {
	t.Helper()
	if testing.Short() {
		t.Skip("-short: it reads the real data")
	}
	if _, err := os.Stat(data); err != nil {
		t.Skipf("the public yeast data is not there: %v", err)
	}
	settings, err := conf.Load("../../conf/yeast.yaml", []string{"data=" + data})
	if err == nil {
		err = settings.Decode(&spec)
	}
	if err != nil {
		t.Fatal(err)
	}
	return spec
}
