package bench

import (
	"bytes"
	"html/template"
	"image/color"
	"math"
	"strings"

	"gonum.org/v1/plot"
	"gonum.org/v1/plot/plotter"
	"gonum.org/v1/plot/text"
	"gonum.org/v1/plot/vg"
	"gonum.org/v1/plot/vg/draw"
	"gonum.org/v1/plot/vg/vgsvg"

	"tcbuild/store"
)

// Colours that colour-blind people can tell apart: the palette of Okabe and Ito.
var (
	blue      = color.RGBA{0, 114, 178, 255}
	orange    = color.RGBA{230, 159, 0, 255}
	green     = color.RGBA{0, 158, 115, 255}
	vermilion = color.RGBA{213, 94, 0, 255}
	sky       = color.RGBA{86, 180, 233, 255}
	purple    = color.RGBA{204, 121, 167, 255}
	grey      = color.RGBA{130, 130, 130, 255}
	pale      = color.RGBA{228, 228, 228, 255}
)

var variantColors = map[store.Variant]color.Color{store.Incidence: blue, store.Indices: vermilion, store.FullMasks: green}

// newPlot makes an empty plot with titled axes.
func newPlot(x, y string) *plot.Plot {
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

// addGrid draws lines at the labelled ticks.
func addGrid(p *plot.Plot) {
	grid := plotter.NewGrid()
	grid.Horizontal.Color, grid.Vertical.Color = pale, pale
	p.Add(grid)
}

// logAxis makes an axis logarithmic from low to high, which it widens to where ticks are.
func logAxis(axis *plot.Axis, low, high float64, format func(float64) string) {
	axis.Scale = plot.LogScale{}
	axis.Min, axis.Max = low/1.6, high*1.6
	axis.Tick.Marker = logTicks(format)
}

// logTicks labels the powers of ten, and in short ranges two more between them.
type logTicks func(float64) string

// Ticks is that of plot.Ticker.
func (format logTicks) Ticks(low, high float64) (ticks []plot.Tick) {
	decades := math.Log10(high / low)
	for power := math.Floor(math.Log10(low)); power <= math.Log10(high); power++ {
		for digit := 1; digit < 10; digit++ {
			tick := plot.Tick{Value: float64(digit) * math.Pow(10, power)}
			if digit == 1 || decades < 2 && digit == 3 || decades < 1.2 && (digit == 2 || digit == 5) {
				tick.Label = format(tick.Value)
			}
			if decades < 1.2 && digit == 3 {
				tick.Label = ""
			}
			if tick.Value >= low && tick.Value <= high {
				ticks = append(ticks, tick)
			}
		}
	}
	return ticks
}

// linearAxis makes an axis linear from 0 to a little above high.
func linearAxis(axis *plot.Axis, high float64, format func(float64) string) {
	axis.Min, axis.Max = 0, high*1.1
	axis.Tick.Marker = plot.TickerFunc(func(low, high float64) []plot.Tick {
		ticks := plot.DefaultTicks{}.Ticks(low, high)
		for i := range ticks {
			if ticks[i].Label != "" {
				ticks[i].Label = format(ticks[i].Value)
			}
		}
		return ticks
	})
}

// svg draws a plot as an element of a page. Sizes are in points.
func svg(p *plot.Plot, width, height vg.Length) (template.HTML, error) {
	canvas := vgsvg.New(width, height)
	p.Draw(draw.New(canvas))
	var out bytes.Buffer
	if _, err := canvas.WriteTo(&out); err != nil {
		return "", err
	}
	_, element, _ := strings.Cut(out.String(), "<svg")                                                     // without the XML prologue
	element = strings.ReplaceAll(element, "Liberation Sans", "Liberation Sans,Arial,Helvetica,sans-serif") // of the same widths
	return template.HTML("<svg" + element), nil
}
