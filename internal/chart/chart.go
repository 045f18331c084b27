// Package chart draws plots as SVG elements for self-contained HTML pages.
package chart

import (
	"bytes"
	"html/template"
	"image/color"
	"strings"

	"gonum.org/v1/plot"
	"gonum.org/v1/plot/plotter"
	"gonum.org/v1/plot/text"
	"gonum.org/v1/plot/vg"
	"gonum.org/v1/plot/vg/draw"
	"gonum.org/v1/plot/vg/vgsvg"
)

// Blue is from the palette of Okabe and Ito, whose colours colour-blind people can tell apart.
var Blue = color.RGBA{0, 114, 178, 255}

var pale = color.RGBA{228, 228, 228, 255} // of grids

// New makes an empty plot with titled axes.
func New(x, y string) *plot.Plot {
	p := plot.New()
	p.X.Label.Text, p.Y.Label.Text = x, y
	for _, style := range []*text.Style{&p.X.Label.TextStyle, &p.Y.Label.TextStyle, &p.X.Tick.Label, &p.Y.Tick.Label, &p.Legend.TextStyle} {
		style.Font.Variant = "Sans"
		style.Font.Size = 10
	}
	p.X.Padding, p.Y.Padding = 4, 4
	p.X.Label.Padding, p.Y.Label.Padding = 4, 6
	return p
}

// AddGrid draws lines at the labelled ticks.
func AddGrid(p *plot.Plot) {
	grid := plotter.NewGrid()
	grid.Horizontal.Color, grid.Vertical.Color = pale, pale
	p.Add(grid)
}

// SVG draws a plot as an element of a page. Sizes are in points.
func SVG(p *plot.Plot, width, height vg.Length) (template.HTML, error) {
	canvas := vgsvg.New(width, height)
	p.Draw(draw.New(canvas))
	var out bytes.Buffer
	if _, err := canvas.WriteTo(&out); err != nil {
		return "", err
	}
	// without the XML prologue
	_, element, _ := strings.Cut(out.String(), "<svg")
	// of the same widths
	element = strings.ReplaceAll(element, "Liberation Sans", "Liberation Sans,Arial,Helvetica,sans-serif")
	return template.HTML("<svg" + element), nil
}
