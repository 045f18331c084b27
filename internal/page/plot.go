package page

import (
	"fmt"
	"math"
	"slices"
	"strconv"
	"unicode/utf8"

	"github.com/dustin/go-humanize"
)

// Plot is a chart of counts, or of marks.
type Plot struct {
	Title   string
	X       string // what tells the columns apart, below them
	Counted string // what their heights count
	Columns []Column
	Bins    []Bin    // ascending, in place of Columns: a histogram
	Placed  *Drawing // in place of Columns, for example marks
}

// Column is a column of a chart.
type Column struct {
	Label string // below it
	Value int    // its height, 0 or more
}

// Bin is a column of a histogram: Value values are at least From and below To.
type Bin struct {
	From  float64 `json:"from"`
	To    float64 `json:"to"`
	Value int     `json:"values"`
}

// Text describes the chart for people who cannot see it.
func (p Plot) Text() string {
	if p.Placed != nil {
		return p.Placed.Text
	}
	total, most := 0, Column{Value: -1}
	for _, column := range p.columns() {
		if total += column.Value; column.Value > most.Value {
			most = column
		}
	}
	text := fmt.Sprintf("Bar chart of %s %s by %s", Count(total), p.Counted, p.X)
	if total > 0 {
		text += fmt.Sprintf("; the highest bar is %s with %s", most.Label, Count(most.Value))
	}
	return text + "."
}

// columns are the columns; bins have their range as label.
func (p Plot) columns() []Column {
	columns := slices.Clone(p.Columns)
	for _, bin := range p.Bins {
		columns = append(columns, Column{Plain(bin.From) + " to " + Plain(bin.To), bin.Value})
	}
	return columns
}

// Drawing has the places of a plot's elements, as shares of its width and height from the upper
// left corner.
type Drawing struct {
	XTicks, YTicks []Tick
	Columns        []box
	Marks          []Mark
	Text           string // describes it for people who cannot see it
}

// Tick is a label of an axis.
type Tick struct {
	At    Percent
	Label string
}

type box struct {
	X, Y, Width, Height Percent
	Hover               string
}

// Mark is a dot with its label beside it, on the left if so.
type Mark struct {
	X, Y, LabelY Percent
	Left         bool
	Label, Hover string
}

// Percent is a share of the width or height, 0 to 1.
type Percent float64

func (p Percent) String() string { return strconv.FormatFloat(100*float64(p), 'f', 2, 64) + "%" }

// letters is about how many letters a plot is wide: browsers choose its size and font.
const letters = 50

// Drawing places the elements.
func (p Plot) Drawing() (d Drawing) {
	if p.Placed != nil {
		return *p.Placed
	}
	columns, most, widest := p.columns(), 0, 0
	for _, column := range columns {
		most = max(most, column.Value)
		widest = max(widest, utf8.RuneCountInString(Cell(column.Label)))
	}
	y := scale{high: max(1.05*float64(most), 1), format: Short}
	for _, at := range y.ticks() {
		if at == math.Trunc(at) {
			d.YTicks = append(d.YTicks, Tick{1 - y.at(at), Short(at)})
		}
	}
	room := Percent(1 / float64(len(columns)))
	wide := min(0.8*room, 0.15)
	if p.Bins != nil {
		wide = room
	}
	every := 1 + len(columns)*(widest+1)/letters // label that has room
	for i, column := range columns {
		x, height := Percent(i)*room, y.at(float64(column.Value))
		d.Columns = append(d.Columns, box{x + (room-wide)/2, 1 - height, wide, height,
			fmt.Sprintf("%s: %s %s", column.Label, Count(column.Value), p.Counted)})
		if p.Bins == nil && i%every == 0 {
			d.XTicks = append(d.XTicks, Tick{x + room/2, column.Label})
		}
	}
	if p.Bins != nil {
		d.XTicks = edgeTicks(p.Bins[0].From, p.Bins[len(p.Bins)-1].To)
	}
	return d
}

// edgeTicks are round numbers between the first and the last edge of a histogram. Edges so near
// each other, or so far apart, that there are none have one label.
func edgeTicks(first, last float64) (ticks []Tick) {
	if math.IsInf(last-first, 0) || last-first < 1e-5*max(math.Abs(first), math.Abs(last)) {
		return []Tick{{0.5, "from " + strconv.FormatFloat(first, 'g', 4, 64) +
			" to " + strconv.FormatFloat(last, 'g', 4, 64)}}
	}
	x := scale{low: first, high: last, format: Plain}
	for _, at := range x.ticks() {
		ticks = append(ticks, Tick{x.at(at), Plain(at)})
	}
	return ticks
}

// Count formats a number with thousands separators: 332,313.
func Count(n int) string { return humanize.Comma(int64(n)) }

// scale maps the values of an axis, from low to high, to the numbers from 0 to 1.
type scale struct {
	low, high float64
	format    func(float64) string
}

func (s scale) at(value float64) Percent { return Percent((value - s.low) / (s.high - s.low)) }

// mostTicks is how many labels an axis has room for.
const mostTicks = 6

// ticks are the values of the scale that have a label, all different: the multiples of the smallest
// step that makes few enough, of 1, 2 or 5 times a power of ten.
func (s scale) ticks() []float64 {
	for level := 0; ; level++ {
		power := math.Floor(math.Log10((s.high-s.low)/10)) + float64(level/3)
		step := []float64{1, 2, 5}[level%3] * math.Pow(10, power)
		var ticks []float64
		labels := make(map[string]bool)
		for i := math.Ceil(s.low / step); i*step <= s.high && len(ticks) <= mostTicks; i++ {
			ticks = append(ticks, i*step)
			labels[s.format(i*step)] = true
		}
		if len(ticks) <= mostTicks && len(labels) == len(ticks) {
			return ticks
		}
	}
}

// Plain formats a number with the digits that it needs, at most 7.
func Plain(x float64) string {
	// without 0.30000000000000004
	rounded, _ := strconv.ParseFloat(strconv.FormatFloat(x, 'g', 7, 64), 64)
	format := byte('f')
	if size := math.Abs(rounded); size != 0 && (size < 1e-4 || size >= 1e7) {
		format = 'g'
	}
	return strconv.FormatFloat(rounded, format, -1, 64)
}

// Short formats a number with three digits, and k and M for thousands and millions.
func Short(x float64) string {
	x, _ = strconv.ParseFloat(strconv.FormatFloat(x, 'g', 3, 64), 64)
	switch {
	case x >= 1e6:
		return Plain(x/1e6) + "M"
	case x >= 1e3:
		return Plain(x/1e3) + "k"
	}
	return Plain(x)
}
