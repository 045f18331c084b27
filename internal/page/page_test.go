package page

import (
	"bytes"
	"fmt"
	"io"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"tcbuild/internal/testing/pagetest"
)

// hostile are names that a browser would obey.
var hostile = []string{"<script>alert(1)</script>", `"><img onerror=alert(1) src=x>`, "</title><b>&\"'", "\x1b[2J\u202e", "]]>-->", strings.Repeat("x<", 300)}

func check(t *testing.T, page Page) string {
	t.Helper()
	html, err := page.HTML("test")
	if err != nil {
		t.Fatal(err)
	}
	pagetest.Check(t, string(html))
	return string(html)
}

// Names from data stay text, wherever they stand.
func TestHostileNames(t *testing.T) {
	for _, name := range hostile {
		page := Page{Title: name, Lead: []string{name}, Sections: []Section{{
			Title: name, Text: name, Note: name, Header: []string{name, name}, Rows: [][]string{{name, name}},
			Plots: []Plot{
				{Title: name, X: name, Counted: name, Columns: []Column{{name, 1}}},
				{Title: name, X: name, Counted: name, Bins: []Bin{{0, 1, 2}}},
				{Title: name, X: name, Counted: name, Placed: &Drawing{Text: name, XTicks: []Tick{{0, name}}, Marks: []Mark{{Label: name, Hover: name}}}},
			},
		}}}
		if strings.ContainsAny(name, "\x1b") { // the lead and notes are tcbuild's own words
			page.Lead, page.Sections[0].Text, page.Sections[0].Note = nil, "", ""
		}
		html := strings.ReplaceAll(check(t, page), "onerror=", "")
		if strings.Contains(html, "<img") || strings.Contains(html, "<b>") || strings.ContainsAny(html, "\x1b\u202e") {
			t.Errorf("%q: a browser obeys it", name)
		}
		var text bytes.Buffer
		if err := page.Print(&text); err != nil || strings.ContainsAny(text.String(), "\x1b\u202e") {
			t.Errorf("found %q, %v", text.String(), err)
		}
	}
}

func TestNumbers(t *testing.T) {
	for _, c := range []struct{ got, want string }{
		{Short(2.5e6), "2.5M"}, {Short(12532.41), "12.5k"}, {Short(999.9), "1k"}, {Short(500), "500"}, {Short(0), "0"},
		{Plain(0.1 + 0.2), "0.3"}, {Plain(-1500), "-1500"}, {Plain(1e-7), "1e-07"}, {Plain(2.5e9), "2.5e+09"},
	} {
		if c.got != c.want {
			t.Errorf("found %s, expected %s", c.got, c.want)
		}
	}
}

// Measured values are aligned at their ends; ids that begin with digits, in a list, are not.
func TestClass(t *testing.T) {
	s := Section{Rows: [][]string{{"1", "-2.5 ms ±3%", "", "x"}, {"20", "+3", "7", "4"}}}
	list := Section{Rows: [][]string{{"328 (number 0)"}, {"329 (number 1)"}}}
	if found := append(s.Classes(), list.Classes()...); !slices.Equal(found, []string{"number", "number", "number", "text", "text"}) {
		t.Errorf("found %v", found)
	}
}

// Charts of any size fit, and as many bars have a label as there is room for.
func TestColumns(t *testing.T) {
	for _, n := range []int{1, 2, 10, 50, 1000} {
		var columns []Column
		for i := range n {
			columns = append(columns, Column{Label: fmt.Sprintf("n%d", i*i), Value: i * 1500})
		}
		plot := Plot{Title: "Bars", X: "x", Counted: "y", Columns: columns}
		html := check(t, Page{Title: "x", Sections: []Section{{Plots: []Plot{plot}}}})
		if found := strings.Count(html, ">n"); found == 0 || n <= 10 && found < n {
			t.Errorf("%d bars have %d labels", n, found)
		}
		if n == 10 && (!strings.Contains(html, ">10k<") || !strings.Contains(html, "<title>n81: 13,500 y</title>")) {
			t.Errorf("labels are missing:\n%s", html)
		}
	}
}

// Histograms of any range fit; bins too narrow for labels of their own have their range as label.
func TestHistogram(t *testing.T) {
	for _, c := range []struct{ first, width float64 }{
		{0, 1}, {0.25, 1.0 / 32}, {-1e9, 2.5e8}, {0.37, 1e-17}, {0, 5e-324}, {1000, 1e-12}, {-8e307, 1.6e307}, {-1e308, 1e308}, {-3, 0.5}, {1e6, 1 << 17}, {1e-5, 1e-7},
	} {
		for _, n := range []int{1, 2, 10} {
			var bins []Bin
			for i := range n {
				bins = append(bins, Bin{From: min(c.first+float64(i)*c.width, 1.7e308), To: min(c.first+float64(i+1)*c.width, 1.7e308), Value: 1000 * i})
			}
			plot := Plot{Title: "Histogram", X: "<x> & y", Counted: "samples", Bins: bins}
			check(t, Page{Title: fmt.Sprint(c), Sections: []Section{{Plots: []Plot{plot}}}})
		}
	}
}

// A table of as many rows as a set may have columns is written in time that grows with the rows.
func TestManyRows(t *testing.T) {
	section := Section{Header: make([]string, 3)}
	for i := range 10_000 {
		section.Rows = append(section.Rows, slices.Repeat([]string{strconv.Itoa(i)}, 3))
	}
	p, begun := Page{Sections: []Section{section}}, time.Now()
	if err := p.Print(io.Discard); err != nil {
		t.Fatal(err)
	}
	if _, err := p.HTML("test"); err != nil {
		t.Fatal(err)
	}
	if took := time.Since(begun); took > 10*time.Second {
		t.Errorf("the page took %v", took)
	}
}
