package gpucheck

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// The README says that nothing has run on a card until docs/gpu has the result of such a run.
func TestReadmeSaysThatNoCardRanIt(t *testing.T) {
	readme, err := os.ReadFile("../../README.md")
	if err != nil {
		t.Fatal(err)
	}
	runs, err := filepath.Glob("../../docs/gpu/*.json")
	if err != nil {
		t.Fatal(err)
	}
	if said := strings.Contains(string(readme), "has not run on a card"); said != (len(runs) == 0) {
		t.Errorf("README says that it has not run on a card: %v; docs/gpu has the runs %v", said, runs)
	}
}
