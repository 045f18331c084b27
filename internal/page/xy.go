package page

import "fmt"

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

// point is a place on the canvas.
type point struct{ x, y float64 }

func color(n int) string { return fmt.Sprintf("full c%d", n) }

func (d XY) draw(c *canvas) float64 {
	height := 270.0
	if c.width > narrow {
		height = 340
	}
	top := 26.0
	if d.Y.Title == "" {
		top = 10
	}
	bottom := height - 42
	x, y := scale{Axis: d.X, end: c.width - 10}, scale{Axis: d.Y, start: bottom, end: top}
	d.fit(&x, &y)
	ticks := y.ticks(7, func(string) float64 { return 2 * lineHeight })
	for _, tick := range ticks {
		x.start = max(x.start, textWidth(d.Y.Format(tick))+8)
	}
	if len(d.Lines) > 0 { // labels stand to the right of the last points
		widest := 0.0
		for _, mark := range d.Marks {
			widest = max(widest, textWidth(mark.Label))
		}
		x.end -= widest + 14
	}
	c.text(0, 9, "start", "quiet", fitted(d.Y.Title, c.width))
	c.text(c.width-10, height-10, "end", "quiet", fitted(d.X.Title, c.width))
	for _, tick := range ticks {
		c.line(x.start, y.at(tick), c.width, y.at(tick), "grid")
		c.text(x.start-6, y.at(tick), "end", "", d.Y.Format(tick))
	}
	for _, tick := range x.ticks(8, func(label string) float64 { return textWidth(label) + 12 }) {
		c.line(x.at(tick), top, x.at(tick), bottom, "grid")
		c.text(x.at(tick), bottom+13, "middle", "", d.X.Format(tick))
	}
	var taken []box
	area := area{left: x.start, right: c.width, top: top, bottom: bottom, limit: -1e9}
	if d.Limit != nil {
		c.line(x.start, y.at(d.Limit.Y), c.width, y.at(d.Limit.Y), "limit")
		at := point{c.width - 4, y.at(d.Limit.Y) - 9}
		c.text(at.x, at.y, "end", "quiet", d.Limit.Text)
		taken = append(taken, box{at.x - textWidth(d.Limit.Text), at.x, at.y})
		area.limit = y.at(d.Limit.Y)
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
	d.drawMarks(c, x, y, area, taken)
	return height
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

// drawMarks draws the marks over their labels' leaders.
func (d XY) drawMarks(c *canvas, x, y scale, area area, taken []box) {
	var points []point
	var widths []float64
	for _, mark := range d.Marks {
		points, widths = append(points, point{x.at(mark.X), y.at(mark.Y)}), append(widths, textWidth(mark.Label))
	}
	for i, place := range placeLabels(points, widths, area, taken, len(d.Lines) > 0) {
		if d.Marks[i].Label == "" {
			continue
		}
		if near := place.near(points[i]); place.distance(points[i]) > leaderFrom {
			c.line(points[i].x, points[i].y, near.x, near.y, "leader")
		}
		switch { // widths are estimates: the end near the point is the exact one
		case place.left > points[i].x:
			c.text(place.left, place.y, "start", "", d.Marks[i].Label)
		case place.right < points[i].x:
			c.text(place.right, place.y, "end", "", d.Marks[i].Label)
		default:
			c.text((place.left+place.right)/2, place.y, "middle", "", d.Marks[i].Label)
		}
	}
	for i, mark := range d.Marks {
		class := "full"
		if mark.Hollow {
			class = "hollow"
		}
		c.mark(points[i], mark.Color, class, mark.Hover)
	}
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
