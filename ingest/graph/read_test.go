package graph

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"flag"
	"fmt"
	"maps"
	"math/rand/v2"
	"os"
	"path/filepath"
	"reflect"
	"slices"
	"strings"
	"syscall"
	"testing"

	"tcbuild/fault"
	"tcbuild/ingest"
	"tcbuild/ingest/inputfile"
	"tcbuild/ingest/table"
	"tcbuild/internal/testing/testrun"
)

// These tests change no file while it is read.
func init() { inputfile.ClockTick = 0 }

// folder writes files, named by path, and returns their folder.
func folder(t testing.TB, files map[string]string) string {
	t.Helper()
	dir := t.TempDir()
	for name, content := range files {
		path := filepath.Join(dir, filepath.FromSlash(name))
		if content == "folder" {
			path += "/"
		}
		if err := os.MkdirAll(filepath.Dir(path), 0o777); err != nil {
			t.Fatal(err)
		}
		if content == "folder" {
			continue
		}
		if err := os.WriteFile(path, []byte(content), 0o666); err != nil {
			t.Fatal(err)
		}
	}
	return dir
}

// tinyGraph is a graph with every part in it.
func tinyGraph() map[string]string {
	return map[string]string{
		"nodes/gene.tsv": "id\tname\nA\talpha\nB\t\nC\tgamma\n",
		"nodes/reaction.csv": "id,gpr,subsystem\nr1,\"(A or B)\",\"x, y\"\n" +
			"r2,,z\n",
		"nodes/metabolite.tsv":  "id\tcharge\nm1\t-1\n",
		"nodes/README.txt.md":   "no table",
		"nodes/metabolite.tsv~": "not read",
		"nodes/.hidden.tsv":     "no table",
		"edges/gene__physical__gene.tsv": "src\tweight\tdst\tnote\nA\t0.5\tB\tx\n" +
			"A\t\tB\t1\nB\tNA\tA\t\nC\t2\tC\tNA\n",
		"edges/gene__genetic__gene.csv": "src_index,dst_index\n2,0\n0,2\n",
		"edges/gene__gpr__reaction.tsv": "src\tdst\nA\tr1\nB\tr1\n",
		"edges/reaction__rmr__metabolite.tsv": "src\tdst\tstoichiometry\nr1\tm1\t-1\n" +
			"r2\tm1\t2.5\n",
		"edges/old/gene__physical__gene.tsv":    "not read",
		"edges/gene__physical__gene.tsv.backup": "not read",
	}
}

func TestRead(t *testing.T) {
	dir := folder(t, tinyGraph())
	g, inputs, err := Read(dir)
	if err != nil {
		t.Fatal(err)
	}
	genes, _ := ingest.NewNodes(ingest.Gene, []string{"A", "B", "C"},
		[]ingest.Column{ingest.TextColumn("name", []string{"alpha", "", "gamma"})})
	reactions, _ := ingest.NewNodes(ingest.Reaction, []string{"r1", "r2"}, []ingest.Column{
		ingest.TextColumn("gpr", []string{"(A or B)", ""}),
		ingest.TextColumn("subsystem", []string{"x, y", "z"}),
	})
	metabolites, _ := ingest.NewNodes(ingest.Metabolite, []string{"m1"},
		[]ingest.Column{ingest.TextColumn("charge", []string{"-1"})})
	want := &ingest.Graph{
		Genes:       genes,
		Reactions:   reactions,
		Metabolites: metabolites,
		Edges: []*ingest.Edges{
			{
				Type: ingest.EdgeType{
					Source: ingest.Gene, Relation: "genetic", Target: ingest.Gene,
				},
				Src: []uint32{2, 0},
				Dst: []uint32{0, 2},
			},
			{Type: ingest.GPR, Src: []uint32{0, 1}, Dst: []uint32{0, 0}},
			{
				Type: ingest.EdgeType{
					Source: ingest.Gene, Relation: "physical", Target: ingest.Gene,
				},
				Src: []uint32{0, 0, 1, 2},
				Dst: []uint32{1, 1, 0, 2},
				Columns: []ingest.Column{
					ingest.TextColumn("weight", []string{"0.5", "", "NA", "2"}),
					ingest.TextColumn("note", []string{"x", "1", "", "NA"}),
				},
			},
			{
				Type:    ingest.RMR,
				Src:     []uint32{0, 1},
				Dst:     []uint32{0, 0},
				Columns: []ingest.Column{ingest.NumberColumn("stoichiometry", []float64{-1, 2.5})},
			},
		},
	}
	checkGraph(t, g, want)

	if got, want := OddEdges(g), []EdgeReport{
		{ingest.EdgeType{Source: ingest.Gene, Relation: "genetic", Target: ingest.Gene}, 2, 0, 0},
		{ingest.GPR, 2, 0, 0},
		{ingest.EdgeType{Source: ingest.Gene, Relation: "physical", Target: ingest.Gene}, 4, 1, 1},
		{ingest.RMR, 2, 0, 0},
	}; !reflect.DeepEqual(got, want) {
		t.Errorf("edges: got %v, want %v", got, want)
	}
	var names []string
	for _, input := range inputs {
		names = append(names, input.Name)
	}
	files := []string{
		"edges/gene__genetic__gene.csv",
		"edges/gene__gpr__reaction.tsv",
		"edges/gene__physical__gene.tsv",
		"edges/reaction__rmr__metabolite.tsv",
		"nodes/gene.tsv",
		"nodes/metabolite.tsv",
		"nodes/reaction.csv",
	}
	if !slices.Equal(names, files) {
		t.Errorf("inputs: got %s, want %s", names, files)
	}
	// printf 'src_index,dst_index\n2,0\n0,2\n' | sha256sum
	genetic := ingest.Input{
		Name:   "edges/gene__genetic__gene.csv",
		Bytes:  28,
		SHA256: "86f0fb27515fa2ed7fabf4cfb0088e62df362050d70f76139ea11f9c958319d4",
	}
	if inputs[0] != genetic {
		t.Errorf("input: got %v, want %v", inputs[0], genetic)
	}
}

