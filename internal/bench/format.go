package bench

import (
	"fmt"
	"math"
	"strconv"

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

// formatBytes formats a size with its unit: 45 B, 1.75 kB, 821 GB. A kB is 1,000 bytes.
func formatBytes(n float64) string { return humanize.BytesN(uint64(n), 3) }

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

// formatStat formats a median with the spread of its rounds: 0.52 ±4%. A single round has no
// spread.
func formatStat(s Stat, format func(float64) string) string {
	if s.Rounds < 2 {
		return format(s.Median)
	}
	return fmt.Sprintf("%s ±%.0f%%", format(s.Median), 100*s.Spread())
}
