package bench

import (
	"image/color"
	"math"

	"gonum.org/v1/plot"

	"tcbuild/internal/chart"
	"tcbuild/store"
)

// Colours that colour-blind people can tell apart: the palette of Okabe and Ito.
var (
	blue      = chart.Blue
	orange    = color.RGBA{230, 159, 0, 255}
	green     = color.RGBA{0, 158, 115, 255}
	vermilion = color.RGBA{213, 94, 0, 255}
	sky       = color.RGBA{86, 180, 233, 255}
	purple    = color.RGBA{204, 121, 167, 255}
	grey      = color.RGBA{130, 130, 130, 255}
)

var variantColors = map[store.Variant]color.Color{store.Incidence: blue, store.Indices: vermilion, store.FullMasks: green}

// logAxis makes an axis logarithmic from low to high, widened to the nearest ticks.
func logAxis(axis *plot.Axis, low, high float64, format func(float64) string) {
	axis.Scale = plot.LogScale{}
	axis.Min, axis.Max = low/1.6, high*1.6
	axis.Tick.Marker = logTicks(format)
}

// logTicks labels the powers of ten and, in short ranges, two more ticks between them.
type logTicks func(float64) string

// Ticks implements plot.Ticker.
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
