package page

import (
	"fmt"
	"math"
	"slices"
	"strconv"
)

// Column is a bar of a bar chart.
type Column struct {
	Label string // below the bar
	Value int    // its height, 0 or more
}

// Bin is a bar of a histogram: Value values are at least From and below To.
type Bin struct {
	From  float64 `json:"from"`
	To    float64 `json:"to"`
	Value int     `json:"values"`
}

// Columns is a bar chart of counts, or a histogram if it has Bins, ascending.
type Columns struct {
	X, Y    string // titles of the axes
	Columns []Column
	Bins    []Bin
}

// Plot returns a plot of counts with a description.
func (d Columns) Plot(title string) Plot {
	total, most := 0, Column{Value: -1}
	for _, column := range d.columns() {
		if total += column.Value; column.Value > most.Value {
			most = column
		}
	}
	text := fmt.Sprintf("Bar chart of %s %s by %s", comma(total), d.Y, d.X)
	if total > 0 {
		text += fmt.Sprintf("; the highest bar is %s with %s", most.Label, comma(most.Value))
	}
	return Plot{Title: title, Text: text + ".", Drawing: d}
}

// columns are the bars, those of bins with their range as label.
func (d Columns) columns() []Column {
	columns := slices.Clone(d.Columns)
	for _, bin := range d.Bins {
		columns = append(columns, Column{Plain(bin.From) + " to " + Plain(bin.To), bin.Value})
	}
	return columns
}

func (d Columns) draw(c *canvas) float64 {
	const height, top, bottom = 230, 28, 185
	columns, most := d.columns(), 0.0
	for _, column := range columns {
		most = max(most, float64(column.Value))
	}
	y := scale{Axis: Axis{Title: d.Y, Format: Short}, high: max(1.05*most, 1), start: bottom, end: top}
	ticks := slices.DeleteFunc(y.ticks(6, func(string) float64 { return 2 * lineHeight }), func(x float64) bool { return x != math.Trunc(x) })
	left := 0.0
	for _, tick := range ticks {
		left = max(left, textWidth(Short(tick)))
	}
	left = max(left+8, 20)
	right := width - 16
	c.title(0, 9, "start", d.Y)
	for _, tick := range ticks {
		c.line(left, y.at(tick), right, y.at(tick), "grid")
		c.text(left-6, y.at(tick), "end", "", Short(tick))
	}
	room := (right - left) / float64(len(columns))
	gap := max(min(room/6, 6), (room-60)/2)
	if d.Bins != nil {
		gap = min(room/10, 1)
	}
	for i, column := range columns {
		x := left + float64(i)*room
		if column.Value > 0 {
			height := max(bottom-y.at(float64(column.Value)), 1)
			c.rect(x+gap, bottom-height, room-2*gap, height, "full c1", "")
		}
		c.rect(x, top, room, bottom-top, "hit", fmt.Sprintf("%s: %s %s", column.Label, comma(column.Value), d.Y))
	}
	if d.Bins != nil {
		d.drawEdges(c, left, right, bottom)
	} else {
		d.drawLabels(c, left, room, bottom)
	}
	c.title((left+right)/2, height-10, "middle", d.X)
	return height
}

// drawLabels writes the labels of bars, as many as have room.
func (d Columns) drawLabels(c *canvas, left, room, bottom float64) {
	widest := 0.0
	for _, column := range d.Columns {
		widest = max(widest, textWidth(column.Label))
	}
	every := int((widest+6)/room) + 1
	for i := 0; i < len(d.Columns); i += every {
		at := left + (float64(i)+0.5)*room
		c.text(min(at, width-widest/2), bottom+13, "middle", "", d.Columns[i].Label)
	}
}

// drawEdges writes the axis of a histogram. Bins so narrow that their edges have the same label
// have that one.
func (d Columns) drawEdges(c *canvas, left, right, bottom float64) {
	first, last := d.Bins[0].From, d.Bins[len(d.Bins)-1].To
	if math.IsInf(last-first, 0) || last-first < 1e-5*max(math.Abs(first), math.Abs(last)) {
		c.text((left+right)/2, bottom+13, "middle", "", "from "+strconv.FormatFloat(first, 'g', 4, 64)+" to "+strconv.FormatFloat(last, 'g', 4, 64))
		return
	}
	x := scale{Axis: Axis{Format: Plain}, low: first, high: last, start: left, end: right}
	for _, tick := range x.ticks(7, func(label string) float64 { return textWidth(label) + 12 }) {
		c.line(x.at(tick), bottom, x.at(tick), bottom+4, "grid")
		if half := textWidth(Plain(tick)) / 2; x.at(tick) >= half && x.at(tick) <= width-half {
			c.text(x.at(tick), bottom+13, "middle", "", Plain(tick))
		}
	}
}
