// Package pagetest checks HTML pages.
package pagetest

import (
	"encoding/xml"
	"errors"
	"io"
	"regexp"
	"slices"
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

// Check checks that a page is well-formed, needs no other file, and tells people who cannot see its
// plots and tables what they are. It returns the number of plots.
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
	for _, plot := range root.all("svg") {
		var names []string
		for _, child := range plot.Children[:min(2, len(plot.Children))] {
			names = append(names, child.XMLName.Local)
			if strings.TrimSpace(child.Text) == "" {
				t.Errorf("a plot has an empty %s", child.XMLName.Local)
			}
		}
		if plot.attr("role") != "img" || !slices.Equal(names, []string{"title", "desc"}) {
			t.Errorf("a plot begins with %s, expected an image with title and desc", names)
		}
		if len(plot.all("title")) == 1 {
			t.Errorf("%s: no value is shown on hover", plot.Children[0].Text)
		}
	}
	return len(root.all("svg"))
}
