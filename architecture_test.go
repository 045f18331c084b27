package tcbuild_test

import (
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"tcbuild/ingest/table"
)

// TestImportDirections enforces docs/architecture.md: data flows one way, and each package
// imports only what stands before it.
func TestImportDirections(t *testing.T) {
	// package (with those below it) -> tcbuild packages that it may import
	allowed := map[string]string{
		"fault":             "",
		"internal/disk":     "fault",
		"internal/decimal":  "",
		"internal/lmdbfile": "",
		"internal/inorder":  "fault",
		"conf":              "fault internal/decimal internal/disk",
		"encode":            "encode",
		"ingest":            "ingest fault internal/lmdbfile internal/decimal internal/disk internal/inorder",
		"incidence":         "ingest",
		"store": "store ingest incidence encode fault internal/disk internal/inorder " +
			"internal/lmdbfile",
		// nothing that builds masks
		"gpuverify": "gpuverify ingest encode store fault",
		"tcbuild":   "ingest incidence encode store gpuverify fault internal/inorder",
		"internal/testing": "internal/testing ingest incidence encode store gpuverify " +
			"fault", // only tests import it
		"internal/page": "fault",
		"internal/bench": "ingest incidence encode store tcbuild internal/page fault " +
			"internal/disk",
		"internal/inspect":  "ingest incidence encode store internal/page internal/inorder fault",
		"internal/variants": "ingest store gpuverify tcbuild fault internal/disk",
		"internal/rebuild": "ingest store gpuverify tcbuild fault internal/disk " +
			"internal/variants",
		"docs": "",
		"cmd": "docs ingest incidence encode store gpuverify conf tcbuild internal/bench " +
			"internal/inspect internal/rebuild internal/variants internal/page " +
			"internal/decimal fault internal/disk",
	}
	refused := map[string]string{ // package -> packages of a folder that it may import otherwise
		"gpuverify": "ingest/gpr",
	}
	owners := map[string]string{ // library -> the one package that may import it
		"github.com/bmatsuo/lmdb-go/lmdb": "store internal/testing",
		"gorgonia.org/cu":                 "gpuverify",
		"github.com/spf13/cobra":          "cmd",
		"go.yaml.in/yaml/v4":              "conf",
	}
	out, err := exec.Command("go", "list", "-tags", "cuda", "-f",
		`{{.ImportPath}} {{join .Imports " "}}`, "./...").Output()
	if err != nil {
		t.Fatalf("go list: %v", err)
	}
	for line := range strings.Lines(string(out)) {
		fields := strings.Fields(line)
		from := strings.TrimPrefix(fields[0], "tcbuild/")
		for _, imported := range fields[1:] {
			to, ours := strings.CutPrefix(imported, "tcbuild/")
			if ours = ours || imported == "tcbuild"; ours &&
				!slices.Contains(strings.Fields(allowed[room(from)]), room(to)) {
				t.Errorf("%s imports %s (allowed: %s)", from, to, allowed[room(from)])
			}
			if slices.Contains(strings.Fields(refused[room(from)]), to) {
				t.Errorf("%s imports %s, which it must do without", from, to)
			}
			owner := owners[imported]
			if owner != "" && !slices.Contains(strings.Fields(owner), room(from)) {
				t.Errorf("%s imports %s, which belongs to %s", from, imported, owner)
			}
		}
	}
}

// TestSizes holds the limits of lines, without tests and what only tests import. A package that
// outgrows its limit does too much: move what a line of Python does there, before raising it.
func TestSizes(t *testing.T) {
	limits := map[string]int{
		"ingest": 11_600, "store": 3_100, "conf": 450, "internal/inspect internal/page": 1_450,
		"cmd": 3_000, "": 31_000, "tests": 30_000,
	}
	lines := make(map[string]int)
	err := filepath.WalkDir(".", func(path string, entry fs.DirEntry, err error) error {
		if err != nil || filepath.Ext(path) != ".go" {
			return err
		}
		text, err := os.ReadFile(path)
		count := strings.Count(string(text), "\n")
		switch folder := filepath.Dir(path); {
		case strings.HasSuffix(path, "_test.go"):
			lines["tests"] += count
		case !strings.HasPrefix(folder, "internal/testing"):
			lines[""] += count
			for names := range limits {
				if slices.Contains(strings.Fields(names), room(folder)) {
					lines[names] += count
				}
			}
		}
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	for names, limit := range limits {
		if lines[names] > limit {
			t.Errorf("%q has %d lines, expected at most %d", names, lines[names], limit)
		}
	}
}

// Go opens the files of the contract (docs/input.md), and no others.
func TestEndings(t *testing.T) {
	var got []string
	for _, ending := range table.Endings {
		got = append(got, ending.Name)
	}
	want := strings.Fields(".arrow .csv .tsv") // text also .gz or .zst
	if slices.Sort(got); !slices.Equal(got, want) {
		t.Errorf("Go reads tables that end in %q, expected %q", got, want)
	}
}

// Temporary folders follow the umask, so that colleagues can remove what a killed process left:
// os.MkdirTemp makes them for their owner alone.
func TestTemporaryFoldersFollowUmask(t *testing.T) {
	err := filepath.WalkDir(".", func(path string, entry fs.DirEntry, err error) error {
		isTest := strings.HasSuffix(path, "_test.go") ||
			strings.HasPrefix(path, "internal/testing/")
		if err != nil || filepath.Ext(path) != ".go" || isTest {
			return err
		}
		text, err := os.ReadFile(path)
		if strings.Contains(string(text), "os.MkdirTemp(") {
			t.Errorf("%s calls os.MkdirTemp; use disk.NewTemporary", path)
		}
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
}

// room is the part of an import path that names a package of the architecture.
func room(path string) string {
	first, rest, _ := strings.Cut(path, "/")
	if first == "internal" {
		second, _, _ := strings.Cut(rest, "/")
		return first + "/" + second
	}
	return first
}

// THIRD_PARTY_NOTICES has the licence of every module that is linked, of the version that is.
func TestThirdPartyNotices(t *testing.T) {
	notices, err := os.ReadFile("THIRD_PARTY_NOTICES")
	if err != nil {
		t.Fatal(err)
	}
	modules, err := exec.Command("go", "list", "-tags", "cuda", "-deps", "-f",
		"{{with .Module}}{{if not .Main}}{{.Path}} "+
			"{{.Version}}{{end}}{{end}}", "./cmd/tcbuild").Output()
	if err != nil {
		t.Fatalf("go list: %v", err)
	}
	for module := range strings.Lines(string(modules)) {
		if module != "\n" && !strings.Contains(string(notices), "\n"+module) {
			t.Errorf("THIRD_PARTY_NOTICES lacks %s (run: make notices)", strings.TrimSpace(module))
		}
	}
}
