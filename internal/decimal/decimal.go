// Package decimal reads decimal numbers into float64, and refuses those that would become 0.
package decimal

import (
	"strconv"
	"strings"
)

// ErrTooSmall is the error of a number whose nearest float64 is 0, although it is not 0. Read as 0,
// a p-value of 1e-400 would have no logarithm. It is a strconv.ErrRange.
var ErrTooSmall error = tooSmall{}

type tooSmall struct{}

func (tooSmall) Error() string {
	return "too small for a 64-bit floating-point number: the smallest above 0 is 5e-324"
}

func (tooSmall) Is(target error) bool { return target == strconv.ErrRange }

// Parse is strconv.ParseFloat for float64, but numbers other than 0 are never 0. Denormal numbers
// are read like any other: each is the nearest that float64 has.
func Parse(text string) (float64, error) {
	value, err := strconv.ParseFloat(text, 64)
	if value == 0 && err == nil {
		mantissa := text
		if exponent := strings.IndexAny(text, "eEpP"); exponent >= 0 {
			mantissa = text[:exponent]
		}
		if strings.ContainsAny(mantissa, "123456789") {
			return 0, ErrTooSmall
		}
	}
	return value, err
}
