package bench

import (
	"math"
	"slices"

	"gonum.org/v1/plot"
	"gonum.org/v1/plot/plotter"

	"tcbuild/internal/chart"
)

func (r *Results) workersPlot() *plot.Plot {
	points := r.along(func(v Variation) bool { return v.Samples == r.Base.Samples && v.EveryNth == 1 },
		func(p Point) float64 { return float64(p.Workers) })
	throughput := func(p Point) float64 { return p.SamplesPerSecond.Median }
	p := chart.New("workers", "samples per second")
	chart.AddGrid(p)
	var rates []float64
	for _, series := range points {
		for _, point := range series {
			rates = append(rates, throughput(point))
		}
	}
	logAxis(&p.X, 1, float64(r.Base.Workers)*1.6, plainTick)
	p.X.Tick.Marker = plot.ConstantTicks(workerTicks(r.Base.Workers))
	logAxis(&p.Y, slices.Min(rates), slices.Max(rates)*float64(r.Base.Workers), plainTick)
	var labels []label
	for _, series := range points {
		one, c := series[0], variantColors[series[0].Variant]
		addLine(p, plotter.XYs{{X: 1, Y: throughput(one)},
			{X: float64(r.Base.Workers), Y: throughput(one) * float64(r.Base.Workers)}}, c, true)
		labels = append(labels, addSeries(p, series, func(p Point) float64 { return float64(p.Workers) }, throughput))
	}
	addLabels(p, labels, wide, high)
	return p
}

func workerTicks(most int) (ticks []plot.Tick) {
	for w := 1; w <= most; w *= 2 {
		ticks = append(ticks, plot.Tick{Value: float64(w), Label: plainTick(float64(w))})
	}
	return ticks
}

func (r *Results) samplesPlots() []*plot.Plot {
	count := func(p Point) float64 { return float64(p.Samples) }
	points := r.along(func(v Variation) bool { return v.Workers == r.Base.Workers && v.EveryNth == 1 }, count)
	var plots []*plot.Plot
	for _, axis := range []struct {
		label  string
		format func(float64) string
		figure func(Point) float64
		end    func(Extrapolation) float64
	}{
		{"build time in seconds", plainTick, func(p Point) float64 { return p.Seconds.Median },
			func(e Extrapolation) float64 { return e.Seconds }},
		{"dataset size", byteTick, func(p Point) float64 { return float64(p.DatasetBytes) },
			func(e Extrapolation) float64 { return e.Bytes }},
	} {
		p := chart.New("samples", axis.label)
		chart.AddGrid(p)
		low, top, end := math.Inf(1), 0.0, 0.0
		for _, series := range points {
			for _, point := range series {
				low, top, end = min(low, axis.figure(point)), max(top, axis.figure(point)), max(end, count(point))
			}
			to := r.Cases[slices.IndexFunc(r.Cases, func(c CaseResult) bool { return c.Case == series[0].Case })].Extrapolated
			top, end = max(top, axis.end(to)), max(end, float64(to.Samples))
		}
		logAxis(&p.X, count(points[0][0]), end*20, shortTick)
		logAxis(&p.Y, low, top, axis.format)
		var labels []label
		for _, series := range points {
			line := plotter.XYs{}
			largest := series[len(series)-1]
			for samples := count(series[0]); ; samples = min(samples*1.5, end) {
				line = append(line, plotter.XY{X: samples, Y: axis.end(extrapolate(largest, int(samples)))})
				if samples >= end {
					break
				}
			}
			addLine(p, line, variantColors[largest.Variant], true)
			addMarkers(p, series, count, axis.figure)
			labels = append(labels, label{end, line[len(line)-1].Y, string(largest.Variant), variantColors[largest.Variant]})
		}
		addLabels(p, labels, widthOf(2), high)
		plots = append(plots, p)
	}
	return plots
}

func (r *Results) edgesPlots() []*plot.Plot {
	edges := func(p Point) float64 { return float64(p.Edges) }
	points := r.along(func(v Variation) bool { return v.Workers == r.Base.Workers && v.Samples == r.Base.Samples }, edges)
	var plots []*plot.Plot
	for _, axis := range []struct {
		label  string
		format func(float64) string
		figure func(Point) float64
	}{
		{"build time", secondsTick, func(p Point) float64 { return p.Seconds.Median }},
		{"stored bytes per sample", byteTick, func(p Point) float64 { return p.BytesPerSample }},
		{"ms per sample, random order", plainTick, func(p Point) float64 { return p.ReadMilliseconds.Median }},
	} {
		p := chart.New("edges", axis.label)
		chart.AddGrid(p)
		top, most := 0.0, 0.0
		for _, series := range points {
			for _, point := range series {
				top, most = max(top, axis.figure(point)), max(most, edges(point))
			}
		}
		linearAxis(&p.X, most*1.4, shortTick)
		linearAxis(&p.Y, top, axis.format)
		var labels []label
		for _, series := range points {
			labels = append(labels, addSeries(p, series, edges, axis.figure))
		}
		addLabels(p, labels, widthOf(3), high)
		plots = append(plots, p)
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
