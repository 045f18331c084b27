package bench

import (
	"image/color"
	"math"
	"slices"

	"gonum.org/v1/plot"
	"gonum.org/v1/plot/plotter"
	"gonum.org/v1/plot/text"
	"gonum.org/v1/plot/vg"
	"gonum.org/v1/plot/vg/draw"
)

// label is a text to the right of a point.
type label struct {
	x, y  float64 // of the point, in the plot's units
	words string
	color color.Color
}

// addLabels writes labels beside their points on a plot of width x height, the axes of which are set. A label that would
// meet another, or a point, goes up or down as little as it has to.
func addLabels(p *plot.Plot, labels []label, width, height float64) {
	const (
		area       = 0.8 // of the plot, that the axes leave
		lineHeight = 12
		charWidth  = 5.5
		gap        = 7 // between a point and its label
	)
	type box struct{ left, right, y float64 } // in points; as high as a line
	var taken []box
	for _, l := range labels {
		x, y := area*width*p.X.Norm(l.x), area*height*p.Y.Norm(l.y)
		taken = append(taken, box{x - 4, x + 4, y})
	}
	for i, l := range labels {
		at, y := taken[i], taken[i].y
		place := box{at.right - 4 + gap, at.right - 4 + gap + charWidth*float64(len(l.words)), y}
		meets := func(other box) bool {
			return other.left < place.right && place.left < other.right && math.Abs(other.y-place.y) < lineHeight
		}
		for step := 1; slices.ContainsFunc(taken, meets); step++ { // up, down, further up, …
			place.y = y + float64((step+1)/2)*3*float64(step%2*2-1)
		}
		taken = append(taken, place)
		addLabel(p, l.x, l.y, l.words, l.color, gap, vg.Length(place.y-y), draw.XLeft)
	}
}

// addLabel writes a text at a point of the plot, moved by dx and dy.
func addLabel(p *plot.Plot, x, y float64, words string, c color.Color, dx, dy vg.Length, align text.XAlignment) {
	labels, err := plotter.NewLabels(plotter.XYLabels{XYs: plotter.XYs{{X: x, Y: y}}, Labels: []string{words}})
	if err != nil {
		panic(err) // as many labels as points
	}
	style := &labels.TextStyle[0]
	style.Font.Variant, style.Font.Size = "Sans", 10
	style.Color, style.XAlign, style.YAlign = c, align, draw.YCenter
	labels.Offset = vg.Point{X: dx, Y: dy}
	p.Add(labels)
}
