package source

import (
	"maps"
	"os"
	"path/filepath"
	"testing"

	"tcbuild/ingest"
)

func TestAliases(t *testing.T) {
	line := func(systematic, standard, aliases string) string {
		return "S1\tORF\tVerified\t" + systematic + "\t" + standard + "\t" + aliases + "\t\t\t\t\t\t\t\t\t\t\n"
	}
	path := filepath.Join(t.TempDir(), "SGD_features.tab")
	text := line("YAL001C", "ABC1", "OLD|SHARED") + line("YAL002W", "ABC2", "SHARED") + line("YAL003W", "ABC3", "")
	if err := os.WriteFile(path, []byte(text), 0o644); err != nil {
		t.Fatal(err)
	}
	genes, _ := ingest.NewNodes(ingest.Gene, []string{"YAL001C", "YAL002W"}, nil)
	names, _, err := ReadNames(opened(t), sgdAliases(t, path), genes)
	if err != nil {
		t.Fatal(err)
	}
	want := map[string]string{"ABC1": "YAL001C", "OLD": "YAL001C", "ABC2": "YAL002W"}
	if got := names.Aliases(); !maps.Equal(got, want) {
		t.Errorf("got %v, want %v", got, want)
	}
	if got := newNames(genes, 0).Aliases(); len(got) > 0 {
		t.Errorf("a look-up without a file: got %v, want none", got)
	}
}