// checkGraph compares two graphs through their text.
func checkGraph(t *testing.T, got, want *ingest.Graph) {
	t.Helper()
	if got, want := showGraph(got), showGraph(want); got != want {
		t.Errorf("got\n%s\nwant\n%s", got, want)
	}
}

func showGraph(g *ingest.Graph) string {
	var text strings.Builder
	columns := func(columns []ingest.Column) {
		for _, c := range columns {
			fmt.Fprintf(&text, "  %s %s %v\n", c.Name, c.Values.DataType(), c.Values)
		}
	}
	for _, nodes := range g.NodeTables() {
		fmt.Fprintf(&text, "%s %q\n", nodes.Type, nodes.IDs)
		columns(nodes.Columns)
	}
	for _, edges := range g.Edges {
		fmt.Fprintf(&text, "%s %d %d\n", edges.Type, edges.Src, edges.Dst)
		columns(edges.Columns)
	}
	return text.String()
}

func TestGraphFolders(t *testing.T) {
	for name, files := range map[string]map[string]string{
		"parent": {
			"graph/nodes/gene.tsv": "id\nA\n", "graph/edges/gene__x__gene.tsv": "src\tdst\nA\tA\n",
		},
		"no gene edges":   {"nodes/gene.tsv": "id\nA\n", "edges/none": "folder"},
		"no edges folder": {"nodes/gene.tsv": "id\nA\n"},
		"ids of all sorts": {
			"nodes/gene.tsv":       "id\nA\na\nNA\nnull\n007\n7\n1e5\nYAL001C (old)\nÅ\n",
			"nodes/metabolite.tsv": "id\nH+ [c]\na|b\n",
		},
		"no genes": {"nodes/gene.tsv": "id\n", "edges/gene__x__gene.tsv": "src\tdst\n"},
		"reactions alone": {
			"nodes/gene.tsv":                "id\nA\n",
			"nodes/reaction.tsv":            "id\nr\n",
			"edges/gene__gpr__reaction.tsv": "src\tdst\nA\tr\n",
		},
		"metabolites alone": {
			"nodes/gene.tsv": "id\nA\n", "nodes/metabolite.tsv": "id\nm\n", "edges/none": "folder",
		},
	} {
		t.Run(name, func(t *testing.T) {
			if _, _, err := Read(folder(t, files)); err != nil {
				t.Error(err)
			}
		})
	}
}

