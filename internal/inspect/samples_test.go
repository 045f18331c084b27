package inspect

import (
	"bytes"
	"fmt"
	"strings"
	"testing"

	"tcbuild/ingest"
	"tcbuild/internal/page"
	"tcbuild/internal/testing/pagetest"
)

// A page tells what is known of phenotypes, draws some of many, and shows names as they are
// written, whatever a browser or terminal would make of them.
func TestPage(t *testing.T) {
	const hostile = "<script>alert(\"&\")</script>\x1b[2J\u202e"
	columns := ingest.Columns{
		Phenotypes: []ingest.Phenotype{{Name: "titer", Unit: "<mg/l>", Description: "of \"β-carotene\""}, {Name: "titer_se", StatisticOf: "titer"}, {Name: hostile}},
		Attributes: []ingest.Attribute{{Name: hostile, Type: ingest.TextAttribute}},
	}
	for i := range mostPlots {
		columns.Phenotypes = append(columns.Phenotypes, ingest.Phenotype{Name: fmt.Sprint("p", i)})
	}
	genes, _ := ingest.NewNodes(ingest.Gene, []string{"A", "B"}, nil)
	c := newSampleCounter(genes, columns)
	for i := range 4 {
		phenotypes := make([]float64, len(columns.Phenotypes))
		for k := range phenotypes {
			phenotypes[k] = float64(i*k) / 3
		}
		c.add([]uint32{0}, phenotypes, []ingest.Value{{Text: []byte(hostile)}})
	}
	summary := c.summary()
	p := &page.Page{Title: hostile, Sections: summary.tables()}
	html, err := p.HTML("test")
	if err != nil {
		t.Fatal(err)
	}
	for _, part := range []string{"<td class=\"text\">&lt;mg/l&gt;</td>", ">&lt;mg/l&gt;</p>", "of &#34;β-carotene&#34;", "<th scope=\"col\" class=\"text\">statistic of</th>",
		"The first 100 phenotypes have a plot, 3 more have none.", "&lt;script&gt;alert("} {
		if !bytes.Contains(html, []byte(part)) {
			t.Errorf("the page lacks %s", part)
		}
	}
	if bytes.Contains(html, []byte("<script")) || bytes.ContainsAny(html, "\x1b\u202e") {
		t.Error("the page has a name that a browser obeys")
	}
	if found := pagetest.Check(t, string(html)); found != mostPlots+2 {
		t.Errorf("found %d plots, expected %d of phenotypes, one of sizes, one of genes", found, mostPlots)
	}
	var text bytes.Buffer
	if err := p.Print(&text); err != nil || strings.ContainsAny(text.String(), "\x1b\u202e") || !strings.Contains(text.String(), `Values of "<script>`) {
		t.Errorf("found %q, %v", text.String(), err)
	}
}
