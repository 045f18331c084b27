package samples

import (
	"errors"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/apache/arrow/go/v17/arrow"

	"tcbuild/ingest"
	"tcbuild/ingest/table/arrowfile"
	"tcbuild/internal/testing/rowstest"
	"tcbuild/internal/testing/sets"
	"tcbuild/internal/testing/testrun"
)

// Two ids with the same hash are different ids.
func TestSampleIDsOfEqualHashes(t *testing.T) {
	earlier := ""
	ids := SampleIDs{earlier: func([]byte, int64) (string, error) { return earlier, nil }}
	for row, id := range []string{"a", "b"} {
		if err := ids.Add([]byte(id), int64(row)); err != nil {
			t.Fatal(err)
		}
	}
	if err := ids.Add([]byte("a"), 2); err != nil { // as if another id than row 0's had its hash
		t.Errorf("got %v, expected no error", err)
	}
	earlier = "p.tsv:2"
	err := ids.Add([]byte("a"), 3)
	testrun.CheckInputError(t, err, `found sample id "a", which is also in p.tsv:2, expected unique ids`)
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
	writeArrow(t, binary, []string{"sample_id", "genes"}, rowstest.Texts(ids), rowstest.Lists(genes))
	for path, places := range map[string][2]string{tsv: {":20001", ":2"}, binary: {" row 19999", " row 0"}} {
		p, err := OpenFile(path, threeGenes, PerturbationOptions{})
		if err != nil {
			t.Fatal(err)
		}
		defer p.Close()
		for range 2 {
			_, err = sets.ReadAll(p)
			testrun.CheckInputError(t, err, fmt.Sprintf(`read perturbations %s: found sample id "s0", which is also in %s, expected unique ids`, path+places[0], path+places[1]))
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
		p, err := OpenFile(path, odd, PerturbationOptions{UnknownGenes: ingest.DropGene})
		if err != nil {
			return nil, err
		}
		defer p.Close()
		samples, _, err := showSamples(p)
		return samples, err
	}
	if got, err := read(write("B|C", " D", "X")); err != nil || fmt.Sprint(got) != "[0 [0] [] 1 [1 2] []]" {
		t.Errorf("got %q, %v", got, err)
	}
	for genes, want := range map[string]string{"A|B": `found gene "A|B", expected the name of one gene`, "A ": `found gene "A ", expected a name without spaces around it`} {
		path := write(genes)
		_, err := read(path)
		testrun.CheckInputError(t, err, "read perturbations "+path+" row 1: "+want)
	}
}

// TestHashSet compares with a map: random hashes, and hashes that collide in slots.
func TestHashSet(t *testing.T) {
	random := rand.New(rand.NewPCG(1, 2))
	for _, mask := range []uint64{^uint64(0), 0xffff, 0xff000000000000ff} {
		var set hashSet
		known := make(map[uint64]bool)
		for range 50_000 {
			hash := max(random.Uint64()&mask, 1)
			if set.add(hash) == known[hash] {
				t.Fatalf("mask %#x: hash %#x: known %v, expected %v", mask, hash, !known[hash], known[hash])
			}
			known[hash] = true
		}
	}
	var set hashSet
	if !set.add(0) || set.add(0) {
		t.Error("0 is lost")
	}
}
