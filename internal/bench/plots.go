package bench

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"tcbuild/internal/page"
	"tcbuild/store"
)

// variantColors are the colours of marks and lines.
var variantColors = map[store.Variant]int{store.Incidence: 1, store.Indices: 2, store.FullMasks: 3}

// figures are all plots with how to read them, in the order of reading.
func (r *Results) figures() []page.Section {
	figures := []page.Section{
		{Title: "Size against loading time", Text: "Lower and further left is better. Filled marks are the default codecs. The dashed line is the time to fill the masks' bytes. Below it are readers that change only what differs from the sample before.",
			Plots: []page.Plot{r.sizeAgainstTime()}},
	}
	if r.Base.Workers > 1 {
		figures = append(figures, page.Section{Title: "Throughput against workers",
			Text:  "The stage that writes samples, with default codecs. The dashed lines are the speed of one worker times the number of workers. The incidence variant writes on one core.",
			Plots: []page.Plot{r.workersPlot()}})
	}
	figures = append(figures,
		page.Section{Title: "Cost against the number of samples", Plots: r.samplesPlots(),
			Text: "Default codecs. Filled marks are measured. The dashed lines extrapolate from the largest measured dataset to the hollow marks."},
		page.Section{Title: "Cost against the number of edges", Plots: r.edgesPlots(),
			Text: "Default codecs, with every fourth, every second and every edge of each edge type."})
	return figures
}

func (r *Results) sizeAgainstTime() page.Plot {
	limit := r.Cases[0].Read.Random.LimitMilliseconds
	d := page.Plot{
		Title: "Size against loading time",
		X:     page.Axis{Title: "stored bytes per sample", Log: true, Format: byteTick},
		Y:     page.Axis{Title: "time to load a sample, random order", Log: true, Format: secondsTick},
		Limit: &page.Limit{Y: limit / 1000, Text: "fill all masks"},
	}
	for _, c := range r.Cases {
		x, y := c.Size.BytesPerSample, c.Read.Random.Milliseconds.Median/1000
		d.Marks = append(d.Marks, page.Mark{X: x, Y: y, Color: variantColors[c.Variant], Hollow: !c.Default, Label: c.String(),
			Hover: fmt.Sprintf("%s: %s per sample, %s", c, formatBytes(x), formatSeconds(y))})
	}
	return d.Points("Time to load a sample's masks against its stored bytes, a mark for each variant and codec.")
}

// axis is a figure of a point. The points on a horizontal axis differ from the base only in it.
type axis struct {
	page.Axis
	of func(Point) float64
	on func(v, base Variation) bool
}

// Axes of the plots.
var (
	workersAxis = axis{page.Axis{Title: "workers", Log: true, Format: page.Plain}, func(p Point) float64 { return float64(p.Workers) },
		func(v, base Variation) bool { return v.Samples == base.Samples && v.EveryNth == 1 }}
	samplesAxis = axis{page.Axis{Title: "samples", Log: true, Format: page.Short}, func(p Point) float64 { return float64(p.Samples) },
		func(v, base Variation) bool { return v.Workers == base.Workers && v.EveryNth == 1 }}
	edgesAxis = axis{page.Axis{Title: "edges", Format: page.Short}, func(p Point) float64 { return float64(p.Edges) },
		func(v, base Variation) bool { return v.Workers == base.Workers && v.Samples == base.Samples }}
	speedAxis  = axis{page.Axis{Title: "samples per second", Log: true, Format: page.Short}, func(p Point) float64 { return p.SamplesPerSecond.Median }, nil}
	timeAxis   = axis{page.Axis{Title: "build time", Format: secondsTick}, func(p Point) float64 { return p.Seconds.Median }, nil}
	bytesAxis  = axis{page.Axis{Title: "dataset size", Log: true, Format: byteTick}, func(p Point) float64 { return float64(p.DatasetBytes) }, nil}
	storedAxis = axis{page.Axis{Title: "stored bytes per sample", Format: byteTick}, func(p Point) float64 { return p.BytesPerSample }, nil}
	readAxis   = axis{page.Axis{Title: "time to load a sample, random order", Format: secondsTick},
		func(p Point) float64 { return p.ReadMilliseconds.Median / 1000 }, nil}
)

