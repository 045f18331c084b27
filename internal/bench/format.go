package bench

import (
	"fmt"
	"math"
	"strconv"
	"strings"

	"github.com/dustin/go-humanize"
)

// formatNumber formats a number with about three significant digits and thousands separators:
// 0.0123, 4, 4.57, 45.7, 332,313.
func formatNumber(x float64) string {
	switch size := math.Abs(x); {
	case x == math.Trunc(x) && size < 1000:
		return strconv.FormatFloat(x, 'f', 0, 64)
	case size < 0.9995:
		return strconv.FormatFloat(x, 'f', min(2-int(math.Floor(math.Log10(size))), 9), 64)
	case size < 10:
		return strconv.FormatFloat(x, 'f', 2, 64)
	case size < 100:
		return strconv.FormatFloat(x, 'f', 1, 64)
	}
	return humanize.Comma(int64(math.Round(x)))
}

// formatBytes formats a size with its unit: 45.2 B, 1.75 kB, 821 GB. A kB is 1,000 bytes.
func formatBytes(n float64) string {
	units := []string{"B", "kB", "MB", "GB", "TB", "PB"}
	for n >= 999.5 && len(units) > 1 { // would round to 1,000
		n /= 1000
		units = units[1:]
	}
	return formatNumber(n) + " " + units[0]
}

// formatSeconds formats a time with its unit: 13 µs, 1.75 ms, 12.3 s, 41 min, 5.2 h.
func formatSeconds(s float64) string {
	switch {
	case s == 0:
		return "0 s"
	case s < 0.9995e-3:
		return formatNumber(s*1e6) + " µs"
	case s < 0.9995:
		return formatNumber(s*1000) + " ms"
	case s < 120:
		return formatNumber(s) + " s"
	case s < 7200:
		return formatNumber(s/60) + " min"
	}
	return formatNumber(s/3600) + " h"
}

// formatPercent formats a fraction: 0.4 %, 63 %.
func formatPercent(fraction float64) string {
	percent := 100 * fraction
	if percent < 9.95 {
		return strconv.FormatFloat(percent, 'f', 1, 64) + " %"
	}
	return strconv.FormatFloat(percent, 'f', 0, 64) + " %"
}

// formatStat formats a median with the spread of its rounds: 0.52 ±4%. A single round has no
// spread.
func formatStat(s Stat, format func(float64) string) string {
	if s.Rounds < 2 {
		return format(s.Median)
	}
	return fmt.Sprintf("%s ±%.0f%%", format(s.Median), 100*s.Spread())
}

// byteTick formats a tick that is a size.
func byteTick(x float64) string { return trimmed(formatBytes(x)) }

// secondsTick formats a tick that is a time in seconds.
func secondsTick(x float64) string { return trimmed(formatSeconds(x)) }

// trimmed removes trailing zeros after the decimal point of a number, with or without a unit.
func trimmed(text string) string {
	number, unit, spaced := strings.Cut(text, " ")
	if strings.Contains(number, ".") {
		number = strings.TrimRight(strings.TrimRight(number, "0"), ".")
	}
	if spaced {
		return number + " " + unit
	}
	return number
}

// ratio is a/b, or 0 if b is 0, such as a limit that was not measured.
func ratio(a, b float64) float64 {
	if b == 0 {
		return 0
	}
	return a / b
}
