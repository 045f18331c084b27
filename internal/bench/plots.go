package bench

import (
	"fmt"
	"html/template"
	"slices"

	"gonum.org/v1/plot"
	"gonum.org/v1/plot/plotter"
	"gonum.org/v1/plot/vg"
	"gonum.org/v1/plot/vg/draw"

	"tcbuild/internal/chart"
)

// figure is one or more plots side by side, with a title and a sentence on how to read them.
type figure struct {
	Title string
	Text  string
	Plots []template.HTML
}

const (
	wide  = 620 // points, of a plot that stands alone
	broad = 800 // of several side by side
	high  = 300
)

// widthOf is the width of each of several plots side by side.
func widthOf(plots int) float64 {
	if plots > 1 {
		return broad / float64(plots)
	}
	return wide
}

// figures are all figures, in the order of reading.
func (r *Results) figures() ([]figure, error) {
	figures := []figure{
		{Title: "Size against loading time", Text: "Lower and further left is better. A filled circle is a variant's default codec. The dashed line is the time to fill the masks' bytes, which no way of storing them can beat."},
		{Title: "Where the time of a build goes",
			Text: "Each bar is one build, divided by the wall time of its stages; the number at the right is the total time."},
		{Title: "Throughput against workers", Text: "The stage that writes samples, with default codecs. The dashed lines are the speed of one worker times the number of workers. The incidence variant writes on one core."},
		{Title: "Cost against the number of samples",
			Text: "Default codecs. Circles are measured; the dashed lines extrapolate from the largest measured dataset."},
		{Title: "Cost against the number of edges",
			Text: "Default codecs, with every fourth, every second and every edge of each edge type."},
	}
	plots := [][]*plot.Plot{
		{r.sizeAgainstTime()}, {r.stageBars()}, {r.workersPlot()}, r.samplesPlots(), r.edgesPlots(),
	}
	if drawn := r.filterPlots(); len(drawn) > 0 {
		text := "Two ways to remove edges from a matrix of 64 features per edge, on a GPU: multiply it by the mask, or compact the edges and gather the remaining features."
		for _, d := range r.Devices {
			text += fmt.Sprintf(" %s: %s", d.Device, d.verdict())
		}
		figures, plots = append(figures, figure{Title: "Mask or filter", Text: text}), append(plots, drawn)
	}
	for i, row := range plots {
		for _, p := range row {
			drawn, err := chart.SVG(p, vg.Length(widthOf(len(row))), high)
			if err != nil {
				return nil, fmt.Errorf("draw %s: %w", figures[i].Title, err)
			}
			figures[i].Plots = append(figures[i].Plots, drawn)
		}
	}
	return figures, nil
}

func (r *Results) sizeAgainstTime() *plot.Plot {
	p := chart.New("stored bytes per sample", "ms per sample, random order")
	chart.AddGrid(p)
	sizes, times := valuesOf(r.Cases, func(c CaseResult) float64 { return c.Size.BytesPerSample }), valuesOf(r.Cases,
		func(c CaseResult) float64 { return c.Read.Random.Milliseconds.Median })
	limit := r.Cases[0].Read.Random.LimitMilliseconds
	logAxis(&p.X, slices.Min(sizes), 3*slices.Max(sizes), byteTick)
	logAxis(&p.Y, min(slices.Min(times), limit), slices.Max(times), plainTick)
	addLine(p, plotter.XYs{{X: p.X.Min, Y: limit}, {X: p.X.Max, Y: limit}}, grey, true)
	addLabel(p, p.X.Max, limit, "limit: fill the masks", grey, -4, -7, draw.XRight)
	var labels []label
	for i, c := range r.Cases {
		addPoints(p, plotter.XYs{{X: sizes[i], Y: times[i]}}, variantColors[c.Variant], c.Default)
		labels = append(labels, label{sizes[i], times[i], c.String(), variantColors[c.Variant]})
	}
	addLabels(p, labels, wide, high)
	return p
}