func TestReadErrors(t *testing.T) {
	const physical = "edges/gene__physical__gene.tsv"
	for _, test := range []struct {
		name, file, content string // what is added to or replaced in tinyGraph
		want                string // DIR is the folder
	}{
		{
			name:    "two formats",
			file:    "edges/gene__physical__gene.parquet",
			content: "x",
			want: "read graph DIR: found both \"edges/gene__physical__gene.parquet\" and " +
				"\"edges/gene__physical__gene.tsv\", expected one table of this name",
		},
		{
			name:    "nearly a node type",
			file:    "nodes/reactions.tsv",
			content: "id\n",
			want: "read graph DIR: found table \"nodes/reactions.tsv\": its type is " +
				"\"reactions\", expected reaction",
		},
		{
			name:    "nearly a node type",
			file:    "nodes/Metabolite.tsv",
			content: "id\n",
			want: "read graph DIR: found table \"nodes/Metabolite.tsv\": its type is " +
				"\"Metabolite\", expected metabolite",
		},
		{
			name:    "no node type",
			file:    "nodes/gene.old.tsv",
			content: "id\n",
			want: "read graph DIR: found table \"nodes/gene.old.tsv\": its type is " +
				"\"gene.old\", expected letters and digits, in parts that are joined by _",
		},
		{
			name:    "node type that ends in a joint",
			file:    "nodes/protein_.tsv",
			content: "id\n",
			want: "read graph DIR: found table \"nodes/protein_.tsv\": its type is " +
				"\"protein_\", expected letters and digits, in parts that are joined by _",
		},
		{
			name:    "edge type without its nodes",
			file:    "edges/gene__codes__protein.tsv",
			content: "src\tdst\n",
			want: "read graph DIR: edges/gene__codes__protein.tsv needs the node table " +
				"protein, which is missing",
		},
		{
			name:    "nearly a node type in an edge type",
			file:    "edges/gene__gpr__reactions.tsv",
			content: "src\tdst\n",
			want: "read graph DIR: found table \"edges/gene__gpr__reactions.tsv\": its node " +
				"type is \"reactions\", expected reaction",
		},
		{
			name:    "nearly an edge type",
			file:    "edges/gene__GPR__reaction.tsv",
			content: "src\tdst\n",
			want: "read graph DIR: found table \"edges/gene__GPR__reaction.tsv\": its " +
				"relation is \"GPR\", expected gpr",
		},
		{
			name:    "hyperedge that is no reaction",
			file:    "edges/metabolite__reaction__metabolite.tsv",
			content: "src\tdst\nm1\tm1\n",
			want: `read edges DIR/edges/metabolite__reaction__metabolite.tsv:2: dst "m1" is ` +
				`not in nodes/reaction, expected one of its 2 ids`,
		},
		{
			name:    "stoichiometry of a hyperedge",
			file:    "edges/metabolite__reaction__metabolite.tsv",
			content: "src\tdst\tstoichiometry\nm1\tr1\tx\n",
			want: `read edges DIR/edges/metabolite__reaction__metabolite.tsv:2: column ` +
				`stoichiometry: found "x", expected a number`,
		},
		{
			name: "table of a further type in a format that is not read",
			file: "nodes/protein.tsv.bz2",
			want: "read graph DIR: found \"nodes/protein.tsv.bz2\", expected a table with ending " +
				table.Formats,
		},
		{
			name: "edges of a further type in a format that is not read",
			file: "edges/protein__x__protein.ods",
			want: "read graph DIR: found \"edges/protein__x__protein.ods\", expected a table " +
				"with ending " + table.Formats,
		},
		{
			name:    "no edge type",
			file:    "edges/physical.tsv",
			content: "src\tdst\n",
			want: "read graph DIR: found table \"edges/physical.tsv\": its name is not " +
				"SOURCE__RELATION__TARGET, such as gene__physical__gene",
		},
		{
			name:    "no relation",
			file:    "edges/gene____gene.tsv",
			content: "src\tdst\n",
			want: "read graph DIR: found table \"edges/gene____gene.tsv\": its name is not " +
				"SOURCE__RELATION__TARGET, such as gene__physical__gene",
		},
		{
			name:    "missing id column",
			file:    "nodes/gene.tsv",
			content: "name\tx\nA\t1\n",
			want:    "read nodes DIR/nodes/gene.tsv: found columns name, x, expected id",
		},
		{
			name:    "duplicate id",
			file:    "nodes/gene.tsv",
			content: "id\nA\nB\nC\nB\n",
			want: `read nodes DIR/nodes/gene.tsv:5: id "B" is also in DIR/nodes/gene.tsv:3, ` +
				`expected unique ids`,
		},
		{
			name:    "empty id",
			file:    "nodes/gene.tsv",
			content: "id\tname\nA\tx\n\ty\n",
			want:    "read nodes DIR/nodes/gene.tsv:3: id \"\" is empty",
		},
		{
			name:    "id with a blank before it",
			file:    "nodes/gene.tsv",
			content: "id\nA\n B\n",
			want:    `read nodes DIR/nodes/gene.tsv:3: id " B" begins or ends with a space`,
		},
		{
			name:    "id with a blank behind it",
			file:    "nodes/reaction.csv",
			content: "id\n\"r1\"\nr2\u00a0\n",
			want: `read nodes DIR/nodes/reaction.csv:3: id "r2\u00a0" begins or ends with a ` +
				`space`,
		},
		{
			name:    "id in quotes, not all of them",
			file:    "nodes/gene.tsv",
			content: "id\nA\n\"B\"\n",
			want:    `read nodes DIR/nodes/gene.tsv:3: id "\"B\"" is in quotes`,
		},
		{
			name:    "blank id",
			file:    "nodes/metabolite.tsv",
			content: "id\nm1\n \n",
			want:    `read nodes DIR/nodes/metabolite.tsv:3: id " " begins or ends with a space`,
		},
		{
			name:    "id with a line break",
			file:    "nodes/reaction.csv",
			content: "id\nr1\n\"r\n2\"\n",
			want:    `read nodes DIR/nodes/reaction.csv:3: id "r\n2" contains a control character`,
		},
		{
			name:    "id with an escape",
			file:    "nodes/gene.tsv",
			content: "id\nA\nB\x1b[2J\n",
			want:    `read nodes DIR/nodes/gene.tsv:3: id "B\x1b[2J" contains a control character`,
		},
		{
			name:    "gene with the sign between genes",
			file:    "nodes/gene.tsv",
			content: "id\nA|B\n",
			want: `read nodes DIR/nodes/gene.tsv:2: id "A|B" contains a |, which separates ` +
				`the genes of a perturbation set`,
		},
		{
			name:    "gene that is a date",
			file:    "nodes/gene.tsv",
			content: "id\nsep-1\n2-Sep\n",
			want: `read nodes DIR/nodes/gene.tsv:3: id "2-Sep" is a date, as Excel makes of ` +
				`names such as SEP7`,
		},
		{
			name:    "relation with a space",
			file:    "edges/gene__my net__gene.tsv",
			content: "src\tdst\n",
			want: `read graph DIR: found table "edges/gene__my net__gene.tsv": its relation ` +
				`is "my net", expected UTF-8 text without spaces and control characters`,
		},
		{
			name:    "relation not UTF-8",
			file:    "edges/gene__a\xff__gene.tsv",
			content: "src\tdst\n",
			want: `read graph DIR: found table "edges/gene__a\xff__gene.tsv": its relation is ` +
				`"a\xff", expected UTF-8 text without spaces and control characters`,
		},
		{
			name:    "relation with a line break",
			file:    "edges/gene__a\nb__gene.tsv",
			content: "src\tdst\n",
			want: `read graph DIR: found table "edges/gene__a\nb__gene.tsv": its relation is ` +
				`"a\nb", expected UTF-8 text without spaces and control characters`,
		},
		{
			name:    "node type not UTF-8",
			file:    "nodes/ge\xffne.tsv",
			content: "id\n",
			want: `read graph DIR: found table "nodes/ge\xffne.tsv": its type is "ge\xffne", ` +
				`expected letters and digits, in parts that are joined by _`,
		},
		{
			name:    "stoichiometry no number",
			file:    "edges/reaction__rmr__metabolite.tsv",
			content: "src\tdst\tstoichiometry\nr1\tm1\t-1\nr2\tm1\tone\n",
			want: `read edges DIR/edges/reaction__rmr__metabolite.tsv:3: column ` +
				`stoichiometry: found "one", expected a number`,
		},
		{
			name:    "stoichiometry missing",
			file:    "edges/reaction__rmr__metabolite.tsv",
			content: "src\tdst\tstoichiometry\nr1\tm1\t\n",
			want: `read edges DIR/edges/reaction__rmr__metabolite.tsv:2: column ` +
				`stoichiometry: found no value, expected a finite number`,
		},
		{
			name:    "stoichiometry infinite",
			file:    "edges/reaction__rmr__metabolite.tsv",
			content: "src\tdst\tstoichiometry\nr1\tm1\tinf\n",
			want: `read edges DIR/edges/reaction__rmr__metabolite.tsv:2: column ` +
				`stoichiometry: found +Inf, expected a finite number`,
		},
		{
			name:    "id not UTF-8",
			file:    "nodes/gene.tsv",
			content: "id\nA\n\xff\n",
			want:    `read nodes DIR/nodes/gene.tsv:3: id "\xff" is not valid UTF-8`,
		},
		{
			name:    "column not UTF-8",
			file:    "nodes/gene.tsv",
			content: "id\tname\nA\tx\nB\t\xe9\nC\t\n",
			want:    `read nodes DIR/nodes/gene.tsv:3: "\xe9" in column "name" is not valid UTF-8`,
		},
		{
			name: "empty file",
			file: physical,
			want: "open table DIR/" + physical + ": the file is empty, expected a table",
		},
		{
			name:    "short row",
			file:    physical,
			content: "src\tdst\nA\tB\nA\n",
			want:    "read DIR/" + physical + ":3: found 1 field, expected 2",
		},
		{
			name:    "missing column",
			file:    physical,
			content: "src\ttarget\nA\tB\n",
			want:    "read edges DIR/" + physical + ": found columns src, target, expected dst",
		},
		{
			name:    "no edge columns",
			file:    physical,
			content: "a\tb\nA\tB\n",
			want:    "read edges DIR/" + physical + ": found columns a, b, expected src",
		},
		{
			name:    "missing index column",
			file:    physical,
			content: "src_index\n0\n",
			want:    "read edges DIR/" + physical + ": found columns src_index, expected dst_index",
		},
		{
			name:    "ids and indices",
			file:    physical,
			content: "src\tdst\tsrc_index\tdst_index\n",
			want: "read edges DIR/" + physical +
				": found columns of ids (src, dst) and of indices (src_index, dst_index), " +
				"expected one pair",
		},
		{
			name:    "unknown id",
			file:    physical,
			content: "src\tdst\nA\tB\nA\tD\n",
			want: "read edges DIR/" + physical +
				`:3: dst "D" is not in nodes/gene, expected one of its 3 ids`,
		},
		{
			name:    "empty edge id",
			file:    physical,
			content: "src\tdst\n\tB\n",
			want: "read edges DIR/" + physical +
				`:2: src "" is not in nodes/gene, expected one of its 3 ids`,
		},
		{
			name:    "index too large",
			file:    physical,
			content: "src_index\tdst_index\n0\t3\n",
			want: "read edges DIR/" + physical +
				":2: dst_index: found 3, expected an integer from 0 to 2, the rows of nodes/gene",
		},
		{
			name:    "index negative",
			file:    physical,
			content: "src_index\tdst_index\n-1\t0\n",
			want: "read edges DIR/" + physical +
				":2: src_index: found -1, expected an integer from 0 to 2, the rows of nodes/gene",
		},
		{
			name:    "index a fraction",
			file:    physical,
			content: "src_index\tdst_index\n0\t1\n1.5\t0\n",
			want: "read edges DIR/" + physical +
				`:3: src_index: found "1.5", expected an integer from 0 to 2, the rows of ` +
				`nodes/gene`,
		},
		{
			name:    "index missing",
			file:    physical,
			content: "src_index\tdst_index\nNA\t0\n",
			want: "read edges DIR/" + physical +
				":2: src_index: found no value, expected an integer from 0 to 2, the rows of " +
				"nodes/gene",
		},
		{
			name:    "two compressions",
			file:    physical + ".gz",
			content: "x",
			want: "read graph DIR: found both \"" + physical + "\" and \"" + physical +
				".gz\", expected one table of this name",
		},
		{
			name:    "unknown ending",
			file:    "edges/gene__x__gene.tsv.bz2",
			content: "x",
			want: "read graph DIR: found \"edges/gene__x__gene.tsv.bz2\", expected a table " +
				"with ending " + table.Formats,
		},
		{
			name:    "zip",
			file:    "edges/gene__x__gene.zip",
			content: "x",
			want: "read graph DIR: found \"edges/gene__x__gene.zip\", expected a table with " +
				"ending " + table.Formats,
		},
		{
			name:    "copy alone",
			file:    "edges/gene__x__gene.tsv.bak",
			content: "x",
			want: "read graph DIR: found \"edges/gene__x__gene.tsv.bak\", expected a table " +
				"with ending " + table.Formats,
		},
		{
			name:    "no ending",
			file:    "edges/gene__x__gene",
			content: "folder",
			want: "read graph DIR: found \"edges/gene__x__gene\", expected a table with ending " +
				table.Formats,
		},
		{
			name:    "torn text",
			file:    "edges/gene__torn__gene.tsv.gz",
			content: "\x1f\x8b\x08\x00\x00\x00\x00\x00\x00\x00",
			want: "read DIR/edges/gene__torn__gene.tsv.gz: the file is truncated or damaged " +
				"after line 0: unexpected EOF",
		},
		{
			name:    "torn table",
			file:    "edges/gene__torn__gene.arrow",
			content: "ARROW1\x00\x00cut",
			want: "read DIR/edges/gene__torn__gene.arrow: the file is truncated or damaged in " +
				"its footer or schema: the file does not end like an Arrow IPC file",
		},
		{
			name: "no reactions",
			file: "nodes/reaction.csv",
			want: "read graph DIR: edges/gene__gpr__reaction.tsv needs the node table reaction, " +
				"which is missing",
		},
		{
			name: "no gene table",
			file: "nodes/gene.tsv",
			want: "read graph DIR: found no node table gene",
		},
	} {
		t.Run(test.name, func(t *testing.T) {
			files := tinyGraph()
			if strings.HasPrefix(test.name, "no ") && test.content == "" {
				delete(files, test.file)
			} else {
				files[test.file] = test.content
			}
			dir := folder(t, files)
			_, _, err := Read(dir)
			testrun.CheckInputError(t, err, strings.ReplaceAll(test.want, "DIR", dir))
		})
	}
	for kind, make := range map[string]func(path string) error{
		"folder":        func(path string) error { return os.Mkdir(path, 0o755) },
		"pipe":          func(path string) error { return syscall.Mkfifo(path, 0o644) },
		"dangling link": func(path string) error { return os.Symlink("nowhere", path) },
		"link loop":     func(path string) error { return os.Symlink(filepath.Base(path), path) },
		"device":        func(path string) error { return os.Symlink("/dev/null", path) },
	} {
		for _, place := range []string{
			"edges/gene__more__gene.arrow", "edges/gene__more__gene.tsv.gz", "nodes/gene.tsv",
			"edges", "nodes",
		} {
			t.Run(kind+" in the place of "+place, func(t *testing.T) {
				if kind == "folder" && !strings.Contains(place, "/") {
					t.Skip("they are folders")
				}
				dir := t.TempDir()
				// also as the graph that would be found instead
				for name, content := range tinyGraph() {
					for _, path := range []string{
						filepath.Join(dir, name), filepath.Join(dir, "graph", name),
					} {
						err := errors.Join(os.MkdirAll(filepath.Dir(path), 0o755),
							os.WriteFile(path, []byte(content), 0o644))
						if err != nil {
							t.Fatal(err)
						}
					}
				}
				path := filepath.Join(dir, place)
				if err := errors.Join(os.RemoveAll(path), make(path)); err != nil {
					t.Fatal(err)
				}
				_, _, err := Read(dir)
				if err == nil || !strings.Contains(err.Error(), path) || fault.HintOf(err) == "" {
					t.Errorf("got %v with hint %q, expected an error that names %s", err,
						fault.HintOf(err), path)
				}
			})
		}
	}
	t.Run("no folder", func(t *testing.T) {
		dir := filepath.Join(t.TempDir(), "none")
		_, _, err := Read(dir)
		want := "read graph " + dir + ": found no such folder"
		if err == nil || err.Error() != want || fault.KindOf(err) != fault.Failed {
			t.Errorf("got %v, want %s", err, want)
		}
	})
	t.Run("too many positions", func(t *testing.T) {
		if err := checkPositions("g", maxPositions); err != nil {
			t.Error(err)
		}
		testrun.CheckInputError(t, checkPositions("g", maxPositions+1),
			"read graph g: found 2,147,483,648 nodes and edges, expected at most 2,147,483,647, "+
				"as positions are stored in 32 bits")
	})
}

