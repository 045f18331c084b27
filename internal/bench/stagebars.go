package bench

import (
	"image/color"
	"slices"

	"gonum.org/v1/plot"
	"gonum.org/v1/plot/plotter"
	"gonum.org/v1/plot/vg"
	"gonum.org/v1/plot/vg/draw"

	"tcbuild/internal/chart"
)

// stageColors are those of the stages of a build; a stage that is not there is black.
var stageColors = map[string]color.Color{
	"read graph": sky, surveyStage: orange, "build incidence": purple, "write graph": green, masksStage: vermilion, restStage: grey,
}

func (r *Results) stageBars() *plot.Plot {
	p := chart.New("part of the build's wall time", "")
	last := len(r.Cases) - 1
	var names []string
	for i := range r.Cases {
		c := r.Cases[last-i] // the first case at the top
		names = append(names, c.String())
		total := 0.0
		for _, stage := range c.Build.Stages {
			total += stage.Seconds.Median
		}
		addLabel(p, 1, float64(i), formatSeconds(c.Build.Seconds.Median), color.Black, 5, 0, draw.XLeft)
		left := 0.0
		for _, stage := range c.Build.Stages {
			right := left + stage.Seconds.Median/total
			y := float64(i)
			bar, err := plotter.NewPolygon(plotter.XYs{{X: left, Y: y - 0.33}, {X: right, Y: y - 0.33},
				{X: right, Y: y + 0.33}, {X: left, Y: y + 0.33}})
			if err != nil {
				panic(err) // a polygon of finite numbers
			}
			bar.Color = stageColor(stage.Stage)
			bar.LineStyle.Width = 0
			p.Add(bar)
			left = right
		}
	}
	for _, name := range r.stageNames() {
		p.Legend.Add(name, swatch{stageColor(name)})
	}
	p.Legend.Top, p.Legend.ThumbnailWidth, p.Legend.Padding = true, 10, 3
	p.NominalY(names...)
	p.X.Min, p.X.Max = 0, 1.45 // leaves room for the legend
	p.X.Tick.Marker = plot.ConstantTicks{{Value: 0, Label: "0"}, {Value: 0.25, Label: "25 %"},
		{Value: 0.5, Label: "50 %"}, {Value: 0.75, Label: "75 %"}, {Value: 1, Label: "100 %"}}
	p.Y.Min, p.Y.Max = -0.6, float64(last)+0.6
	return p
}

// stageNames are the stages of all cases in the order in which they run.
func (r *Results) stageNames() (names []string) {
	for _, c := range r.Cases {
		for _, stage := range c.Build.Stages {
			if stage.Stage != restStage && !slices.Contains(names, stage.Stage) {
				names = append(names, stage.Stage)
			}
		}
	}
	return append(names, restStage)
}

func stageColor(name string) color.Color {
	if c, known := stageColors[name]; known {
		return c
	}
	return color.Black
}

// swatch is a legend's sample of a bar.
type swatch struct{ color color.Color }

// Thumbnail implements plot.Thumbnailer.
func (s swatch) Thumbnail(c *draw.Canvas) {
	c.FillPolygon(s.color, []vg.Point{c.Min, {X: c.Min.X, Y: c.Max.Y}, c.Max, {X: c.Max.X, Y: c.Min.Y}})
}
