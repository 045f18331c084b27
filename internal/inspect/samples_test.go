package inspect

import (
	"bytes"
	"fmt"
	"math"
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
	html, err := p.HTML()
	if err != nil {
		t.Fatal(err)
	}
	for _, part := range []string{"<td class=\"text\">&lt;mg/l&gt;</td>", "&lt;mg/l&gt;</text>", "of &#34;β-carotene&#34;", "<th scope=\"col\" class=\"text\">statistic of</th>",
		"None missing: every sample has a value of every phenotype.",
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

// What is missing is said in words, and listed with the most frequent first, however many
// phenotypes there are.
func TestMissing(t *testing.T) {
	var columns ingest.Columns
	for i := range 33 {
		columns.Phenotypes = append(columns.Phenotypes, ingest.Phenotype{Name: fmt.Sprintf("condition %d | SC + DMSO [1%%] | time [72 h]", i)})
	}
	c := newSampleCounter(&ingest.Nodes{}, columns)
	for sample := range 40 {
		phenotypes := make([]float64, 33)
		for i := range phenotypes {
			if sample < i {
				phenotypes[i] = math.NaN()
			}
		}
		c.add(nil, phenotypes, nil)
	}
	s := c.summary()
	section := s.missing()
	if want := "Of 33 phenotypes, 32 are missing in some of the 40 samples. Every sample has the others."; section.Text != want {
		t.Errorf("found %q, expected %q", section.Text, want)
	}
	if first := section.Meters[0]; len(section.Meters) != 32 || first.Name != columns.Phenotypes[32].Name || first.Text != "32 (80.0 %)" || first.Percent != 80 {
		t.Errorf("found %d, first %+v", len(section.Meters), section.Meters[0])
	}
}
