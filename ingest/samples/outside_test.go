package samples_test

import (
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"tcbuild/conf"
	"tcbuild/fault"
	"tcbuild/ingest"
	"tcbuild/ingest/graph/build"
	"tcbuild/ingest/inputfile"
	"tcbuild/ingest/samples"
)

const data = "../../../shared/data"

var features = filepath.Join(data, "genes_sgd/SGD_features.tab.gz")

func writeFile(t testing.TB, name, text string) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), name)
	if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	return path
}

// sgdFile writes a file like SGD's list of features: its rows are "TYPE ID NAME ALIASES", - for none.
func sgdFile(t testing.TB, rows ...string) string {
	t.Helper()
	var text strings.Builder
	for i, row := range rows {
		f := strings.Split(row, " ")
		fmt.Fprintf(&text, "S%09d\t%s\tVerified\t%s\t%s\t%s%s\n", i+1, f[0], f[1], f[2], f[3],
			strings.Repeat("\t", 10))
	}
	return writeFile(t, "SGD_features.tab", strings.ReplaceAll(text.String(), "-\t", "\t"))
}

// yeast is a graph of SGD's genes.
func yeast(t testing.TB) *ingest.Graph {
	t.Helper()
	if _, err := os.Stat(features); err != nil || testing.Short() {
		t.Skipf("-short, or the public yeast data is not there: %v", err)
	}
	var spec build.Spec
	if err := conf.DecodeSource("sgd_features", "genes", &spec.Genes); err != nil {
		t.Fatal(err)
	}
	spec.Genes.File = features
	var files inputfile.Files
	defer files.Close()
	cell, _, err := build.Graph(&files, spec)
	if err != nil {
		t.Fatal(err)
	}
	return cell
}

// openForm opens a set.
func openForm(spec samples.Spec, cell *ingest.Graph) (*samples.Set, error) {
	return samples.Open(spec, cell)
}

// checkAccounts checks that the rows of every source are kept or reported.
func checkAccounts(t testing.TB, accounts ingest.Accounts) {
	t.Helper()
	for _, a := range accounts {
		if !a.IsComplete() {
			t.Errorf("%s: rows without an account: %+v", a.Made, a)
		}
	}
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
	isIn := func(part string) bool { return strings.Contains(err.Error(), part) }
	for _, part := range parts {
		if !isIn(part) {
			t.Errorf("error %q lacks %q", err, part)
		}
	}
	if slices.ContainsFunc([]string{"\n", "%!"}, isIn) {
		t.Errorf("error %q is not one clean line", err)
	}
}
