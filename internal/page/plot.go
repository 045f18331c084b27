package page

import (
	"cmp"
	"fmt"
	"math"
	"slices"
	"strconv"
	"unicode/utf8"

	"github.com/dustin/go-humanize"
)

// Plot is a chart of columns, or of points on logarithmic axes.
type Plot struct {
	Title string
	Text  string // what it shows, for people who cannot see it
	X, Y  Axis

	Columns []Column
	Bins    []Bin // ascending, in place of Columns: a histogram
	Marks   []Mark
	Limit   *Limit
}

// Column is a column of a chart of counts.
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

// Mark is a point.
type Mark struct {
	X, Y   float64
	Color  int // 1 to 3
	Hollow bool
	Label  string // beside it
	Hover  string
}

// Limit is a horizontal line that no point is expected below.
type Limit struct {
	Y    float64
	Text string
}

// Counts completes a plot of columns or bins: it describes them, and makes the vertical axis, whose
// title says what is counted.
func (p Plot) Counts(counted string) Plot {
	p.Y = Axis{Title: counted, Format: Short}
	total, most := 0, Column{Value: -1}
	for _, column := range p.columns() {
		if total += column.Value; column.Value > most.Value {
			most = column
		}
	}
	p.Text = fmt.Sprintf("Bar chart of %s %s by %s", comma(total), counted, p.X.Title)
	if total > 0 {
		p.Text += fmt.Sprintf("; the highest bar is %s with %s", most.Label, comma(most.Value))
	}
	p.Text += "."
	return p
}

// Points completes a plot of marks: it describes their range.
func (p Plot) Points(what string) Plot {
	low, high := p.Marks[0], p.Marks[0]
	for _, mark := range p.Marks {
		low.X, low.Y, high.X, high.Y = min(low.X, mark.X), min(low.Y, mark.Y), max(high.X, mark.X), max(high.Y, mark.Y)
	}
	p.Text = fmt.Sprintf("%s Horizontal axis: %s, %s to %s. Vertical axis: %s, %s to %s.", what,
		p.X.Title, p.X.Format(low.X), p.X.Format(high.X), p.Y.Title, p.Y.Format(low.Y), p.Y.Format(high.Y))
	return p
}

// columns are the columns; bins have their range as label.
func (p Plot) columns() []Column {
	columns := slices.Clone(p.Columns)
	for _, bin := range p.Bins {
		columns = append(columns, Column{Plain(bin.From) + " to " + Plain(bin.To), bin.Value})
	}
	return columns
}

// drawing has the places of a plot's elements, in percent of its width and height from the upper
// left corner.
type drawing struct {
	XTicks, YTicks []tick
	Columns        []box
	Marks          []point
	LimitY         percent
}

type tick struct {
	At    percent
	Label string
}

type box struct {
	X, Y, Width, Height percent
	Hover               string
}

type point struct {
	Mark
	X, Y   percent
	LabelY percent
	Left   bool // of the mark is its label
}

// span returns where the label begins and ends.
func (p point) span() (from, to percent) {
	wide := percent(utf8.RuneCountInString(p.Label)) / letters
	if p.Left {
		return p.X - wide, p.X
	}
	return p.X, p.X + wide
}

// percent is a share of the width or height, 0 to 1.
type percent float64

func (p percent) String() string { return strconv.FormatFloat(100*float64(p), 'f', 2, 64) + "%" }

// A plot has room for rows lines of letters columns, about: browsers choose its size and font.
const (
	letters = 50
	rows    = 13
)

// Drawing places the elements.
func (p Plot) Drawing() (d drawing) {
	if p.Marks != nil {
		d.points(p)
	} else {
		d.columns(p)
	}
	return d
}

func (d *drawing) columns(p Plot) {
	columns, most, widest := p.columns(), 0, 0
	for _, column := range columns {
		most, widest = max(most, column.Value), max(widest, utf8.RuneCountInString(Cell(column.Label)))
	}
	y := scale{Axis: p.Y, high: max(1.05*float64(most), 1)}
	d.yTicks(y, slices.DeleteFunc(y.ticks(), func(tick float64) bool { return tick != math.Trunc(tick) }))
	room := percent(1 / float64(len(columns)))
	wide := min(0.8*room, 0.15)
	if p.Bins != nil {
		wide = room
	}
	every := 1 + len(columns)*(widest+1)/letters // label that has room
	for i, column := range columns {
		x, height := percent(i)*room, percent(y.at(float64(column.Value)))
		d.Columns = append(d.Columns, box{x + (room-wide)/2, 1 - height, wide, height,
			fmt.Sprintf("%s: %s %s", column.Label, comma(column.Value), p.Y.Title)})
		if p.Bins == nil && i%every == 0 {
			d.XTicks = append(d.XTicks, tick{x + room/2, column.Label})
		}
	}
	if p.Bins == nil {
		return
	}
	first, last := p.Bins[0].From, p.Bins[len(p.Bins)-1].To
	if math.IsInf(last-first, 0) || last-first < 1e-5*max(math.Abs(first), math.Abs(last)) {
		// edges so near each other, or so far apart, have no round numbers between them
		d.XTicks = []tick{{0.5, "from " + strconv.FormatFloat(first, 'g', 4, 64) + " to " + strconv.FormatFloat(last, 'g', 4, 64)}}
		return
	}
	d.xTicks(scale{Axis: Axis{Format: Plain}, low: first, high: last})
}