// TestFirstErrorByName reads many bad files at once: the error does not depend on timing.
func TestFirstErrorByName(t *testing.T) {
	files := tinyGraph()
	for i := range 8 {
		files[fmt.Sprintf("edges/gene__a%d__gene.tsv", i)] = "src\tdst\n" + strings.Repeat("A\tB\n",
			1000*(8-i)) + "A\tD\n"
	}
	dir := folder(t, files)
	for range 5 {
		_, _, err := Read(dir)
		testrun.CheckInputError(t, err,
			"read edges "+dir+
				`/edges/gene__a0__gene.tsv:8002: dst "D" is not in nodes/gene, expected one of `+
				`its 3 ids`)
	}
}

// TestCountOddEdges compares the counts with those from a map.
func TestCountOddEdges(t *testing.T) {
	random := rand.New(rand.NewPCG(3, 4))
	for _, n := range []int{0, 1, 2, 63, 64, 65, 1000} {
		for _, nodes := range []int{1, 5, 300} {
			e := &ingest.Edges{
				Type: ingest.EdgeType{Source: ingest.Gene, Relation: "x", Target: ingest.Gene},
			}
			want := EdgeReport{Type: e.Type, Edges: n}
			seen := make(map[[2]uint32]bool)
			for range n {
				src, dst := uint32(random.IntN(nodes)), uint32(random.IntN(nodes))
				e.Src, e.Dst = append(e.Src, src), append(e.Dst, dst)
				if seen[[2]uint32{src, dst}] {
					want.Duplicates++
				}
				seen[[2]uint32{src, dst}] = true
				if src == dst {
					want.SelfLoops++
				}
			}
			table := &ingest.Nodes{IDs: make([]string, nodes)}
			if got := countOddEdges(e, table, table); got != want {
				t.Errorf("%d edges of %d nodes: got %v, want %v", n, nodes, got, want)
			}
		}
	}
}

