package bench

import (
	"fmt"
	"slices"
	"strings"

	"tcbuild/internal/page"
)

// curve is a figure of the points on one axis of the variations.
type curve struct {
	title  string
	figure func(Point) float64
	format func(float64) string // of a value
}

// draw adds the points of each default case, joined by lines, the last with its name.
func (c curve) draw(d *page.XY, series [][]Point, x func(Point) float64) {
	for _, points := range series {
		var marks []page.Mark
		for _, p := range points {
			marks = append(marks, page.Mark{X: x(p), Y: c.figure(p), Color: variantColors[p.Variant],
				Hover: fmt.Sprintf("%s; %s: %s; %s: %s", p.Case, d.X.Title, formatNumber(x(p)), c.title, c.format(c.figure(p)))})
		}
		marks[len(marks)-1].Label = string(points[0].Variant)
		d.Marks = append(d.Marks, marks...)
		d.Lines = append(d.Lines, page.Line{Points: marks, Color: marks[0].Color})
	}
}

// plot is the finished plot of the curve; its heading stands in place of the title of the Y axis.
func (c curve) plot(d page.XY) page.Plot {
	plot := page.Plot{Title: strings.ToUpper(c.title[:1]) + c.title[1:], Text: "A line for each variant. " + d.Describe()}
	d.Y.Title = ""
	plot.Drawing = d
	return plot
}

func (r *Results) workersPlot() page.Plot {
	c := curve{"samples per second", func(p Point) float64 { return p.SamplesPerSecond.Median }, formatNumber}
	workers := func(p Point) float64 { return float64(p.Workers) }
	d := page.XY{X: page.Axis{Title: "workers", Log: true, Format: page.Plain}, Y: page.Axis{Title: c.title, Log: true, Format: page.Short}}
	for w := 1; w <= r.Base.Workers; w *= 2 {
		d.X.Ticks = append(d.X.Ticks, float64(w))
	}
	series := r.along(func(v Variation) bool { return v.Samples == r.Base.Samples && v.EveryNth == 1 }, workers)
	for _, points := range series {
		one, most := c.figure(points[0])/workers(points[0]), float64(r.Base.Workers)
		d.Lines = append(d.Lines, page.Line{Points: []page.Mark{{X: 1, Y: one}, {X: most, Y: one * most}},
			Color: variantColors[points[0].Variant], Dashed: true})
	}
	c.draw(&d, series, workers)
	plot := c.plot(d)
	plot.Title, plot.Drawing = "Throughput against workers", d
	return plot
}

// timeTicks are round times in seconds; every second one is 1 ms, 10 ms, …, 1 min, 10 min, 1 h, 10
// h and so on.
var timeTicks = []float64{1e-3, 3e-3, 1e-2, 3e-2, 0.1, 0.3, 1, 3, 10, 30, 60, 180, 600, 1800, 3600, 3 * 3600, 36e3, 108e3, 36e4, 108e4, 36e5}

func (r *Results) samplesPlots() (plots []page.Plot) {
	samples := func(p Point) float64 { return float64(p.Samples) }
	series := r.along(func(v Variation) bool { return v.Workers == r.Base.Workers && v.EveryNth == 1 }, samples)
	for _, c := range []struct {
		curve
		ticks []float64
		end   func(Extrapolation) float64
	}{
		{curve{"build time", func(p Point) float64 { return p.Seconds.Median }, secondsTick},
			timeTicks, func(e Extrapolation) float64 { return e.Seconds }},
		{curve{"dataset size", func(p Point) float64 { return float64(p.DatasetBytes) }, byteTick},
			nil, func(e Extrapolation) float64 { return e.Bytes }},
	} {
		d := page.XY{X: page.Axis{Title: "samples", Log: true, Format: page.Short},
			Y: page.Axis{Title: c.title, Log: true, Format: c.format, Ticks: c.ticks}}
		c.draw(&d, series, samples)
		for i, points := range series {
			largest := points[len(points)-1]
			to := r.Cases[slices.IndexFunc(r.Cases, func(result CaseResult) bool { return result.Case == largest.Case })].Extrapolated.Samples
			if to <= largest.Samples {
				continue
			}
			line := page.Line{Color: variantColors[largest.Variant], Dashed: true}
			for n := largest.Samples; ; n = min(2*n, to) {
				line.Points = append(line.Points, page.Mark{X: float64(n), Y: c.end(extrapolate(largest, n))})
				if n == to {
					break
				}
			}
			end := line.Points[len(line.Points)-1]
			end.Color, end.Hollow, end.Label = line.Color, true, d.Lines[i].Points[len(points)-1].Label
			end.Hover = fmt.Sprintf("%s, extrapolated to %s samples: %s", largest.Case, formatNumber(end.X), c.format(end.Y))
			for k := range d.Marks { // the label moves to the end of the line
				if d.Marks[k].Label == end.Label {
					d.Marks[k].Label = ""
				}
			}
			d.Lines, d.Marks = append(d.Lines, line), append(d.Marks, end)
		}
		plots = append(plots, c.plot(d))
	}
	return plots
}

func (r *Results) edgesPlots() (plots []page.Plot) {
	edges := func(p Point) float64 { return float64(p.Edges) }
	series := r.along(func(v Variation) bool { return v.Workers == r.Base.Workers && v.Samples == r.Base.Samples }, edges)
	for _, c := range []curve{
		{"build time", func(p Point) float64 { return p.Seconds.Median }, secondsTick},
		{"stored bytes per sample", func(p Point) float64 { return p.BytesPerSample }, byteTick},
		{"time to load a sample, random order", func(p Point) float64 { return p.ReadMilliseconds.Median / 1000 }, secondsTick},
	} {
		d := page.XY{X: page.Axis{Title: "edges", Format: page.Short}, Y: page.Axis{Title: c.title, Format: c.format}}
		c.draw(&d, series, edges)
		plots = append(plots, c.plot(d))
	}
	return plots
}

// along returns the points of each default case on one axis of the variations, in the axis's order.
func (r *Results) along(on func(Variation) bool, place func(Point) float64) [][]Point {
	var series [][]Point
	for _, c := range r.Cases {
		var points []Point
		for _, p := range r.Points {
			if p.Case == c.Case && on(p.Variation) {
				points = append(points, p)
			}
		}
		slices.SortFunc(points, func(a, b Point) int { return int(place(a) - place(b)) })
		if len(points) > 0 {
			series = append(series, points)
		}
	}
	return series
}
