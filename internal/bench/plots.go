package bench

import (
	"cmp"
	"fmt"
	"slices"

	"tcbuild/internal/page"
	"tcbuild/store"
)

// Colours, and with them the shapes of marks, of the variants.
var variantColors = map[store.Variant]int{store.Incidence: 1, store.Indices: 2, store.FullMasks: 3}

// figures are all plots with how to read them, in the order of reading.
func (r *Results) figures() []page.Section {
	figures := []page.Section{
		{Title: "Size against loading time", Text: "Lower and further left is better. Filled marks are the default codecs. The dashed line is the time to fill the masks' bytes. Below it are readers that change only what differs from the sample before.",
			Plots: []page.Plot{r.sizeAgainstTime()}},
		{Title: "Where the time of a build goes", Text: "Each bar is one build, divided by the wall time of its stages; the total is at the right.",
			Plots: []page.Plot{r.stageShares()}},
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
	d := page.XY{
		X:     page.Axis{Title: "stored bytes per sample", Log: true, Format: byteTick},
		Y:     page.Axis{Title: "time to load a sample, random order", Log: true, Format: secondsTick},
		Limit: &page.Limit{Y: limit / 1000, Text: "fill all masks"},
	}
	for _, c := range r.Cases {
		x, y := c.Size.BytesPerSample, c.Read.Random.Milliseconds.Median/1000
		d.Marks = append(d.Marks, page.Mark{X: x, Y: y, Color: variantColors[c.Variant], Hollow: !c.Default, Label: c.String(),
			Hover: fmt.Sprintf("%s: %s per sample, %s", c, formatBytes(x), formatSeconds(y))})
	}
	return page.Plot{Title: "Size against loading time", Drawing: d,
		Text: "Time to load a sample's masks against its stored bytes, a mark for each variant and codec. " + d.Describe()}
}

// stageColors are those of the stages of a build.
var stageColors = map[string]int{"read graph": 6, surveyStage: 4, "build incidence": 5, "write graph": 3, masksStage: 2, restStage: 7}

func (r *Results) stageShares() page.Plot {
	var d page.Shares
	color := func(stage string) int { return cmp.Or(stageColors[stage], 1) }
	for _, name := range r.stageNames() {
		d.Legend = append(d.Legend, page.Part{Name: name, Color: color(name)})
	}
	for _, c := range r.Cases {
		row := page.Share{Label: c.String(), Total: formatSeconds(c.Build.Seconds.Median)}
		for _, stage := range c.Build.Stages {
			seconds := stage.Seconds.Median
			row.Parts = append(row.Parts, page.Part{Name: stage.Stage, Color: color(stage.Stage),
				Value: max(seconds, 0), Text: formatSeconds(seconds)})
		}
		d.Rows = append(d.Rows, row)
	}
	return page.Plot{Title: "Where the time of a build goes", Drawing: d,
		Text: "A bar for each variant and codec, divided by the time of the stages of its build. The table of stages below has the figures."}
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