var update = flag.Bool("update", false, "rewrite the golden files")

func TestWriteReadsBackEqual(t *testing.T) {
	g, _, err := Read(folder(t, tinyGraph()))
	if err != nil {
		t.Fatal(err)
	}
	empty, _, err := Read(folder(t, map[string]string{
		"nodes/gene.tsv": "id\tname\n", "edges/gene__x__gene.tsv": "src\tdst\tweight\n",
	}))
	if err != nil {
		t.Fatal(err)
	}
	for name, g := range map[string]*ingest.Graph{"tiny": g, "empty": empty} {
		t.Run(name, func(t *testing.T) {
			dir := t.TempDir()
			if err := Write(dir, g); err != nil {
				t.Fatal(err)
			}
			again, _, err := Read(dir)
			if err != nil {
				t.Fatal(err)
			}
			checkGraph(t, again, g)
			if again.Digest() != g.Digest() {
				t.Error("the digest changed")
			}
		})
	}
}

// TestWriteGolden compares the files' bytes with readable hex.
func TestWriteGolden(t *testing.T) {
	g, _, err := Read(folder(t, tinyGraph()))
	if err != nil {
		t.Fatal(err)
	}
	dir := t.TempDir()
	if err := Write(dir, g); err != nil {
		t.Fatal(err)
	}
	for _, name := range []string{"nodes/reaction.arrow", "edges/gene__physical__gene.arrow"} {
		content, err := os.ReadFile(filepath.Join(dir, name))
		if err != nil {
			t.Fatal(err)
		}
		golden := filepath.Join("testdata", filepath.Base(name)+".hex")
		if *update {
			if err := os.WriteFile(golden, []byte(hex.Dump(content)), 0o666); err != nil {
				t.Fatal(err)
			}
		}
		want, err := os.ReadFile(golden)
		if err != nil {
			t.Fatal(err)
		}
		if hex.Dump(content) != string(want) {
			t.Errorf("%s is not as in %s; if that is meant, run go test -update and review the "+
				"difference",
				name, golden)
		}
	}
}

