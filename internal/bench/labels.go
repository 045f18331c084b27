package bench

import (
	"cmp"
	"image/color"
	"math"
	"slices"

	"gonum.org/v1/plot"
	"gonum.org/v1/plot/plotter"
	"gonum.org/v1/plot/text"
	"gonum.org/v1/plot/vg"
	"gonum.org/v1/plot/vg/draw"
)

// label is text to the right of a point.
type label struct {
	x, y  float64 // of the point, in the plot's units
	words string
	color color.Color
}

const (
	lineHeight = 12
	charWidth  = 5.5
	labelGap   = 7 // between a point and its label
)

// addLabels writes labels beside their points on a plot of width x height, whose axes must be set.
// A label that has to move is joined to its point by a line.
func addLabels(p *plot.Plot, labels []label, width, height float64) {
	const area = 0.8 // fraction of the plot inside the axes
	var points []vg.Point
	for _, l := range labels {
		points = append(points, vg.Point{X: vg.Length(area * width * p.X.Norm(l.x)), Y: vg.Length(area * height * p.Y.Norm(l.y))})
	}
	for i, rise := range placeLabels(labels, points) {
		l := labels[i]
		if math.Abs(float64(rise)) > lineHeight/2 {
			p.Add(leader{l, rise})
		}
		addLabel(p, l.x, l.y, l.words, l.color, labelGap, rise, draw.XLeft)
	}
}

// placeLabels returns how far each label is above its point, in points: as little as possible
// without overlapping another label or point. Stacked labels keep the order of their points, so
// that it is clear which belongs to which.
func placeLabels(labels []label, points []vg.Point) []vg.Length {
	order := make([]int, len(labels)) // from the lowest point to the highest
	for i := range order {
		order[i] = i
	}
	slices.SortStableFunc(order, func(a, b int) int { return cmp.Compare(points[a].Y, points[b].Y) })

	type box struct{ left, right, y vg.Length } // as high as a line
	meets := func(a, b box, gap vg.Length) bool {
		return a.left < b.right && b.left < a.right && b.y < a.y+gap && a.y < b.y+gap
	}
	placed := make(map[int]box) // by rank in the order
	fits := func(rank int, place box) bool {
		for _, point := range points {
			if meets(place, box{point.X - 4, point.X + 4, point.Y}, lineHeight) {
				return false
			}
		}
		for other, taken := range placed {
			below := place.y < taken.y
			if meets(place, taken, lineHeight) || meets(place, taken, math.MaxInt32) && below != (rank < other) {
				return false
			}
		}
		return true
	}
	rises := make([]vg.Length, len(labels))
	for _, rank := range outward(len(order)) {
		i := order[rank]
		at, left := points[i], points[i].X+labelGap
		place := box{left, left + vg.Length(charWidth*float64(len(labels[i].words))), at.Y}
		for step := 1; !fits(rank, place); step++ { // up, down, further up, …
			place.y = at.Y + vg.Length((step+1)/2)*3*vg.Length(step%2*2-1)
		}
		placed[rank], rises[i] = place, place.y-at.Y
	}
	return rises
}

// outward lists 0 to n-1 from the middle outward, so that no label has to fit between two that are
// already placed.
func outward(n int) (ranks []int) {
	for low, high := (n+1)/2-1, (n+1)/2; low >= 0 || high < n; low, high = low-1, high+1 {
		if low >= 0 {
			ranks = append(ranks, low)
		}
		if high < n {
			ranks = append(ranks, high)
		}
	}
	return ranks
}

// leader joins a label to its point.
type leader struct {
	label
	rise vg.Length
}

// Plot implements plot.Plotter.
func (l leader) Plot(c draw.Canvas, p *plot.Plot) {
	x, y := p.Transforms(&c)
	at := vg.Point{X: x(l.x), Y: y(l.y)}
	c.StrokeLine2(draw.LineStyle{Color: l.color, Width: 0.5}, at.X, at.Y, at.X+labelGap-1, at.Y+l.rise)
}

// addLabel writes text at a point of the plot, offset by dx and dy.
func addLabel(p *plot.Plot, x, y float64, words string, c color.Color, dx, dy vg.Length, align text.XAlignment) {
	labels, err := plotter.NewLabels(plotter.XYLabels{XYs: plotter.XYs{{X: x, Y: y}}, Labels: []string{words}})
	if err != nil {
		panic(err) // as many labels as points
	}
	style := &labels.TextStyle[0]
	style.Font.Variant, style.Font.Size = "Sans", 10
	style.Color, style.XAlign, style.YAlign = c, align, draw.YCenter
	labels.Offset = vg.Point{X: dx, Y: dy}
	p.Add(labels)
}
