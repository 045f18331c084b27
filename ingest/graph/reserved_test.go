package graph

import (
	"errors"
	"fmt"
	"path/filepath"
	"strings"
	"testing"

	"github.com/apache/arrow/go/v17/arrow"

	"tcbuild/ingest"
	"tcbuild/ingest/table/arrowfile"
	"tcbuild/internal/testing/testrun"
)

// A graph whose headers write the reserved names in another way is the same graph.
func TestReservedNamesInAnyCase(t *testing.T) {
	headers := map[string][2]string{
		"nodes/gene.tsv":                      {"id\tname\taliases", "ID\tName\tALIASES"},
		"nodes/reaction.tsv":                  {"id\tgpr\tsubsystem\tName", "Id\tGPR\tSub_System\tName"},
		"nodes/metabolite.tsv":                {"id\tNAME", "_id\tNAME"},
		"names/gene.tsv":                      {"id\tname\taliases", "id\tNAME\tAliases"},
		"edges/gene__physical__gene.tsv":      {"src\tdst\tID", "SRC\tDst\tID"},
		"edges/gene__genetic__gene.tsv":       {"src_index\tdst_index", "Src-Index\tdst index"},
		"edges/gene__gpr__reaction.tsv":       {"src_index\tdst_index", "SrcIndex\tDST_INDEX"},
		"edges/reaction__rmr__metabolite.tsv": {"src\tdst\tstoichiometry", "Src\tDst\tStoichiometry"},
	}
	rows := map[string]string{
		"nodes/gene.tsv":                      "A\tTFC3\tx|y\nB\t\t\n",
		"nodes/reaction.tsv":                  "r\tA or B\ts\tn\n",
		"nodes/metabolite.tsv":                "m\tn\n",
		"names/gene.tsv":                      "C\tz\tv|w\n",
		"edges/gene__physical__gene.tsv":      "A\tB\te\n",
		"edges/gene__genetic__gene.tsv":       "1\t0\n",
		"edges/gene__gpr__reaction.tsv":       "1\t0\n",
		"edges/reaction__rmr__metabolite.tsv": "r\tm\t-1\n",
	}
	var digests []string
	for spelling := range 2 {
		files := make(map[string]string)
		for name, header := range headers {
			files[name] = header[spelling] + "\n" + rows[name]
		}
		g, _, err := Read(folder(t, files))
		if err != nil {
			t.Fatal(err)
		}
		if names := g.OtherGenes.Texts("name"); len(names) != 1 || names[0][0] != "z" {
			t.Errorf("other genes are called %v", names)
		}
		digests = append(digests, g.Digest())
	}
	if digests[0] != digests[1] {
		t.Errorf("digests are %s", strings.Join(digests, " and "))
	}
}

func TestReservedNameTwice(t *testing.T) {
	const physical, rmr = "edges/gene__physical__gene.tsv", "edges/reaction__rmr__metabolite.tsv"
	for _, test := range []struct{ file, header, what, want string }{
		{"nodes/gene.tsv", "id\tID", "nodes", `"id" and "ID", expected one column id`},
		{"nodes/gene.tsv", "id\tNAME\tname", "nodes", `"NAME" and "name", expected one column name`},
		{"nodes/gene.tsv", "id\tAliases\taliases", "nodes",
			`"Aliases" and "aliases", expected one column aliases`},
		{"nodes/reaction.csv", "id,GPR,gpr", "nodes", `"GPR" and "gpr", expected one column gpr`},
		{physical, "src\tdst\tDST", "edges", `"dst" and "DST", expected one column dst`},
		{physical, "src_index\tsrc index\tdst_index", "edges",
			`"src_index" and "src index", expected one column src_index`},
		{rmr, "src\tdst\tstoichiometry\tStoichiometry", "edges",
			`"stoichiometry" and "Stoichiometry", expected one column stoichiometry`},
	} {
		files := tinyGraph()
		files[test.file] = test.header + "\n"
		dir := folder(t, files)
		_, _, err := Read(dir)
		testrun.CheckInputError(t, err,
			"read "+test.what+" "+dir+"/"+test.file+": found columns "+test.want)
	}
}

// A graph stores no values whose meaning an extension type has.
func TestExtensionTypes(t *testing.T) {
	for name, want := range map[string]string{
		"id":   "expected text or integers",
		"when": "expected a type that a graph can store",
	} {
		dir := folder(t, map[string]string{"nodes": "folder"})
		path := filepath.Join(dir, "nodes", "gene.arrow")
		values := ingest.TextColumn(name, []string{"A"}).Values
		fields := []arrow.Field{{Name: name, Type: values.DataType(), Metadata: arrow.NewMetadata(
			[]string{"ARROW:extension:name"}, []string{"arrow.json"})}}
		arrays := []arrow.Array{values}
		if name != "id" {
			fields = append(fields, arrow.Field{Name: "id", Type: arrow.BinaryTypes.String})
			arrays = append(arrays, values)
		}
		w, err := arrowfile.Create(path, fields)
		if err == nil {
			err = errors.Join(w.Write(arrays...), w.Close())
		}
		if err != nil {
			t.Fatal(err)
		}
		_, _, err = Read(dir)
		testrun.CheckInputError(t, err, fmt.Sprintf(
			"read nodes %s: column %q: found type extension<arrow.json>, %s", path, name, want))
	}
}
