// Package inspect counts what a cell graph, a perturbation set or a dataset holds, and presents it
// as tables and plots.
package inspect

import (
	"bytes"
	_ "embed"
	"fmt"
	"html/template"
	"io"
	"math"
	"slices"
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
	Lead   string // a paragraph below it; may be empty
	Tables []Table
}

// Table is a table of a page; all rows are as long as the header, which may be empty.
type Table struct {
	Title  string
	Header []string
	Rows   [][]string
	// Sketches are a last column of text, in place of plots; "" or one per row
	Sketches []string
	Plots    []Plot // below the table, on HTML pages alone
	Note     string // below the plots
}

// Plot is a bar chart of a page, or a histogram if it has Bins.
type Plot struct {
	Title string
	X, Y  string // of the axes
	Bars  []chart.Bar
	Bins  []chart.Bin
}

// withoutEmptyColumns leaves out the columns in which no row has a text.
func (t Table) withoutEmptyColumns() Table {
	for column := len(t.Header) - 1; column >= 0; column-- {
		if !slices.ContainsFunc(t.Rows, func(row []string) bool { return row[column] != "" }) {
			t.Header = slices.Delete(t.Header, column, column+1)
			for i, row := range t.Rows {
				t.Rows[i] = slices.Delete(row, column, column+1)
			}
		}
	}
	return t
}

// Print writes the tables as text, one below the other.
func (p *Page) Print(w io.Writer) error {
	fmt.Fprintln(w, cell(p.Title))
	if p.Lead != "" {
		fmt.Fprintln(w, p.Lead)
	}
	for _, table := range p.Tables {
		fmt.Fprintf(w, "\n%s", cell(table.Title))
		if table.Title != "" {
			fmt.Fprintln(w)
		}
		rows := table.Rows
		if table.Header != nil {
			rows = append([][]string{table.Header}, rows...)
		}
		out := tabwriter.NewWriter(w, 0, 0, 2, ' ', 0)
		for i, row := range rows {
			var cells []string
			for _, text := range row {
				cells = append(cells, cell(text))
			}
			switch {
			case table.Sketches == nil:
			case i == 0:
				cells = append(cells, "histogram")
			default:
				cells = append(cells, table.Sketches[i-1])
			}
			fmt.Fprintln(out, "  "+strings.Join(cells, "\t"))
		}
		if err := out.Flush(); err != nil {
			return err
		}
	}
	return nil
}

// cell is a text for a table: text that would break the table, or is too long, is quoted.
func cell(text string) string {
	const longest = 400 // bytes
	if len(text) > longest || strings.ContainsFunc(text, func(r rune) bool { return !strconv.IsPrint(r) }) {
		return fault.Quote(text)
	}
	return text
}

//go:embed page.html.tmpl
var pageText string

var pageTemplate = template.Must(template.New("page").Funcs(template.FuncMap{"cell": cell}).Parse(pageText))

// HTML returns the tables and plots as one self-contained page, also well-formed as XML.
func (p *Page) HTML() ([]byte, error) {
	var page bytes.Buffer
	err := pageTemplate.Execute(&page, p)
	return page.Bytes(), err
}

// SVG draws the plot, unless it has nothing to draw.
func (p Plot) SVG() (template.HTML, error) {
	const width, height = 360, 220
	x := cell(p.X)
	switch {
	case len(p.Bars) > 0:
		return chart.SVG(chart.Bars(x, p.Y, p.Bars, width), width, height)
	case len(p.Bins) > 0 && p.Bins[len(p.Bins)-1].To-p.Bins[0].From <= math.MaxFloat64:
		return chart.SVG(chart.Histogram(x, p.Y, p.Bins), width, height)
	}
	return "", nil
}

// IsNumeric reports whether a column has numbers, which are aligned at their ends.
func (t Table) IsNumeric(column int) bool {
	return !slices.ContainsFunc(t.Rows, func(row []string) bool { return strings.Trim(row[column], "0123456789,.-+e%") != "" })
}

// percent is a part of a whole, in percent.
func percent(part, whole int) string {
	return strconv.FormatFloat(100*float64(part)/float64(max(whole, 1)), 'f', 1, 64)
}

// number formats a measured number with four significant digits, or all those of its whole part.
func number(x float64) string {
	if size := math.Abs(x); size >= 1e4 && size < 1e9 {
		return count(int(math.Round(x)))
	}
	return strconv.FormatFloat(x, 'g', 4, 64)
}

// count formats a number with thousands separators.
func count(n int) string { return humanize.Comma(int64(n)) }
