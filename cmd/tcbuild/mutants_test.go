package main

import (
	"encoding/json"
	"os"
	"os/exec"
	"path"
	"path/filepath"
	"strings"
	"testing"

	"tcbuild/ingest"
	"tcbuild/ingest/graph"
)

// mutant is a bug of the builder of masks: in a file, an expression in place of another, while the
// environment variable TCBUILD_MUTANT is its name. It moves with the code: the text has to be there
// exactly once.
type mutant struct {
	name, file, text, mutation string
	// it shows in what an incidence dataset stores, too: the incidence and the masks' names
	inCache bool
}

var mutants = []mutant{
	{"shifted position", "incidence/cache.go", "f.positions[f.next[row]] = position",
		`f.positions[f.next[row]] = mutated("shifted position", position, shiftOneInAThousand(position))`, true},
	{"edges without their target", "incidence/cache.go", "!(hasSource && isLoop) {",
		`!(hasSource && isLoop) && mutated("edges without their target", true, i%1000 != 3) {`, true},
	{"end of a list", "incidence/remover.go", "copy(out[end:], b[j:])", `copy(out[end:], mutated("end of a list", b[j:], withoutLast(b[j:])))`, false},
	{"end of the only list", "incidence/remover.go", "append(dst, u.lists[0]...)",
		`append(dst, mutated("end of the only list", u.lists[0], withoutLast(u.lists[0]))...)`, false},
	{"and for or", "incidence/rule.go", "case gpr.And:\n\t\tfor i := range r.operands {",
		"case mutated(\"and for or\", gpr.And, gpr.Or):\n\t\tfor i := range r.operands {", false},
	{"unknown genes are missing", "incidence/rule.go", "return r.unknown || !deleted[r.gene]",
		`return mutated("unknown genes are missing", r.unknown || !deleted[r.gene], !r.unknown && !deleted[r.gene])`, false},
	{"and read as or", "ingest/gpr/parse.go", "p.kind = and",
		`p.kind = mutated("and read as or", and, or)`, false},
	{"row of another reaction", "incidence/remover.go", "r.rows.Row(r.genes + reaction)",
		`r.rows.Row(r.genes + mutated("row of another reaction", reaction, max(reaction, 1)-1))`, false},
	{"ends that count", "incidence/ends.go", "return []End{Source, Target}",
		`return mutated("ends that count", []End{Source, Target}, []End{Source})`, true},
	{"gpr edges go with reactions", "incidence/ends.go", "ingest.GPR: {Source},",
		`ingest.GPR: mutated("gpr edges go with reactions", []End{Source}, []End{Source, Target}),`, true},
	{"order of masks", "incidence/cache.go", "for _, edges := range graph.Edges {\n\t\tlayout.Add",
		"for _, edges := range mutated(\"order of masks\", graph.Edges, backwards(graph.Edges)) {\n\t\tlayout.Add", true},
}

// mutantHelpers is code that the mutants call; it goes into the package of each.
const mutantHelpers = `

import (
	"os"
	"slices"
)

var chosenMutant = os.Getenv("TCBUILD_MUTANT")

func mutated[T any](name string, right, wrong T) T {
	if chosenMutant == name {
		return wrong
	}
	return right
}

func shiftOneInAThousand(position uint32) uint32 {
	if position%1000 == 3 {
		return position + 1
	}
	return position
}

func withoutLast(list []uint32) []uint32 { return list[:max(0, len(list)-1)] }

func backwards[T any](list []T) []T {
	list = slices.Clone(list)
	slices.Reverse(list)
	return list
}
`

