package build

import (
	"archive/zip"
	"bytes"
	"compress/gzip"
	"errors"
	"flag"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"tcbuild/conf"
	"tcbuild/fault"
	"tcbuild/ingest"
	"tcbuild/ingest/graph/networks"
	"tcbuild/ingest/table"
	"tcbuild/internal/testing/check"
	"tcbuild/internal/testing/inputs"
)

var update = flag.Bool("update", false, "write the golden files in testdata, to be checked by eye")

// releases writes the excerpts in a file of testdata into a folder, compressed as their names say.
func releases(t testing.TB, excerpts string) (dir string) {
	t.Helper()
	dir = t.TempDir()
	text, err := os.ReadFile("testdata/" + excerpts)
	if err != nil {
		t.Fatal(err)
	}
	heads := regexp.MustCompile(`(?m)^-- (.+) --\n`)
	places := heads.FindAllSubmatchIndex(text, -1)
	members := make(map[string]map[string][]byte)
	for k, place := range places {
		end := len(text)
		if k+1 < len(places) {
			end = places[k+1][0]
		}
		name, content := string(text[place[2]:place[3]]), text[place[1]:end]
		var out bytes.Buffer
		switch file, member, zipped := strings.Cut(name, "/"); {
		case zipped:
			if members[file] == nil {
				members[file] = make(map[string][]byte)
			}
			members[file][member] = content
			continue
		case strings.HasSuffix(name, ".gz"):
			w := gzip.NewWriter(&out)
			_, err = w.Write(content)
			err = errors.Join(err, w.Close())
		default:
			out.Write(content)
		}
		writeInto(t, dir, name, out.Bytes(), err)
	}
	for name, files := range members {
		var out bytes.Buffer
		w := zip.NewWriter(&out)
		for _, member := range slices.Sorted(maps.Keys(files)) {
			in, made := w.Create(member)
			if err = made; err == nil {
				_, err = in.Write(files[member])
			}
		}
		err = errors.Join(err, w.Close())
		writeInto(t, dir, name, out.Bytes(), err)
	}
	return dir
}

func writeInto(t testing.TB, dir, name string, content []byte, err error) {
	t.Helper()
	if err == nil {
		err = os.WriteFile(filepath.Join(dir, name), content, 0o600)
	}
	if err != nil {
		t.Fatal(err)
	}
}

// TestReleases reads an excerpt of each release that conf/sources.yaml has, with its settings, and
// compares nodes, edges with their attributes, in order, and the account of all rows.
func TestReleases(t *testing.T) {
	settings, err := conf.Load("../../../conf/sources.yaml",
		[]string{"data=" + releases(t, "sources.txtar")})
	if err != nil {
		t.Fatal(err)
	}
	var spec Spec
	if err := settings.Decode(&spec); err != nil {
		t.Fatal(err)
	}
	checkGolden(t, spec, "testdata/sources.golden")
}

// TestTypesOfNodes reads the example of docs/input.md with edges between complexes and pathways.
func TestTypesOfNodes(t *testing.T) {
	page, err := os.ReadFile("../../../docs/input.md")
	if err != nil {
		t.Fatal(err)
	}
	_, section, _ := strings.Cut(string(page), "\n### Complexes, pathways and other nodes\n")
	_, example, _ := strings.Cut(section, "```yaml\n")
	example, _, _ = strings.Cut(example, "```")
	t.Chdir(releases(t, "types.txtar"))
	writeInto(t, ".", "cell.yaml", []byte(example+"unknown_genes: drop-gene\n"), nil)
	settings, err := conf.Load("cell.yaml", nil)
	if err != nil {
		t.Fatal(err)
	}
	var spec Spec
	if err := settings.Decode(&spec); err != nil {
		t.Fatal(err)
	}
	checkGolden(t, spec, filepath.Join(here, "testdata/types.golden"))

	spec.UnknownGenes, spec.Edges = "", spec.Edges[1:]
	_, _, err = Graph(inputs.Opened(t), spec)
	check.Fault(t, err, fault.Input,
		`members.tsv:5: column "pathway": pathway "R-3" is not in the graph (3 pathways)`)
	writeInto(t, ".", "pathways.tsv", []byte("id\tname\nR-1\ta\nR-3\tb\nR-1\tc\n"), nil)
	_, _, err = Graph(inputs.Opened(t), spec)
	check.Fault(t, err, fault.Input,
		`pathways.tsv:4: found pathway "R-1" twice, first at pathways.tsv:2`)
	writeInto(t, ".", "members.tsv", []byte("complex\tpathway\n\tR-1\n"), nil)
	spec.Nodes = nil
	_, _, err = Graph(inputs.Opened(t), spec)
	check.Fault(t, err, fault.Input, `members.tsv:2: column "complex": id "" is empty`)
}

