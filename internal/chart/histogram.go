package chart

import (
	"image/color"
	"math"
	"strconv"

	"gonum.org/v1/plot"
	"gonum.org/v1/plot/plotter"
	"gonum.org/v1/plot/vg/draw"
)

// Bin is a bar of a histogram: Value values are at least From and below To.
type Bin struct {
	From  float64 `json:"from"`
	To    float64 `json:"to"`
	Value int     `json:"values"`
}

// Histogram makes a histogram of at least one bin. Bins are ascending, and the difference of the
// first and the last edge is finite.
func Histogram(x, y string, bins []Bin) *plot.Plot {
	p := New(x, y)
	AddGrid(p)
	h := &plotter.Histogram{FillColor: Blue, LineStyle: draw.LineStyle{Color: color.White, Width: 0.5}}
	for _, bin := range bins {
		h.Bins = append(h.Bins, plotter.HistogramBin{Min: bin.From, Max: bin.To, Weight: float64(bin.Value)})
	}
	first, last := bins[0].From, bins[len(bins)-1].To
	room := max(0.1*math.Abs(first), 0.1*math.Abs(last), 1e-300)
	same := last-first < 1e-5*room // edges would have the same labels: one bar stands for all
	if same {
		one := plotter.HistogramBin{Min: first - room/20, Max: first + room/20}
		for _, bin := range h.Bins {
			one.Weight += bin.Weight
		}
		h.Bins = []plotter.HistogramBin{one}
	}
	p.Add(h)
	if same {
		p.X.Min, p.X.Max = first-room, first+room
	}
	p.X.Tick.Marker = plot.TickerFunc(plainTicks)
	countAxis(p)
	return p
}

// plainTicks are ticks whose labels have no more digits than they need.
func plainTicks(low, high float64) []plot.Tick {
	ticks := plot.DefaultTicks{}.Ticks(low, high)
	for i, tick := range ticks {
		if tick.Label == "" {
			continue
		}
		format := byte('g')
		if size := math.Abs(tick.Value); size == 0 || size >= 1e-4 && size < 1e7 {
			format = 'f'
		}
		rounded, _ := strconv.ParseFloat(strconv.FormatFloat(tick.Value, 'g', 7, 64), 64) // without 0.30000000000000004
		ticks[i].Label = strconv.FormatFloat(rounded, format, -1, 64)
	}
	return ticks
}
