// Package pagetest checks HTML pages.
package pagetest

import (
	"encoding/xml"
	"errors"
	"fmt"
	"io"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"
)

// element is an element of a page.
type element struct {
	XMLName  xml.Name
	Attrs    []xml.Attr `xml:",any,attr"`
	Text     string     `xml:",chardata"`
	Children []element  `xml:",any"`
}

func (e *element) attr(name string) string {
	for _, attr := range e.Attrs {
		if attr.Name.Local == name {
			return attr.Value
		}
	}
	return ""
}

// all returns the elements of a name, or all if it is empty.
func (e *element) all(name string) (found []*element) {
	if name == "" || e.XMLName.Local == name {
		found = append(found, e)
	}
	for i := range e.Children {
		found = append(found, e.Children[i].all(name)...)
	}
	return found
}

func (e *element) number(name string) float64 {
	value, err := strconv.ParseFloat(e.attr(name), 64)
	if err != nil {
		return -1e9
	}
	return value
}

// Check checks that a page is well-formed, needs no other file, fits narrow screens and both colour
// schemes, and tells people who cannot see its plots and tables what they are. It returns the
// number of plots; one that is drawn for two widths counts once.
func Check(t *testing.T, page string) (plots int) {
	t.Helper()
	decoder := xml.NewDecoder(strings.NewReader(page))
	decoder.Entity = xml.HTMLEntity
	var root element
	if err := decoder.Decode(&root); err != nil {
		t.Fatal("the page is not well-formed:", err)
	}
	if _, err := decoder.Token(); err != nil && !errors.Is(err, io.EOF) {
		t.Fatal("the page is not well-formed:", err)
	}
	if found := regexp.MustCompile(`url\(|@import|<script|<link|<img|<iframe|NaN|Inf\b`).FindString(page); found != "" {
		t.Errorf("the page has %q", found)
	}
	checkStyle(t, page)
	for _, e := range root.all("") {
		for _, attr := range e.Attrs {
			if name := attr.Name.Local; slices.Contains([]string{"src", "href", "data", "action"}, name) || strings.HasPrefix(name, "on") {
				t.Errorf("<%s %s=%q> refers to something else", e.XMLName.Local, name, attr.Value)
			}
		}
	}
	for _, name := range []string{"main", "h1"} {
		if len(root.all(name)) != 1 {
			t.Errorf("the page has %d elements %s, expected one", len(root.all(name)), name)
		}
	}
	for _, table := range root.all("table") {
		for _, row := range table.all("tr") {
			if len(row.Children) > 1 && len(row.all("th")) == 0 {
				t.Errorf("a row has no header: %+v", row)
			}
		}
	}
	if len(root.all("table")) != strings.Count(page, `role="region" tabindex="0" aria-label="`) || strings.Contains(page, `aria-label=""`) {
		t.Error("a table cannot be scrolled by keyboard, or has no name")
	}
	for _, box := range root.all("div") {
		class, drawn := box.attr("class"), 0
		for i := range box.Children {
			if box.Children[i].XMLName.Local == "svg" {
				drawn++
				checkPlot(t, &box.Children[i])
			}
		}
		if drawn > 2 || drawn == 2 && class != "wide" {
			t.Errorf("%d plots in one place", drawn)
		}
		plots += min(drawn, 1)
	}
	return plots
}

// checkStyle checks that colours are named, and each is there for light and dark.
func checkStyle(t *testing.T, page string) {
	t.Helper()
	for _, part := range []string{`<meta name="viewport" content="width=device-width, initial-scale=1"/>`, "prefers-color-scheme: dark"} {
		if !strings.Contains(page, part) {
			t.Errorf("the page lacks %s", part)
		}
	}
	defined := regexp.MustCompile(`(--[a-z0-9]+): #`).FindAllStringSubmatch(page, -1)
	count := make(map[string]int)
	for _, name := range defined {
		count[name[1]]++
	}
	for name, n := range count {
		if n != 2 {
			t.Errorf("the colour %s is defined %d times, expected for light and dark", name, n)
		}
	}
	rest := regexp.MustCompile(`--[a-z0-9]+: #[0-9a-f]+;`).ReplaceAllString(page, "")
	if found := regexp.MustCompile(`(fill|stroke|color|background): *(#|rgb|black|white)|(fill|stroke)="`).FindString(rest); found != "" {
		t.Errorf("the page has a fixed colour: %s", found)
	}
	for _, name := range regexp.MustCompile(`var\((--[a-z0-9]+)\)`).FindAllStringSubmatch(page, -1) {
		if count[name[1]] == 0 {
			t.Errorf("the colour %s is not defined", name[1])
		}
	}
}

// checkPlot checks that a plot has a name and a description, and its texts fit and do not meet.
func checkPlot(t *testing.T, plot *element) {
	t.Helper()
	var names []string
	for _, child := range plot.Children[:min(2, len(plot.Children))] {
		names = append(names, child.XMLName.Local)
		if strings.TrimSpace(child.Text) == "" {
			t.Errorf("a plot has an empty %s", child.XMLName.Local)
		}
	}
	if plot.attr("role") != "img" || !slices.Equal(names, []string{"title", "desc"}) {
		t.Fatalf("a plot begins with %s, expected an image with title and desc", names)
	}
	var size [4]float64
	if _, err := fmt.Sscan(plot.attr("viewBox"), &size[0], &size[1], &size[2], &size[3]); err != nil {
		t.Fatal(err)
	}
	if hovers := len(plot.all("title")) - 1; hovers == 0 {
		t.Errorf("%s: no value is shown on hover", plot.Children[0].Text)
	}
	type box struct {
		left, right, y float64
		words          string
	}
	var boxes []box
	for _, text := range plot.all("text") {
		const charWidth = 5.5 // on average, or less
		width := charWidth * float64(len([]rune(text.Text)))
		left := text.number("x")
		switch text.attr("text-anchor") {
		case "middle":
			left -= width / 2
		case "end":
			left -= width
		}
		b := box{left, left + width, text.number("y"), text.Text}
		if b.left < 0 || b.right > size[2] || b.y < 9 || b.y > size[3] {
			t.Errorf("%s: the text %q does not fit: from %.0f to %.0f of %.0f", plot.Children[0].Text, b.words, b.left, b.right, size[2])
		}
		for _, other := range boxes {
			if b.left < other.right && other.left < b.right && b.y < other.y+11 && other.y < b.y+11 {
				t.Errorf("%s: the texts %q and %q meet", plot.Children[0].Text, b.words, other.words)
			}
		}
		boxes = append(boxes, b)
	}
}
