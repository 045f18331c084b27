// Package docs carries the pages of this folder in the program, for those who have no checkout.
package docs

import (
	"embed"
	"slices"
	"strings"
)

//go:embed *.md
var files embed.FS

// Page is a file of this folder.
type Page struct {
	Name  string // of the file, in lower case and without its ending, such as input
	Title string // the text of its first line
	Text  string
}

// Pages returns the pages by name.
func Pages() []Page {
	entries, err := files.ReadDir(".")
	if err != nil {
		panic(err) // the embedded folder is always readable
	}
	pages := make([]Page, len(entries))
	for i, entry := range entries {
		text, err := files.ReadFile(entry.Name())
		if err != nil {
			panic(err)
		}
		title, _, _ := strings.Cut(string(text), "\n")
		pages[i] = Page{Name: strings.ToLower(strings.TrimSuffix(entry.Name(), ".md")), Title: strings.TrimPrefix(title, "# "), Text: string(text)}
	}
	slices.SortFunc(pages, func(a, b Page) int { return strings.Compare(a.Name, b.Name) })
	return pages
}