func (d *drawing) points(p Plot) {
	var xs, ys []float64
	if p.Limit != nil {
		ys = append(ys, p.Limit.Y)
	}
	for _, mark := range p.Marks {
		xs, ys = append(xs, mark.X), append(ys, mark.Y)
	}
	x, y := logScale(p.X, xs), logScale(p.Y, ys)
	d.xTicks(x)
	d.yTicks(y, y.ticks())
	if p.Limit != nil {
		d.LimitY = percent(1 - y.at(p.Limit.Y))
	}
	// from top to bottom, so that each label is below those that it would cover
	for _, mark := range slices.SortedStableFunc(slices.Values(p.Marks), func(a, b Mark) int { return cmp.Compare(b.Y, a.Y) }) {
		at := point{Mark: mark, X: percent(x.at(mark.X)), Y: percent(1 - y.at(mark.Y))}
		at.LabelY = at.Y
		_, end := at.span()
		at.Left = end > 1
		from, to := at.span()
		for _, above := range d.Marks {
			start, end := above.span()
			if start < to && from < end && at.LabelY-above.LabelY < 1./rows {
				at.LabelY = above.LabelY + 1./rows
			}
		}
		d.Marks = append(d.Marks, at)
	}
}

func (d *drawing) xTicks(x scale) {
	for _, at := range x.ticks() {
		d.XTicks = append(d.XTicks, tick{percent(x.at(at)), x.Format(at)})
	}
}

func (d *drawing) yTicks(y scale, ticks []float64) {
	for _, at := range ticks {
		d.YTicks = append(d.YTicks, tick{percent(1 - y.at(at)), y.Format(at)})
	}
}

func comma(n int) string { return humanize.Comma(int64(n)) }

// Axis is the horizontal or vertical axis of a plot.
type Axis struct {
	Title  string
	Format func(float64) string
}

// scale maps the values of an axis, from low to high, to the numbers from 0 to 1.
type scale struct {
	Axis
	log       bool // logarithmic; otherwise linear
	low, high float64
}

func (s scale) at(value float64) float64 {
	if s.log {
		return math.Log(value/s.low) / math.Log(s.high/s.low)
	}
	return (value - s.low) / (s.high - s.low)
}

// logScale makes a logarithmic scale wide enough for the values.
func logScale(axis Axis, values []float64) scale {
	return scale{Axis: axis, log: true, low: slices.Min(values) / 1.5, high: 1.5 * slices.Max(values)}
}

// mostTicks is how many labels an axis has room for.
const mostTicks = 6

// ticks are the values of the scale that have a label, all different.
func (s scale) ticks() []float64 {
	for level := 0; ; level++ {
		ticks := s.level(level)
		labels := make(map[string]bool)
		for _, tick := range ticks {
			labels[s.Format(tick)] = true
		}
		if len(ticks) <= mostTicks && len(labels) == len(ticks) {
			return ticks
		}
	}
}

// level returns the ticks of a level; each has fewer than the one before, the last at most one.
func (s scale) level(level int) (ticks []float64) {
	if !s.log {
		first := math.Floor(math.Log10((s.high-s.low)/10)) + float64(level/3) // of steps
		step := []float64{1, 2, 5}[level%3] * math.Pow(10, first)
		for i := math.Ceil(s.low / step); i*step <= s.high && len(ticks) < 100; i++ {
			ticks = append(ticks, i*step)
		}
		return ticks
	}
	digits := [][]float64{{1, 2, 3, 4, 5, 6, 7, 8, 9}, {1, 1.5, 2, 3, 5, 7}, {1, 2, 5}, {1, 3}, {1}}[min(level, 4)]
	every := max(level-3, 1)
	for power := int(math.Floor(math.Log10(s.low))); power <= int(math.Log10(s.high))+1; power++ {
		for _, digit := range digits {
			if value := digit * math.Pow10(power); power%every == 0 && value >= s.low && value <= s.high {
				ticks = append(ticks, value)
			}
		}
	}
	return ticks
}

// Plain formats a number with the digits that it needs, at most 7.
func Plain(x float64) string {
	rounded, _ := strconv.ParseFloat(strconv.FormatFloat(x, 'g', 7, 64), 64) // without 0.30000000000000004
	if size := math.Abs(rounded); size == 0 || size >= 1e-4 && size < 1e7 {
		return strconv.FormatFloat(rounded, 'f', -1, 64)
	}
	return strconv.FormatFloat(rounded, 'g', -1, 64)
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
