package page

import (
	"cmp"
	"fmt"
	"math"
	"slices"
)

// XY is a plot of points and lines.
type XY struct {
	X, Y  Axis
	Marks []Mark
	Lines []Line
	Limit *Limit
}

// Mark is a point.
type Mark struct {
	X, Y   float64
	Color  int // 1 to 7
	Hollow bool
	Label  string // beside it
	Hover  string
}

// Line joins points.
type Line struct {
	Points []Mark // of which X and Y count
	Color  int
	Dashed bool
}

// Limit is a horizontal line that no point is expected below.
type Limit struct {
	Y    float64
	Text string
}

func (d XY) draw(c *canvas) float64 {
	const height, bottom = 290.0, 248.0
	top := 26.0
	if d.Y.Title == "" {
		top = 10
	}
	x, y := scale{Axis: d.X, end: width - 12}, scale{Axis: d.Y, start: bottom, end: top}
	d.fit(&x, &y)
	ticks := y.ticks(7, func(string) float64 { return 2 * lineHeight })
	for _, tick := range ticks {
		x.start = max(x.start, textWidth(d.Y.Format(tick))+10)
	}
	if len(d.Lines) > 0 { // labels stand to the right of the last points
		for _, mark := range d.Marks {
			x.end = min(x.end, width-textWidth(mark.Label)-12)
		}
	}
	c.title(0, 9, "start", d.Y.Title)
	c.title(width-12, height-10, "end", d.X.Title)
	for _, tick := range ticks {
		c.line(x.start, y.at(tick), width, y.at(tick), "grid")
		c.text(x.start-6, y.at(tick), "end", "", d.Y.Format(tick))
	}
	for _, tick := range x.ticks(8, func(label string) float64 { return textWidth(label) + 12 }) {
		c.line(x.at(tick), top, x.at(tick), bottom, "grid")
		c.text(x.at(tick), bottom+13, "middle", "", d.X.Format(tick))
	}
	if d.Limit != nil {
		c.line(x.start, y.at(d.Limit.Y), width, y.at(d.Limit.Y), "limit")
		c.text(width-4, y.at(d.Limit.Y)+9, "end", "quiet", d.Limit.Text)
	}
	for _, line := range d.Lines {
		class := fmt.Sprintf("line c%d", line.Color)
		if line.Dashed {
			class += " dashed"
		}
		for i := 1; i < len(line.Points); i++ {
			from, to := line.Points[i-1], line.Points[i]
			c.line(x.at(from.X), y.at(from.Y), x.at(to.X), y.at(to.Y), class)
		}
	}
	for _, mark := range d.Marks {
		class := color(mark.Color)
		if mark.Hollow {
			class = fmt.Sprintf("hollow c%d", mark.Color)
		}
		c.mark(x.at(mark.X), y.at(mark.Y), class, mark.Hover)
	}
	d.drawLabels(c, x, y)
	return height
}

// drawLabels writes the labels beside their marks, each below those above that it would cover.
func (d XY) drawLabels(c *canvas, x, y scale) {
	type box struct{ left, right, y float64 }
	var taken []box
	for _, mark := range slices.SortedStableFunc(slices.Values(d.Marks), func(a, b Mark) int { return cmp.Compare(b.Y, a.Y) }) {
		at, anchor := x.at(mark.X)+9, "start"
		place := box{at, at + textWidth(mark.Label), y.at(mark.Y)}
		if place.right > width {
			at, anchor = at-18, "end"
			place.left, place.right = at-textWidth(mark.Label), at
		}
		for _, other := range taken { // from top to bottom
			if place.left < other.right && other.left < place.right && math.Abs(place.y-other.y) < lineHeight {
				place.y = other.y + lineHeight
			}
		}
		if mark.Label != "" {
			c.text(at, place.y, anchor, fmt.Sprintf("label c%d", mark.Color), mark.Label)
			taken = append(taken, place)
		}
	}
}

// fit chooses the ranges of the axes.
func (d XY) fit(x, y *scale) {
	var xs, ys []float64
	add := func(marks []Mark) {
		for _, mark := range marks {
			xs, ys = append(xs, mark.X), append(ys, mark.Y)
		}
	}
	add(d.Marks)
	for _, line := range d.Lines {
		add(line.Points)
	}
	if d.Limit != nil {
		ys = append(ys, d.Limit.Y)
	}
	x.fit(xs)
	y.fit(ys)
}

// Describe tells the ranges of the axes in words.
func (d XY) Describe() string {
	low, high := d.Marks[0], d.Marks[0]
	for _, mark := range d.Marks {
		low.X, low.Y, high.X, high.Y = min(low.X, mark.X), min(low.Y, mark.Y), max(high.X, mark.X), max(high.Y, mark.Y)
	}
	return fmt.Sprintf("Horizontal axis: %s, %s to %s. Vertical axis: %s, %s to %s.",
		d.X.Title, d.X.Format(low.X), d.X.Format(high.X), d.Y.Title, d.Y.Format(low.Y), d.Y.Format(high.Y))
}
