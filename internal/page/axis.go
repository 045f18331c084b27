package page

import (
	"math"
	"slices"
	"strconv"

	"github.com/dustin/go-humanize"
)

// Axis is the horizontal or vertical axis of a plot.
type Axis struct {
	Title  string
	Log    bool // logarithmic; otherwise from 0
	Format func(float64) string
	Ticks  []float64 // where they are given
}

// scale maps the values of an axis to pixels.
type scale struct {
	Axis
	low, high  float64 // values
	start, end float64 // pixels of low and high
}

// at is the pixel of a value.
func (s *scale) at(value float64) float64 {
	low, high := s.low, s.high
	if s.Log {
		low, high, value = math.Log(low), math.Log(high), math.Log(value)
	}
	return s.start + (value-low)/(high-low)*(s.end-s.start)
}

// fit makes the scale wide enough for the values.
func (s *scale) fit(values []float64) {
	s.low, s.high = 0, 1.08*slices.Max(values)
	if s.Log {
		s.low, s.high = slices.Min(values)/1.5, 1.5*slices.Max(values)
	}
	if s.high <= s.low {
		s.high = 1
	}
}

// ticks are the values of the scale that have a label: as many as have room, at most most.
func (s *scale) ticks(most int, room func(label string) float64) []float64 {
	for level := 0; ; level++ {
		ticks := s.level(level)
		fits := len(ticks) <= most
		for i := 1; i < len(ticks) && fits; i++ {
			a, b := s.Format(ticks[i-1]), s.Format(ticks[i])
			fits = a != b && math.Abs(s.at(ticks[i])-s.at(ticks[i-1])) >= (room(a)+room(b))/2
		}
		if fits {
			return ticks
		}
	}
}

// level returns the ticks of a level; each has fewer than the one before, the last at most one.
func (s *scale) level(level int) (ticks []float64) {
	if s.Ticks != nil {
		for i := 0; i < len(s.Ticks); i += level + 1 {
			if s.Ticks[i] >= s.low && s.Ticks[i] <= s.high {
				ticks = append(ticks, s.Ticks[i])
			}
		}
		return ticks
	}
	if !s.Log {
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

func comma(n int) string { return humanize.Comma(int64(n)) }
