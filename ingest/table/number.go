package table

import (
	"bytes"
	"fmt"
	"math"
	"strconv"
)

// parseNumber reads a decimal number; a missing one is NaN.
func parseNumber(text []byte) (value float64, missing bool, err error) {
	if isMissing(text) {
		return math.NaN(), true, nil
	}
	if n, ok := shortInteger(text); ok {
		return float64(n), false, nil
	}
	value, err = strconv.ParseFloat(string(text), 64)
	switch {
	case err != nil && math.IsInf(value, 0):
		return 0, false, fmt.Errorf("number %q is beyond the range of 64-bit floating-point numbers", text)
	case err != nil || isGoLiteral(text):
		return 0, false, fmt.Errorf("found %q, expected a number", text)
	case math.Abs(value) >= 1<<53 && isInteger(text) && !exactText(value, text):
		return 0, false, fmt.Errorf("integer %q is not exact as a 64-bit floating-point number", text)
	}
	return value, false, nil
}

// isGoLiteral reports whether a number that strconv accepts is written as only Go writes it: 0x1p-2, 1_000.
func isGoLiteral(number []byte) bool {
	for _, c := range number {
		if c == '_' || c|' ' == 'x' {
			return true
		}
	}
	return false
}

// parseInteger reads a decimal integer.
func parseInteger(text []byte) (value int64, missing bool, err error) {
	if n, ok := shortInteger(text); ok {
		return n, false, nil
	}
	if isMissing(text) {
		return 0, true, nil
	}
	value, err = strconv.ParseInt(string(text), 10, 64)
	if err != nil {
		return 0, false, fmt.Errorf("found %q, expected an integer", text)
	}
	return value, false, nil
}

// isMissing reports whether a text stands for a missing number: empty, NaN, NA or null in any case.
func isMissing(text []byte) bool {
	switch len(text) {
	case 0:
		return true
	case 2:
		return text[0]|' ' == 'n' && text[1]|' ' == 'a'
	case 3:
		return text[0]|' ' == 'n' && text[1]|' ' == 'a' && text[2]|' ' == 'n'
	case 4:
		return text[0]|' ' == 'n' && text[1]|' ' == 'u' && text[2]|' ' == 'l' && text[3]|' ' == 'l'
	}
	return false
}

// shortInteger reads an unsigned integer of up to 15 digits, which is exact in every number type.
func shortInteger(text []byte) (value int64, ok bool) {
	if len(text) == 0 || len(text) > 15 {
		return 0, false
	}
	for _, c := range text {
		digit := c - '0'
		if digit > 9 {
			return 0, false
		}
		value = value*10 + int64(digit)
	}
	return value, true
}

// isInteger reports whether a number is written without fraction and exponent.
func isInteger(number []byte) bool { return !bytes.ContainsAny(number, ".eEfF") }

// exactText reports whether value is the very integer that text spells.
func exactText(value float64, text []byte) bool {
	digits := func(text []byte) []byte { return bytes.TrimLeft(bytes.TrimLeft(text, "+-"), "0") }
	return bytes.Equal(digits(strconv.AppendFloat(nil, value, 'f', 0, 64)), digits(text))
}

// exact reports whether float64 holds n exactly.
func exact(n int64) bool {
	f := float64(n)
	return f < math.MaxInt64 && int64(f) == n
}
