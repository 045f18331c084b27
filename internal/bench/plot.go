package bench

import (
	"cmp"
	"fmt"
	"math"
	"slices"

	"github.com/dustin/go-humanize"

	"tcbuild/internal/page"
)

// plot shows the size of each case against its reading time, on logarithmic axes.
func (r *Results) plot() page.Section {
	var bytes, seconds []float64
	for _, c := range r.Cases {
		bytes = append(bytes, c.Extrapolated.Bytes)
		seconds = append(seconds, c.Warm.SecondsPerSample.Median)
	}
	x, y := newAxis(bytes), newAxis(seconds)
	y.from, y.to = y.to, y.from // its places are from the top
	d := &page.Drawing{XTicks: x.ticks("B"), YTicks: y.ticks("s")}
	for i, c := range r.Cases {
		hover := fmt.Sprintf("%s: %s, %s", c, formatBytes(bytes[i]), formatSeconds(seconds[i]))
		along, down := x.at(bytes[i]), y.at(seconds[i])
		d.Marks = append(d.Marks, page.Mark{X: along, Y: down, LabelY: down, Left: along > 0.6,
			Label: c.String(), Hover: hover})
		d.Text += hover + "; "
	}
	slices.SortFunc(d.Marks, func(a, b page.Mark) int { return cmp.Compare(b.Y, a.Y) })
	for i, mark := range d.Marks { // from below: a label gives way to those that it would cover
		for _, other := range d.Marks[:i] {
			if math.Abs(float64(mark.X-other.X)) < 0.25 && mark.Left == other.Left {
				d.Marks[i].LabelY = min(d.Marks[i].LabelY, other.LabelY-0.07)
			}
		}
	}
	title := "Size and reading time, both logarithmic: the lower left corner is best"
	return page.Section{Title: title, Plots: []page.Plot{{Title: title, Placed: d,
		Counted: "time to read a sample, warm, by Go", X: "size " + r.extrapolated()}}}
}

// axis is a logarithmic axis between two powers of ten.
type axis struct{ from, to float64 }

func newAxis(values []float64) axis {
	return axis{math.Floor(math.Log10(slices.Min(values))),
		math.Floor(math.Log10(slices.Max(values))) + 1}
}

func (a axis) at(value float64) page.Percent {
	return page.Percent((math.Log10(value) - a.from) / (a.to - a.from))
}

func (a axis) ticks(unit string) (ticks []page.Tick) {
	for power := min(a.from, a.to); power <= max(a.from, a.to); power++ {
		value := math.Pow10(int(power))
		ticks = append(ticks, page.Tick{At: a.at(value), Label: humanize.SI(value, unit)})
	}
	return ticks
}
