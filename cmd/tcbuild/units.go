package main

import (
	"fmt"
	"strconv"
)

// humanBytes writes a number of bytes with three digits or so: 999 B, 1.0 kB, 4.2 GB. A kB is 1,000 bytes.
func humanBytes(n int64) string {
	if n < 1000 {
		return fmt.Sprintf("%d B", n)
	}
	value := float64(n) / 1000
	units := []string{"kB", "MB", "GB", "TB", "PB", "EB"}
	for value >= 999.95 { // would round to 1000.0
		value /= 1000
		units = units[1:]
	}
	return fmt.Sprintf("%.1f %s", value, units[0])
}

// humanCount writes a number with its thousands separated: 332,313.
func humanCount(n int) string {
	digits := strconv.Itoa(n)
	first := 0
	if n < 0 {
		first = 1
	}
	for i := len(digits) - 3; i > first; i -= 3 {
		digits = digits[:i] + "," + digits[i:]
	}
	return digits
}