// buildMutants compiles the program with the mutants in it.
func buildMutants(t *testing.T, flags ...string) (executable string) {
	t.Helper()
	if testing.Short() {
		t.Skip("-short: it compiles the program")
	}
	dir := t.TempDir()
	root, err := filepath.Abs("../..")
	if err != nil {
		t.Fatal(err)
	}
	files := make(map[string]string) // name in the repository to text
	for _, m := range mutants {
		folder := path.Dir(m.file)
		files[folder+"/mutant.go"] = "package " + path.Base(folder) + mutantHelpers
		if files[m.file] == "" {
			files[m.file] = read(t, filepath.Join(root, m.file))
		}
		if count := strings.Count(files[m.file], m.text); count != 1 {
			t.Fatalf("mutant %q: %s has %q %d times, expected once", m.name, m.file, m.text, count)
		}
		files[m.file] = strings.Replace(files[m.file], m.text, m.mutation, 1)
	}
	replace := make(map[string]string)
	for name := range files {
		replace[filepath.Join(root, name)] = filepath.Join(dir, name)
	}
	writeFiles(t, dir, files)
	overlay, err := json.Marshal(map[string]any{"Replace": replace})
	if err != nil {
		t.Fatal(err)
	}
	writeFiles(t, dir, map[string]string{"overlay.json": string(overlay)})
	executable = filepath.Join(dir, "tcbuild")
	build := exec.Command("go", with([]string{"build", "-overlay", filepath.Join(dir, "overlay.json"), "-o", executable}, with(flags, ".")...)...)
	if out, err := build.CombinedOutput(); err != nil {
		t.Fatalf("go build: %v\n%s", err, out)
	}
	return executable
}

// A program whose masks are wrong fails its own proof, by each method alone and by both, the
// default.
func TestMutantsFail(t *testing.T) {
	t.Parallel()
	executable := buildMutants(t)
	f := mutantFixture(t)
	methods := [][]string{{"--method", "incidence"}, {"--method", "edges"}, nil}
	for _, m := range append([]mutant{{name: "none"}}, mutants...) {
		for _, variant := range []string{"incidence", "indices"} {
			code := 4
			if m.name == "none" || variant == "incidence" && !m.inCache {
				code = 0
			}
			f.prove(t, executable, m.name, variant, code, methods...)
		}
	}
	f.prove(t, executable, mutants[0].name, "full-masks", 4, methods...)
}

// mutantFixture is a fixture whose reactions have rules.
func mutantFixture(t *testing.T) fixture {
	t.Helper()
	f := newFixture(t, 4000, 200)
	texts := make([]string, f.graph.Reactions.Len())
	for i := range texts {
		gene := func(k int) string { return f.graph.Genes.IDs[(7*i+k*31)%fixtureGenes] }
		texts[i] = []string{"", gene(0), gene(0) + " or " + gene(1), gene(0) + " and (" + gene(1) + " or " + gene(2) + ")", "elsewhere or " + gene(0)}[i%5]
	}
	f.graph.Reactions.Columns = []ingest.Column{ingest.TextColumn("gpr", texts)}
	if err := graph.Write(filepath.Join(f.dir, "graph"), f.graph); err != nil {
		t.Fatal(err)
	}
	return f
}

// prove builds a dataset with a mutant, and verifies it in several ways; the exit code of each must
// be code.
func (f fixture) prove(t *testing.T, executable, mutant, variant string, code int, ways ...[]string) {
	t.Helper()
	run := func(args ...string) (int, string) {
		cmd := exec.CommandContext(t.Context(), executable, args...)
		cmd.Dir, cmd.Env = f.dir, append(os.Environ(), "TCBUILD_MUTANT="+mutant)
		out, _ := cmd.CombinedOutput()
		return cmd.ProcessState.ExitCode(), string(out)
	}
	out := filepath.Join(t.TempDir(), "out")
	command := []string{"dataset", "--mode", variant}
	if variant == "incidence" {
		command = []string{"incidence"}
	}
	if got, text := run(with(command, "--graph", "graph", "--perturbations", "sets.tsv", "--reaction-rule", "gpr", "--out", out)...); got != 0 {
		t.Fatalf("%s: build %s: exit code %d\n%s", mutant, variant, got, text)
	}
	for _, flags := range ways {
		if got, text := run(with([]string{"verify", out}, flags...)...); got != code {
			t.Errorf("%s: verify %s %v: exit code %d, want %d\n%s", mutant, variant, flags, got, code, text)
		}
	}
}