// timeTicks are round times in seconds; every second one is 1 ms, 10 ms, …, 1 min, 10 min, 1 h, 10
// h and so on.
var timeTicks = []float64{1e-3, 3e-3, 1e-2, 3e-2, 0.1, 0.3, 1, 3, 10, 30, 60, 180, 600, 1800, 3600, 3 * 3600, 36e3, 108e3, 36e4, 108e4, 36e5}

// curves is a plot with a line for each default case, through its points on the axis x. dashed
// returns the ends of a second line, or nil; a hollow end is drawn as a mark.
func (r *Results) curves(x, y axis, dashed func(points []Point) []page.Mark) page.Plot {
	d := page.Plot{Title: strings.ToUpper(y.Title[:1]) + y.Title[1:], X: x.Axis, Y: y.Axis}
	for _, points := range r.along(x) {
		color := variantColors[points[0].Variant]
		var marks []page.Mark
		for _, p := range points {
			marks = append(marks, page.Mark{X: x.of(p), Y: y.of(p), Color: color,
				Hover: fmt.Sprintf("%s; %s: %s; %s: %s", p.Case, x.Title, formatNumber(x.of(p)), y.Title, y.Format(y.of(p)))})
		}
		d.Lines = append(d.Lines, page.Line{Points: marks, Color: color})
		if ends := dashed(points); ends != nil {
			d.Lines = append(d.Lines, page.Line{Points: ends, Color: color, Dashed: true})
			if ends[1].Hollow {
				marks = append(marks, ends[1])
			}
		}
		marks[len(marks)-1].Label = string(points[0].Variant)
		d.Marks = append(d.Marks, marks...)
	}
	d = d.Points("A line for each variant.")
	d.Y.Title = "" // the heading stands in its place
	return d
}

func (r *Results) workersPlot() page.Plot {
	x := workersAxis
	for w := 1; w <= r.Base.Workers; w *= 2 {
		x.Ticks = append(x.Ticks, float64(w))
	}
	return r.curves(x, speedAxis, func(points []Point) []page.Mark { // the speed of one worker times their number
		one, most := speedAxis.of(points[0])/x.of(points[0]), float64(r.Base.Workers)
		return []page.Mark{{X: 1, Y: one}, {X: most, Y: one * most}}
	})
}

func (r *Results) samplesPlots() []page.Plot {
	extrapolated := func(y axis, of func(Extrapolation) float64) page.Plot {
		y.Log = true
		return r.curves(samplesAxis, y, func(points []Point) []page.Mark {
			largest := points[len(points)-1]
			to := r.Cases[slices.IndexFunc(r.Cases, func(c CaseResult) bool { return c.Case == largest.Case })].Extrapolated.Samples
			if to <= largest.Samples {
				return nil
			}
			end := page.Mark{X: float64(to), Y: of(extrapolate(largest, to)), Color: variantColors[largest.Variant], Hollow: true}
			end.Hover = fmt.Sprintf("%s, extrapolated to %s samples: %s", largest.Case, formatNumber(end.X), y.Format(end.Y))
			return []page.Mark{{X: samplesAxis.of(largest), Y: y.of(largest)}, end}
		})
	}
	seconds := timeAxis
	seconds.Ticks = timeTicks
	return []page.Plot{
		extrapolated(seconds, func(e Extrapolation) float64 { return e.Seconds }),
		extrapolated(bytesAxis, func(e Extrapolation) float64 { return e.Bytes }),
	}
}

func (r *Results) edgesPlots() (plots []page.Plot) {
	for _, y := range []axis{timeAxis, storedAxis, readAxis} {
		plots = append(plots, r.curves(edgesAxis, y, func([]Point) []page.Mark { return nil }))
	}
	return plots
}

// along returns the points of each default case on an axis, in its order.
func (r *Results) along(x axis) [][]Point {
	var series [][]Point
	for _, c := range r.Cases {
		var points []Point
		for _, p := range r.Points {
			if p.Case == c.Case && x.on(p.Variation, r.Base) {
				points = append(points, p)
			}
		}
		slices.SortFunc(points, func(a, b Point) int { return cmp.Compare(x.of(a), x.of(b)) })
		if len(points) > 0 {
			series = append(series, points)
		}
	}
	return series
}
