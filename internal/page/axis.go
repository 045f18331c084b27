package page

import (
	"math"
	"slices"
	"strconv"
)

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