// Between two types of nodes there are no self loops, and rewiring keeps every degree.
func TestRewireTypes(t *testing.T) {
	var rows strings.Builder
	for i := range 40 {
		fmt.Fprintf(&rows, "G%d\tC%d\n", i%10, (7*i+i/10)%10)
	}
	ids := make([]string, 10)
	for i := range ids {
		ids[i] = fmt.Sprintf("G%d", i)
	}
	edges := networks.Spec{
		TextSpec: table.TextSpec{File: inputs.Write(t, "e.tsv", "g\tc\n"+rows.String())},
		Relation: "r",
		From:     []string{"g"},
		To:       []string{"c"},
		ToType:   "complex",
	}
	spec := Spec{
		Genes:     genesNamed(t, ids...),
		SelfLoops: networks.LoopsAppend,
		Edges:     []networks.Spec{edges},
	}
	before, _ := build(t, spec)
	spec.Edges[0].Rewire = true
	after, report := build(t, spec)
	check.Accounts(t, report)
	a, b := before.Edges[0], after.Edges[0]
	sorted := func(ends []uint32) []uint32 { return slices.Sorted(slices.Values(ends)) }
	isRewired := !slices.Equal(a.Dst, b.Dst) && slices.Equal(sorted(a.Dst), sorted(b.Dst))
	if a.Len() != 40 || !slices.Equal(a.Src, b.Src) || !isRewired {
		t.Errorf("got %v %v, rewired from %v %v", b.Src, b.Dst, a.Src, a.Dst)
	}
}

// here is the folder of the package.
var here, _ = filepath.Abs(".")

// checkGolden compares a graph, with its attributes and the account of all rows, with a file.
func checkGolden(t *testing.T, spec Spec, golden string) {
	t.Helper()
	graph, report := build(t, spec)
	check.Accounts(t, report)
	var got strings.Builder
	for _, nodes := range graph.NodeTables() {
		fmt.Fprintf(&got, "%s:", nodes.Type)
		for row, id := range nodes.IDs {
			fmt.Fprintf(&got, " %s%s", id, values(nodes.Columns, row))
		}
		fmt.Fprintln(&got)
	}
	for _, edges := range graph.Edges {
		fmt.Fprintf(&got, "\n%s\n", edges.Type)
		sources, targets := graph.Ends(edges.Type)
		for row := range edges.Len() {
			fmt.Fprintf(&got, "%s %s%s\n", sources.IDs[edges.Src[row]], targets.IDs[edges.Dst[row]],
				values(edges.Columns, row))
		}
	}
	fmt.Fprintf(&got, "\n%s\n", strings.Join(reportLines(report), "\n"))
	if *update {
		if err := os.WriteFile(golden, []byte(got.String()), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	want, err := os.ReadFile(golden)
	if err != nil || got.String() != string(want) {
		t.Errorf("got\n%s\nwant %s (%v)", got.String(), golden, err)
	}
}

func values(columns []ingest.Column, row int) (text string) {
	for _, column := range columns {
		text += fmt.Sprintf(" %s=%q", column.Name, column.Values.ValueStr(row))
	}
	return text
}
