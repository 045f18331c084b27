package samples

import (
	"errors"
	"os"
	"path/filepath"
	"testing"

	"tcbuild/fault"
	"tcbuild/ingest"
	"tcbuild/ingest/samples/duplicates"
	"tcbuild/internal/testing/sets"
)

// If a set changes between two readings, old and new contents are never mixed, even if size and
// modification time are the same.
func TestChangesBetweenReadings(t *testing.T) {
	const before = "genes\ty\nA\t1\nB\t2\nA\t3\n"
	genes, _ := ingest.NewNodes(ingest.Gene, []string{"A", "B"}, nil)
	for _, after := range []string{
		"genes\ty\nB\t1\nA\t2\nA\t3\n", "genes\ty\nA\t1\nB\t2\n", before + "B\t4\n",
	} {
		for _, choice := range []duplicates.Choice{duplicates.Last, duplicates.Mean} {
			path := filepath.Join(t.TempDir(), "set.tsv")
			if err := os.WriteFile(path, []byte(before), 0o666); err != nil {
				t.Fatal(err)
			}
			info, err := os.Stat(path)
			if err != nil {
				t.Fatal(err)
			}
			set, err := openFile(path, genes, Spec{Phenotypes: []string{"y"}})
			if err != nil {
				t.Fatal(err)
			}
			defer set.Close()
			change := func() error {
				return errors.Join(os.WriteFile(path, []byte(after), 0o666),
					os.Chtimes(path, info.ModTime(), info.ModTime()))
			}
			rule := duplicates.Rule{Duplicates: choice}
			merged, err := duplicates.Apply(&sets.Changing{SampleSource: set, Change: change}, rule,
				path, genes)
			if err != nil {
				t.Fatal(err)
			}
			_, err = sets.Read(merged, func(*ingest.Samples) error { return nil })
			if err == nil {
				err = set.Unchanged()
			}
			if fault.KindOf(err) != fault.Busy {
				t.Errorf("%s of %q: got %v", choice, after, err)
			}
		}
	}
}
