package chart

import (
	"strconv"

	"gonum.org/v1/plot"
	"gonum.org/v1/plot/plotter"
	"gonum.org/v1/plot/vg"
)

// Bar is one bar of a bar chart.
type Bar struct {
	Label string // below the bar
	Value int    // its height, 0 or more
}

// Bars makes a bar chart of at least one bar, for the given width. Labels that would overlap are
// left out.
func Bars(x, y string, bars []Bar, width vg.Length) *plot.Plot {
	const (
		margin    = 70  // of the plot, for its y axis
		charWidth = 6.5 // of a label
	)
	p := New(x, y)
	AddGrid(p)
	values, widest := plotter.Values{}, 0
	for _, bar := range bars {
		values = append(values, float64(bar.Value))
		widest = max(widest, len(bar.Label)+1)
	}
	room := (width - margin) / vg.Length(len(bars))
	chart, err := plotter.NewBarChart(values, 0.8*room)
	if err != nil {
		panic(err) // there are bars, and their heights are finite
	}
	chart.Color, chart.LineStyle.Width = Blue, 0
	p.Add(chart)

	every := int(vg.Length(widest)*charWidth/room) + 1
	var ticks []plot.Tick
	for i := 0; i < len(bars); i += every {
		ticks = append(ticks, plot.Tick{Value: float64(i), Label: bars[i].Label})
	}
	p.X.Tick.Marker, p.X.Tick.LineStyle.Width = plot.ConstantTicks(ticks), 0
	p.X.Min, p.X.Max = -0.5, float64(len(bars))-0.5
	countAxis(p)
	return p
}

// countAxis makes the Y axis one of counts.
func countAxis(p *plot.Plot) {
	p.Y.Min, p.Y.Max = 0, max(1.1*p.Y.Max, 1)
	p.Y.Tick.Marker = plot.TickerFunc(wholeTicks)
}

// wholeTicks are ticks at whole numbers, with their thousands as k and their millions as M.
func wholeTicks(low, high float64) (ticks []plot.Tick) {
	for _, tick := range (plot.DefaultTicks{}).Ticks(low, high) {
		if tick.Value != float64(int(tick.Value)) {
			continue
		}
		if tick.Label != "" {
			tick.Label = short(int(tick.Value))
		}
		ticks = append(ticks, tick)
	}
	return ticks
}

func short(n int) string {
	switch {
	case n >= 1e6:
		return strconv.FormatFloat(float64(n)/1e6, 'f', -1, 64) + "M"
	case n >= 1e3:
		return strconv.FormatFloat(float64(n)/1e3, 'f', -1, 64) + "k"
	}
	return strconv.Itoa(n)
}
