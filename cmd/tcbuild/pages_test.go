package main

import (
	"path/filepath"
	"strings"
	"testing"

	"tcbuild/internal/testing/pagetest"
)

// Names of genes, phenotypes and files are text on every page, whatever a browser makes of them.
func TestPagesOfHostileNames(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	const script, image = "<script>alert(1)</script>", `"><img onerror=alert(1)>`
	const quotedImage = `"""><img onerror=alert(1)>"` // in a table
	const samples = image + ".tsv"
	files := map[string]string{
		"a/graph/nodes/gene.tsv":                 "id\t" + script + "\nYA\t1\n" + script + "\t2\n" + quotedImage + "\t3\n",
		"a/graph/edges/gene__physical__gene.tsv": "src\tdst\n" + script + "\tYA\n" + quotedImage + "\tYA\n" + script + "\t" + script + "\n",
		samples: "sample_id\tgenes\t" + script + "\t" + quotedImage + "\tmedium\n" + script + "\t" + script + "\t1\t2\t<b>\n" +
			quotedImage + "\tYA\t\t3\t" + script + "\ns2\t" + quotedImage + "\t4\t3\t" + script + "\n",
	}
	files["b/graph/nodes/gene.tsv"] = files["a/graph/nodes/gene.tsv"]
	files["b/graph/edges/gene__physical__gene.tsv"] = "src\tdst\nYA\t" + script + "\n"
	writeFiles(t, dir, files)
	for _, side := range []string{"a", "b"} {
		must(t, dir, "dataset", "--mode", "indices", "--graph", side+"/graph", "--perturbations", samples, "--out", side+"/set")
	}
	for _, c := range []struct {
		args  []string
		plots int
		names []string
	}{
		{[]string{"inspect", "a/set"}, 4, []string{script, image}},
	} {
		page := filepath.Join(dir, c.args[0]+".html")
		execute(t, dir, with(c.args, "--html", page)...)
		text := read(t, page)
		if plots := pagetest.Check(t, text); plots != c.plots {
			t.Errorf("%v: found %d plots, expected %d", c.args, plots, c.plots)
		}
		for _, name := range c.names {
			if !strings.Contains(text, strings.NewReplacer("<", "&lt;", ">", "&gt;", `"`, "&#34;").Replace(name)) {
				t.Errorf("%v: the page lacks %s", c.args, name)
			}
		}
	}
	for name, args := range map[string][]string{"dataset": {"inspect", "a/set"}} {
		t.Run("axe "+name, func(t *testing.T) {
			page := filepath.Join(dir, "axe-"+name+".html")
			execute(t, dir, with(args, "--html", page)...)
			pagetest.Axe(t, read(t, page))
		})
	}
	execute(t, dir, "inspect", "a/set", "--html", "nowhere/page.html").failed(t, "write nowhere/page.html: no such file or directory")
	execute(t, dir, "inspect", "a/set", "--html", "a").failed(t, "tcbuild: write a: found a folder, expected a file, or none")
}
