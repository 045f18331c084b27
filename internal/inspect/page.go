// Package inspect counts what a cell graph or a perturbation set holds, and presents it as tables
// and plots.
package inspect

import (
	"bytes"
	_ "embed"
	"fmt"
	"html/template"
	"io"
	"strconv"
	"strings"
	"text/tabwriter"

	"github.com/dustin/go-humanize"

	"tcbuild/fault"
	"tcbuild/internal/chart"
)

// Page is a summary for people to read.
type Page struct {
	Title  string
	Tables []Table
	Plots  []Plot
}

// Table is a table of a page; all rows are as long as the header.
type Table struct {
	Title  string
	Header []string
	Rows   [][]string
}

// Plot is a bar chart of a page.
type Plot struct {
	Title string
	X, Y  string // of the axes
	Bars  []chart.Bar
}

// Print writes the tables as text, one below the other.
func (p *Page) Print(w io.Writer) error {
	fmt.Fprintln(w, p.Title)
	for _, table := range p.Tables {
		fmt.Fprintf(w, "\n%s\n", table.Title)
		out := tabwriter.NewWriter(w, 0, 0, 2, ' ', 0)
		for _, row := range append([][]string{table.Header}, table.Rows...) {
			cells := make([]string, len(row))
			for i, text := range row {
				cells[i] = cell(text)
			}
			fmt.Fprintln(out, "  "+strings.Join(cells, "\t"))
		}
		if err := out.Flush(); err != nil {
			return err
		}
	}
	return nil
}

// cell formats a text for a table: text that would break the table, or is too long, is quoted.
func cell(text string) string {
	const longest = 400 // bytes
	if len(text) > longest || strings.ContainsAny(text, "\t\n") {
		return fault.Quote(text)
	}
	return text
}

//go:embed page.html.tmpl
var pageText string

var pageTemplate = template.Must(template.New("page").Parse(pageText))

// HTML returns the tables and plots as one self-contained page, also well-formed as XML.
func (p *Page) HTML() ([]byte, error) {
	const width, height = 360, 220
	type figure struct {
		Title string
		SVG   template.HTML
	}
	var figures []figure
	for _, plot := range p.Plots {
		if len(plot.Bars) == 0 {
			continue
		}
		svg, err := chart.SVG(chart.Bars(plot.X, plot.Y, plot.Bars, width), width, height)
		if err != nil {
			return nil, fmt.Errorf("draw %s: %w", plot.Title, err)
		}
		figures = append(figures, figure{plot.Title, svg})
	}
	var page bytes.Buffer
	err := pageTemplate.Execute(&page, struct {
		*Page
		Figures []figure
	}{p, figures})
	return page.Bytes(), err
}

// number formats a measured number with four significant digits.
func number(x float64) string { return strconv.FormatFloat(x, 'g', 4, 64) }

// count formats a number with thousands separators.
func count(n int) string { return humanize.Comma(int64(n)) }
