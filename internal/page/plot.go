package page

import (
	"cmp"
	"fmt"
	"html"
	"html/template"
	"math"
	"strings"
	"unicode/utf8"
)

// Plot is a drawing with a title.
type Plot struct {
	Title   string
	Text    string // what it shows, for people who cannot see it
	Drawing Drawing
}

// Drawing is what a plot shows: XY, Columns or Shares.
type Drawing interface {
	// draw returns the height of the drawing.
	draw(c *canvas) float64
}

// Sizes in pixels. A phone shows a plot at nine tenths of them, so that its text can be read.
const (
	width        = 440.0
	lineHeight   = 15.0 // of text of 12 pixels
	letterWidth  = 6.7  // on average, rather more than less
	legendMargin = 14.0
)

// SVG draws the plot.
func (p Plot) SVG() template.HTML {
	c := &canvas{}
	height := p.Drawing.draw(c)
	return template.HTML(fmt.Sprintf("<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"%g\" height=\"%g\" viewBox=\"0 0 %[1]g %[2]g\" role=\"img\">\n<title>%s</title>\n<desc>%s</desc>\n%s</svg>",
		width, height, escape(p.Title), escape(p.Text), c.String()))
}

// canvas collects the elements of a drawing. X is to the right, y is down, both in pixels.
type canvas struct{ strings.Builder }

func textWidth(text string) float64 {
	return letterWidth * float64(utf8.RuneCountInString(Cell(text)))
}

func escape(text string) string { return html.EscapeString(Cell(text)) }

// text writes words; anchor is start, middle or end, and y the middle of the line.
func (c *canvas) text(x, y float64, anchor, class, words string) {
	fmt.Fprintf(c, "<text x=\"%.1f\" y=\"%.1f\" text-anchor=\"%s\" class=\"%s\">%s</text>\n", x, y+4, anchor, class, escape(words))
}

// title writes the title of an axis, as much of it as there is room for.
func (c *canvas) title(x, y float64, anchor, words string) {
	if most := int(math.Floor(width / letterWidth)); utf8.RuneCountInString(Cell(words)) > most {
		words = string([]rune(Cell(words))[:most-1]) + "…"
	}
	c.text(x, y, anchor, "quiet", words)
}

func (c *canvas) line(x1, y1, x2, y2 float64, class string) {
	fmt.Fprintf(c, "<line x1=\"%.1f\" y1=\"%.1f\" x2=\"%.1f\" y2=\"%.1f\" class=\"%s\"/>\n", x1, y1, x2, y2, class)
}

// rect draws a rectangle; hover is shown when the pointer is on it.
func (c *canvas) rect(x, y, width, height float64, class, hover string) {
	fmt.Fprintf(c, "<rect x=\"%.1f\" y=\"%.1f\" width=\"%.1f\" height=\"%.1f\" class=\"%s\">%s</rect>\n", x, y, width, height, class, tooltip(hover))
}

// mark draws a point, which is easier to hit than to see.
func (c *canvas) mark(x, y float64, class, hover string) {
	fmt.Fprintf(c, "<circle cx=\"%.1f\" cy=\"%.1f\" r=\"5\" class=\"%s\"/><circle cx=\"%.1[1]f\" cy=\"%.1[2]f\" r=\"12\" class=\"hit\">%[4]s</circle>\n",
		x, y, class, tooltip(hover))
}

func tooltip(text string) string {
	if text == "" {
		return ""
	}
	return "<title>" + escape(text) + "</title>"
}

func color(n int) string { return fmt.Sprintf("full c%d", n) }

// Shares are bars that are divided into parts, each bar as long as the others.
type Shares struct {
	Legend []Part // Name and Color
	Rows   []Share
}

// Share is one bar.
type Share struct {
	Label string
	Total string // at its end
	Parts []Part
}

// Part is a part of a bar.
type Part struct {
	Name  string
	Color int
	Value float64
	Text  string // of its value
}

func (d Shares) draw(c *canvas) float64 {
	x, y := 0.0, 10.0
	for _, part := range d.Legend {
		wide := 16 + textWidth(part.Name) + legendMargin
		if x > 0 && x+wide > width {
			x, y = 0, y+18
		}
		c.rect(x, y-6, 12, 12, color(part.Color), "")
		c.text(x+16, y, "start", "", part.Name)
		x += wide
	}
	y += 24
	for _, row := range d.Rows {
		total := 0.0
		for _, part := range row.Parts {
			total += part.Value
		}
		c.text(0, y, "start", "", row.Label)
		c.text(width, y, "end", "", row.Total)
		left := 0.0
		for _, part := range row.Parts {
			wide := width * part.Value / cmp.Or(total, 1)
			c.rect(left, y+9, wide, 14, color(part.Color), row.Label+", "+part.Name+": "+part.Text)
			left += wide
		}
		y += 40
	}
	return y - 8
}