// TestDigest compares the digest with its documentation, spelled out, and checks that every part
// changes it.
func TestDigest(t *testing.T) {
	files := map[string]string{
		"nodes/gene.tsv":            "id\tname\nA\tx\nB\t\n",
		"edges/gene__ppi__gene.tsv": "src\tdst\tw\nA\tB\t1\nB\tB\tNA\n",
	}
	read := func(files map[string]string) *ingest.Graph {
		g, _, err := Read(folder(t, files))
		if err != nil {
			t.Fatal(err)
		}
		return g
	}
	count := func(n int) string { return string([]byte{byte(n), 0, 0, 0, 0, 0, 0, 0}) }
	text := func(s string) string { return count(len(s)) + s }
	serialised := text("tcbuild graph 2") +
		count(1) + text("gene") + count(2) + text("A") + text("B") +
		count(1) + text("name") + text("utf8") + "\x01" + text("x") + "\x01" + text("") +
		count(1) + text("gene__ppi__gene") + count(2) + "\x00\x00\x00\x00\x01\x00\x00\x00" +
		"\x01\x00\x00\x00\x01\x00\x00\x00" +
		count(1) + text("w") + text("utf8") + "\x01" + text("1") + "\x01" + text("NA")
	got, want := read(files).Digest(), fmt.Sprintf("%x", sha256.Sum256([]byte(serialised)))
	if got != want {
		t.Errorf("got %s, want %s", got, want)
	}

	seen := map[string]string{read(files).Digest(): "the graph"}
	for name, change := range map[string][3]string{
		"id":            {"nodes/gene.tsv", "B\t", "C\t"},
		"text":          {"nodes/gene.tsv", "A\tx", "A\ty"},
		"column name":   {"nodes/gene.tsv", "name", "alias"},
		"target":        {"edges/gene__ppi__gene.tsv", "A\tB", "A\tA"},
		"number":        {"edges/gene__ppi__gene.tsv", "\t1", "\t2"},
		"missing value": {"edges/gene__ppi__gene.tsv", "NA", "0"},
	} {
		changed := maps.Clone(files)
		changed[change[0]] = strings.ReplaceAll(changed[change[0]], change[1], change[2])
		if name == "id" {
			changed["edges/gene__ppi__gene.tsv"] = strings.ReplaceAll(
				changed["edges/gene__ppi__gene.tsv"], "B", "C",
			)
		}
		digest := read(changed).Digest()
		if other, same := seen[digest]; same {
			t.Errorf("a changed %s has the digest of %s", name, other)
		}
		seen[digest] = name
	}
}

