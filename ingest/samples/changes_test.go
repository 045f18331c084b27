package samples

import (
	"os"
	"strings"
	"testing"

	"tcbuild/fault"
	"tcbuild/internal/testing/inputs"
	"tcbuild/internal/testing/sets"
)

// A set that changes between two reads is an error.
func TestPerturbationsChange(t *testing.T) {
	const (
		before   = "genes\tx\nA\t1\nB\t2\n"
		other    = "genes\tx\nB\t1\nB\t2\n"
		appended = "genes\tx\nA\t1\nB\t2\nC\t3\n"
	)
	for name, change := range map[string]func(path string) error{
		"appended":  func(path string) error { return os.WriteFile(path, []byte(appended), 0o666) },
		"in place":  func(path string) error { return os.WriteFile(path, []byte(other), 0o666) },
		"truncated": func(path string) error { return os.Truncate(path, 12) },
		"replaced": func(path string) error {
			if err := os.WriteFile(path+".new", []byte(other), 0o666); err != nil {
				return err
			}
			return os.Rename(path+".new", path)
		},
	} {
		t.Run(name, func(t *testing.T) {
			path := inputs.Write(t, "p.tsv", before)
			p, err := openFile(path, threeGenes, Spec{})
			if err != nil {
				t.Fatal(err)
			}
			defer p.Close()
			if err := change(path); err != nil {
				t.Fatal(err)
			}
			_, err = sets.ReadAll(p)
			if fault.KindOf(err) != fault.Busy || !strings.Contains(err.Error(), path) {
				t.Errorf("got %v, want that the file changed", err)
			}
		})
	}
}
