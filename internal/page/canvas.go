package page

import (
	"fmt"
	"html"
	"html/template"
	"strings"
)

// Plot is a drawing with a title.
type Plot struct {
	Title   string
	Text    string // what it shows, for people who cannot see it
	Wide    bool   // stands alone in its section, and has a variant for wide screens
	Drawing Drawing
}

// Drawing is what a plot shows: XY, Columns or Shares.
type Drawing interface {
	// draw returns the height of the drawing.
	draw(c *canvas) float64
}

// Widths of a drawing in pixels.
const (
	narrow = 340
	broad  = 720
)

// SVG draws the plot: for wide screens, then for narrow ones, or for narrow ones alone.
func (p Plot) SVG() template.HTML {
	if p.Wide {
		return p.svg(broad, 0, "") + p.svg(narrow, 0, "")
	}
	return p.svg(narrow, 0, "")
}

// File draws the plot as a file of its own, for wide screens.
func (p Plot) File() []byte {
	const background = `<rect class="paper" x="-12" y="-12" width="100%" height="100%"/>`
	return []byte(p.svg(broad, 12, "<style>\n"+style+"</style>\n"+background+"\n") + "\n")
}

// svg draws the plot with a margin, over the elements of background.
func (p Plot) svg(width, margin float64, background string) template.HTML {
	c := &canvas{width: width}
	height := p.Drawing.draw(c)
	width, height = width+2*margin, height+2*margin
	return template.HTML(fmt.Sprintf("<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"%g\" height=\"%g\" viewBox=\"%g %g %g %g\" role=\"img\">\n<title>%s</title>\n<desc>%s</desc>\n%s%s</svg>",
		width, height, 0-margin, 0-margin, width, height, escape(p.Title), escape(p.Text), background, c.out.String()))
}

// canvas collects the elements of a drawing. X is to the right, y is down, both in pixels.
type canvas struct {
	width float64
	out   strings.Builder
}

const lineHeight = 15 // of text of 12 pixels

// textWidth is about the width of a text, rather more than less: that of Arial's letters.
func textWidth(text string) (width float64) {
	for _, r := range Cell(text) {
		switch {
		case strings.ContainsRune("fijlrtI .,:;|!'()[]-", r):
			width += 4
		case strings.ContainsRune("mwMW@%—…", r) || r > 0x2e80:
			width += 12
		case r >= 'A' && r <= 'Z' || r > 0x7f:
			width += 8.7
		default:
			width += 6.8
		}
	}
	return width
}

// fitted shortens a text that is wider than its room.
func fitted(text string, room float64) string {
	letters := []rune(Cell(text))
	if textWidth(text) <= room {
		return text
	}
	for len(letters) > 0 && textWidth(string(letters))+12 > room {
		letters = letters[:len(letters)-1]
	}
	return strings.TrimSpace(string(letters)) + "…"
}

func escape(text string) string { return html.EscapeString(Cell(text)) }

// text writes words; anchor is start, middle or end, and y the middle of the line.
func (c *canvas) text(x, y float64, anchor, class, words string) {
	fmt.Fprintf(&c.out, "<text x=\"%.1f\" y=\"%.1f\" text-anchor=\"%s\" class=\"%s\">%s</text>\n", x, y+4, anchor, class, escape(words))
}

func (c *canvas) line(x1, y1, x2, y2 float64, class string) {
	fmt.Fprintf(&c.out, "<line x1=\"%.1f\" y1=\"%.1f\" x2=\"%.1f\" y2=\"%.1f\" class=\"%s\"/>\n", x1, y1, x2, y2, class)
}

// rect draws a rectangle; hover is shown when the pointer is on it.
func (c *canvas) rect(x, y, width, height float64, class, hover string) {
	fmt.Fprintf(&c.out, "<rect x=\"%.1f\" y=\"%.1f\" width=\"%.1f\" height=\"%.1f\" class=\"%s\">%s</rect>\n",
		x, y, width, height, class, tooltip(hover))
}

// mark draws the symbol of a series: a circle, a square or a triangle.
func (c *canvas) mark(at point, color int, class, hover string) {
	const r = 5
	shape := fmt.Sprintf("M%.1f,%.1fa%d,%[3]d 0 1,0 %[4]d,0a%[3]d,%[3]d 0 1,0 -%[4]d,0Z", at.x-r, at.y, r, 2*r)
	switch color {
	case 2:
		shape = fmt.Sprintf("M%.1f,%.1fh9v9h-9Z", at.x-4.5, at.y-4.5)
	case 3:
		shape = fmt.Sprintf("M%.1f,%.1fl6,10h-12Z", at.x, at.y-6)
	}
	fmt.Fprintf(&c.out, "<g class=\"c%d\"><path d=\"%s\" class=\"%s\"/><circle cx=\"%.1f\" cy=\"%.1f\" r=\"12\" class=\"hit\">%s</circle></g>\n",
		color, shape, class, at.x, at.y, tooltip(hover))
}

func tooltip(text string) string {
	if text == "" {
		return ""
	}
	return "<title>" + escape(text) + "</title>"
}
