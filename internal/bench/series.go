package bench

import (
	"image/color"

	"gonum.org/v1/plot"
	"gonum.org/v1/plot/plotter"
	"gonum.org/v1/plot/vg"
	"gonum.org/v1/plot/vg/draw"
)

// addSeries draws the points of a case, joined by a line, and returns a label for the last.
func addSeries(p *plot.Plot, points []Point, x, y func(Point) float64) label {
	c := variantColors[points[0].Variant]
	line := plotter.XYs{}
	for _, point := range points {
		line = append(line, plotter.XY{X: x(point), Y: y(point)})
	}
	addLine(p, line, c, false)
	addMarkers(p, points, x, y)
	last := points[len(points)-1]
	return label{x(last), y(last), string(last.Variant), c}
}

// addMarkers draws the points of a case as circles.
func addMarkers(p *plot.Plot, points []Point, x, y func(Point) float64) {
	for _, point := range points {
		addPoints(p, plotter.XYs{{X: x(point), Y: y(point)}}, variantColors[point.Variant], true)
	}
}

func addPoints(p *plot.Plot, at plotter.XYs, c color.Color, filled bool) {
	points, err := plotter.NewScatter(at)
	if err != nil {
		panic(err) // measurements are finite
	}
	points.GlyphStyle = draw.GlyphStyle{Color: c, Radius: 4, Shape: draw.RingGlyph{}}
	if filled {
		points.Shape = draw.CircleGlyph{}
	}
	p.Add(points)
}

func addLine(p *plot.Plot, at plotter.XYs, c color.Color, dashed bool) {
	line, err := plotter.NewLine(at)
	if err != nil {
		panic(err) // measurements are finite
	}
	line.Color, line.Width = c, 1.5
	if dashed {
		line.Width, line.Dashes = 1, []vg.Length{4, 3}
	}
	p.Add(line)
}

// valuesOf collects a figure of all cases.
func valuesOf[T any](items []T, figure func(T) float64) []float64 {
	var values []float64
	for _, item := range items {
		values = append(values, figure(item))
	}
	return values
}