// TestWriteRefuses writes what Read does not accept.
func TestWriteRefuses(t *testing.T) {
	graph := func(id, relation string) *ingest.Graph {
		genes, _ := ingest.NewNodes(ingest.Gene, []string{"A", id}, nil)
		return &ingest.Graph{
			Genes: genes,
			Edges: []*ingest.Edges{
				{Type: ingest.EdgeType{
					Source: ingest.Gene, Relation: relation, Target: ingest.Gene,
				}},
			},
		}
	}
	testrun.CheckInputError(t, Write(t.TempDir(), graph("B ", "x")),
		`write graph: gene 1: id "B " begins or ends with a space`)
	testrun.CheckInputError(t, Write(t.TempDir(), graph("B", "my net")),
		`write graph: edge type gene__my net__gene: its relation is "my net", expected UTF-8 `+
			`text without spaces and control characters`)
	if err := Write(t.TempDir(), graph("B", "x")); err != nil {
		t.Error(err)
	}
}

func TestWriteTwiceGivesTheSameBytes(t *testing.T) {
	g, _, err := Read(folder(t, tinyGraph()))
	if err != nil {
		t.Fatal(err)
	}
	var folders [2]map[string][]byte
	for i := range folders {
		dir := t.TempDir()
		if err := Write(dir, g); err != nil {
			t.Fatal(err)
		}
		folders[i] = make(map[string][]byte)
		paths, _ := filepath.Glob(filepath.Join(dir, "*", "*"))
		for _, path := range paths {
			content, err := os.ReadFile(path)
			if err != nil {
				t.Fatal(err)
			}
			folders[i][filepath.Base(path)] = content
		}
	}
	if !maps.EqualFunc(folders[0], folders[1], bytes.Equal) || len(folders[0]) != 7 {
		t.Errorf("files %v differ", slices.Sorted(maps.Keys(folders[0])))
	}
}
