// Package page presents results to people: as a self-contained HTML page with tables and plots, and
// as text for a terminal. All pages share one template and one style.
package page

import (
	"bytes"
	_ "embed"
	"fmt"
	"html/template"
	"io"
	"slices"
	"strconv"
	"strings"
	"unicode/utf8"

	"tcbuild/fault"
)

// Page is a result for people to read.
type Page struct {
	Title    string
	Lead     []string // paragraphs below the title
	Sections []Section
}

// Section is a part of a page: a table, plots, or both.
type Section struct {
	Title  string
	Text   string     // below the title, only on HTML pages
	Header []string   // may be empty
	Rows   [][]string // all as long as the header, if there is one
	// Sketches are a last column of text, in place of plots; "" or one per row
	Sketches []string
	Plots    []Plot // below the table, only on HTML pages
	Note     string // below the plots
}

// Add adds a row of texts and whole numbers.
func (s *Section) Add(cells ...any) {
	row := make([]string, len(cells))
	for i, cell := range cells {
		switch cell := cell.(type) {
		case int:
			row[i] = Count(cell)
		case string:
			row[i] = cell
		}
	}
	s.Rows = append(s.Rows, row)
}

// WithoutEmptyColumns leaves out the columns in which no row has a text.
func (s Section) WithoutEmptyColumns() Section {
	for column := len(s.Header) - 1; column >= 0; column-- {
		if !slices.ContainsFunc(s.Rows, func(row []string) bool { return row[column] != "" }) {
			s.Header = slices.Delete(s.Header, column, column+1)
			for i, row := range s.Rows {
				s.Rows[i] = slices.Delete(row, column, column+1)
			}
		}
	}
	return s
}

// Print writes the tables as text, one below the other.
func (p *Page) Print(w io.Writer) error {
	lines := append([]string{Cell(p.Title)}, p.Lead...)
	for _, section := range p.Sections {
		if len(section.Header) == 0 && len(section.Rows) == 0 {
			continue
		}
		lines = append(lines, "")
		if section.Title != "" {
			lines = append(lines, Cell(section.Title))
		}
		lines = append(lines, section.lines()...)
	}
	_, err := io.WriteString(w, strings.Join(lines, "\n")+"\n")
	return err
}

// lines are the rows with their columns aligned, numbers at their ends.
func (s *Section) lines() (lines []string) {
	rows := s.Rows
	if s.Header != nil {
		rows = append([][]string{s.Header}, rows...)
	}
	var widths []int
	for _, row := range rows {
		for i, text := range row {
			if i == len(widths) {
				widths = append(widths, 0)
			}
			widths[i] = max(widths[i], utf8.RuneCountInString(Cell(text)))
		}
	}
	classes := s.Classes()
	for i, row := range rows {
		line := ""
		for k, text := range row {
			width := widths[k]
			if classes[k] == "text" {
				width = -width
			}
			line += fmt.Sprintf("  %*s", width, Cell(text))
		}
		switch {
		case s.Sketches == nil:
		case i == 0:
			line += "  histogram"
		default:
			line += "  " + s.Sketches[i-1]
		}
		lines = append(lines, strings.TrimRight(line, " "))
	}
	return lines
}

// Cell is a text for a page: text that would break it, or is too long, is quoted.
func Cell(text string) string {
	const longest = 400 // bytes
	breaks := func(r rune) bool { return !strconv.IsPrint(r) }
	if len(text) > longest || strings.ContainsFunc(text, breaks) {
		return fault.Quote(text)
	}
	return text
}

//go:embed page.html.tmpl
var pageText string

var pageTemplate = template.Must(template.New("page").
	Funcs(template.FuncMap{"cell": Cell, "breakable": breakable}).Parse(pageText))

// breakable is a text in whose names, such as gene__physical__gene, a line may end between the
// parts.
func breakable(text string) template.HTML {
	escaped := template.HTMLEscapeString(Cell(text))
	return template.HTML(strings.ReplaceAll(escaped, "__", "__<wbr/>"))
}

// Begin returns the beginning of every page of a kind, by which tcbuild recognizes its own pages.
// The kind must not need escaping.
func Begin(kind string) string {
	return fmt.Sprintf(`<!DOCTYPE html>
<html lang="en">
<head>
<meta charset="utf-8"/>
<meta name="generator" content="%s"/>
`, kind)
}

// HTML returns the page as one file that needs no other, also well-formed as XML.
func (p *Page) HTML(kind string) ([]byte, error) {
	page := bytes.NewBufferString(Begin(kind))
	err := pageTemplate.Execute(page, p)
	return page.Bytes(), err
}

// Classes are, of each column, number if its values are measured, which are aligned at their ends,
// else text.
func (s *Section) Classes() []string {
	classes := slices.Repeat([]string{"number"}, len(s.Header))
	for _, row := range s.Rows {
		for column, text := range row {
			if column == len(classes) { // there is no header
				classes = append(classes, "number")
			}
			if len(row) == 1 || !isMeasured(text) {
				classes[column] = "text"
			}
		}
	}
	return classes
}

// isMeasured reports whether a text is a number, perhaps with a unit, or empty.
func isMeasured(text string) bool {
	digits := strings.TrimLeft(text, "+-")
	return digits == "" || '0' <= digits[0] && digits[0] <= '9' && len(digits) <= 30
}
