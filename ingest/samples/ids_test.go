package samples

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/apache/arrow/go/v17/arrow"

	"tcbuild/ingest"
	"tcbuild/ingest/inputfile"
	"tcbuild/ingest/samples/distinct"
	"tcbuild/ingest/table/arrowfile"
	"tcbuild/internal/testing/rowstest"
	"tcbuild/internal/testing/sets"
	"tcbuild/internal/testing/testrun"
)

// Two ids with the same hash are different ids.
func TestSampleIDsOfEqualHashes(t *testing.T) {
	for text, want := range map[string]string{
		"a\nb\n":    "",
		"a\nb\nb\n": `p.tsv:4: found sample id "b", which is also in p.tsv:3, expected unique ids`,
	} {
		path := filepath.Join(t.TempDir(), "p.tsv")
		if err := os.WriteFile(path, []byte("sample_id\n"+text), 0o666); err != nil {
			t.Fatal(err)
		}
		file, err := inputfile.Open(path)
		if err != nil {
			t.Fatal(err)
		}
		defer file.Close()
		same := func([]byte) uint64 { return 7 }
		ids := idOrder{set: &tableSet{file: file, layout: &layout{}}, hash: same}
		for _, id := range strings.Fields(text) {
			ids.hashes.Add(distinct.Hash(same([]byte(id))))
		}
		switch err := ids.checkEnd(allRows); {
		case want == "" && err != nil:
			t.Error(err)
		case want != "":
			testrun.CheckInputError(t, err,
				"read perturbations "+strings.ReplaceAll(want, "p.tsv", path))
		}
	}
}

// TestDuplicateIDsFarApart has the same id in different batches, in every format, and in a set that
// is read again.
func TestDuplicateIDsFarApart(t *testing.T) {
	const n = 20_000
	var text strings.Builder
	text.WriteString("sample_id\tgenes\n")
	ids, genes := make([]string, n), make([][]string, n)
	for i := range n {
		ids[i], genes[i] = fmt.Sprint("s", i%(n-1)), []string{"A"} // the last is the first
		fmt.Fprintf(&text, "%s\tA\n", ids[i])
	}
	dir := t.TempDir()
	tsv, binary := filepath.Join(dir, "p.tsv"), filepath.Join(dir, "p.arrow")
	if err := os.WriteFile(tsv, []byte(text.String()), 0o666); err != nil {
		t.Fatal(err)
	}
	writeArrow(t, binary, []string{"sample_id", "genes"}, rowstest.Texts(ids),
		rowstest.Lists(genes))
	for path, places := range map[string][2]string{
		tsv:    {":20001", ":2"},
		binary: {" row 19999", " row 0"},
	} {
		p, err := openFile(path, threeGenes, Spec{})
		if err != nil {
			t.Fatal(err)
		}
		defer p.Close()
		for range 2 {
			_, err = sets.ReadAll(p)
			testrun.CheckInputError(t, err,
				fmt.Sprintf(`read perturbations %s: found sample id "s0", which is also in %s, `+
					`expected unique ids`,
					path+places[0], path+places[1]))
		}
	}
}

func writeArrow(t *testing.T, path string, names []string, columns ...arrow.Array) {
	t.Helper()
	var fields []arrow.Field
	for i, column := range columns {
		fields = append(fields, rowstest.Field(names[i], column, false))
	}
	w, err := arrowfile.Create(path, fields)
	if err != nil {
		t.Fatal(err)
	}
	if err := errors.Join(w.Write(columns...), w.Close()); err != nil {
		t.Fatal(err)
	}
}

// Elements of a list are gene names, taken literally.
func TestGenesOfLists(t *testing.T) {
	odd, _ := ingest.NewNodes(ingest.Gene, []string{"A", "B|C", " D"}, nil)
	write := func(genes ...string) string {
		path := filepath.Join(t.TempDir(), "p.arrow")
		writeArrow(t, path, []string{"genes"}, rowstest.Lists([][]string{{"A"}, genes}))
		return path
	}
	read := func(path string) ([]string, error) {
		p, err := openFile(path, odd, Spec{UnknownGenes: ingest.DropGene})
		if err != nil {
			return nil, err
		}
		defer p.Close()
		samples, _, err := showSamples(p)
		return samples, err
	}
	got, err := read(write("B|C", " D", "X"))
	if err != nil || fmt.Sprint(got) != "[0 [0] [] 1 [1 2] []]" {
		t.Errorf("got %q, %v", got, err)
	}
	for genes, want := range map[string]string{
		"A|B": `found gene "A|B", expected the name of one gene`,
		"A ":  `found gene "A ", expected a name without spaces around it`,
	} {
		path := write(genes)
		_, err := read(path)
		testrun.CheckInputError(t, err, "read perturbations "+path+" row 1: "+want)
	}
}
