package graph

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"tcbuild/fault"
	"tcbuild/ingest/table"
	"tcbuild/internal/testing/testrun"
)

func TestReadErrors(t *testing.T) {
	const physical = "edges/gene__physical__gene.tsv"
	for _, test := range []struct {
		name, file, content string // what is added to or replaced in tinyGraph
		want                string // DIR is the folder
	}{
		{
			name:    "two formats",
			file:    "edges/gene__physical__gene.arrow",
			content: "x",
			want: "read graph DIR: found both \"edges/gene__physical__gene.arrow\" and " +
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
				table.Expected,
		},
		{
			name: "edges of a further type in a format that is not read",
			file: "edges/protein__x__protein.ods",
			want: "read graph DIR: found \"edges/protein__x__protein.ods\", expected a table " +
				"with ending " + table.Expected,
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
			name:    "leading space in an id",
			file:    "nodes/gene.tsv",
			content: "id\nA\n B\n",
			want:    `read nodes DIR/nodes/gene.tsv:3: id " B" begins or ends with a space`,
		},
		{
			name:    "trailing space in an id",
			file:    "nodes/reaction.csv",
			content: "id\n\"r1\"\nr2\u00a0\n",
			want: `read nodes DIR/nodes/reaction.csv:3: id "r2\u00a0" begins or ends with a ` +
				`space`,
		},
		{
			name:    "id in quotes inside quotes",
			file:    "nodes/gene.tsv",
			content: "id\nA\n\"\"\"B\"\"\"\n",
			want:    `read nodes DIR/nodes/gene.tsv:3: id "\"B\"" is in quotes`,
		},
		{
			name:    "id of spaces",
			file:    "nodes/metabolite.tsv",
			content: "id\nm1\n \n",
			want:    `read nodes DIR/nodes/metabolite.tsv:3: id " " begins or ends with a space`,
		},
		{
			name:    "id with a tab",
			file:    "nodes/reaction.csv",
			content: "id\nr1\n\"r\t2\"\n",
			want:    `read nodes DIR/nodes/reaction.csv:3: id "r\t2" contains a control character`,
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
				"with ending " + table.Expected,
		},
		{
			name:    "zip",
			file:    "edges/gene__x__gene.zip",
			content: "x",
			want: "read graph DIR: found \"edges/gene__x__gene.zip\", expected a table with " +
				"ending " + table.Expected,
		},
		{
			name:    "copy alone",
			file:    "edges/gene__x__gene.tsv.bak",
			content: "x",
			want: "read graph DIR: found \"edges/gene__x__gene.tsv.bak\", expected a table " +
				"with ending " + table.Expected,
		},
		{
			name:    "no ending",
			file:    "edges/gene__x__gene",
			content: "folder",
			want: "read graph DIR: found \"edges/gene__x__gene\", expected a table with ending " +
				table.Expected,
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
