package rows

import (
	"bytes"
	"fmt"
	"math"
	"regexp"
	"strconv"

	"tcbuild/fault"
)

// spelling is the kind of a field's text. Blanks around it are ignored.
type spelling int

const (
	noValue   spelling = iota
	aNumber            // including numbers that float64 cannot hold
	oddNumber          // a number, but not as it must be written: see isOdd
	otherText
)

func spellingOf(text []byte) spelling {
	text = bytes.TrimSpace(text)
	switch {
	case IsMissing(text):
		return noValue
	case isNumber(text):
		return aNumber
	case isOdd(text):
		return oddNumber
	}
	return otherText
}

// parseNumber reads a decimal number or an infinity. A missing one is NaN.
func parseNumber(text []byte) (value float64, missing bool, err error) {
	if value, ok := shortDecimal(text); ok {
		return value, false, nil
	}
	text = bytes.TrimSpace(text)
	switch {
	case IsMissing(text):
		return math.NaN(), true, nil
	case isNumber(text):
	case isOdd(text):
		return 0, false, fmt.Errorf("found %s, expected a number %s", fault.Quote(text), PlainNumber)
	default:
		return 0, false, fmt.Errorf("found %s, expected a number", fault.Quote(text))
	}
	value, err = strconv.ParseFloat(string(text), 64) // the only possible error is the range
	switch {
	case err != nil:
		return 0, false, fmt.Errorf("found number %s, which is beyond the range of 64-bit floating-point numbers", fault.Quote(text))
	case math.Abs(value) >= 1<<53 && !exactText(value, text):
		return 0, false, fmt.Errorf("found integer %s, which a 64-bit floating-point number cannot hold exactly", fault.Quote(text))
	}
	return value, false, nil
}

// parseInteger reads a decimal integer.
func parseInteger(text []byte) (value int64, missing bool, err error) {
	if n, ok := shortInteger(text); ok {
		return n, false, nil
	}
	text = bytes.TrimSpace(text)
	if IsMissing(text) {
		return 0, true, nil
	}
	value, err = strconv.ParseInt(string(text), 10, 64)
	if err != nil {
		return 0, false, fmt.Errorf("found %s, expected an integer", fault.Quote(text))
	}
	return value, false, nil
}

// IsMissing reports whether pandas.read_csv takes a text for a missing value by default.
func IsMissing(text []byte) bool {
	switch string(text) {
	case "", "#N/A", "#N/A N/A", "#NA", "-1.#IND", "-1.#QNAN", "-NaN", "-nan", "1.#IND", "1.#QNAN",
		"<NA>", "N/A", "NA", "NULL", "NaN", "None", "n/a", "nan", "null":
		return true
	}
	return false
}

// isNumber reports whether a text is a decimal number (digits, with an optional decimal point and
// exponent) or an infinity, which is inf or infinity in any case.
func isNumber(text []byte) bool {
	if len(text) > 0 && (text[0] == '+' || text[0] == '-') {
		text = text[1:]
	}
	rest := skipDigits(text)
	digits := len(text) - len(rest)
	if len(rest) > 0 && rest[0] == '.' {
		fraction := rest[1:]
		rest = skipDigits(fraction)
		digits += len(fraction) - len(rest)
	}
	if digits == 0 {
		return bytes.EqualFold(text, []byte("inf")) || bytes.EqualFold(text, []byte("infinity"))
	}
	if len(rest) == 0 {
		return true
	}
	if rest[0]|' ' != 'e' {
		return false
	}
	exponent := rest[1:]
	if len(exponent) > 0 && (exponent[0] == '+' || exponent[0] == '-') {
		exponent = exponent[1:]
	}
	return len(exponent) > 0 && len(skipDigits(exponent)) == 0
}

// PlainNumber says how numbers are written, for errors.
const PlainNumber = "with a decimal point, such as -1234.5"

var commaNumber = regexp.MustCompile(`^[-+]?(([0-9]*|[0-9]{1,3}(\.[0-9]{3})+),[0-9]+|[0-9]{1,3}(,[0-9]{3})+(\.[0-9]+)?)([eE][-+]?[0-9]+)?$`)

// isOdd reports whether a text is no number here but one to its reader: with a comma before its
// decimals, commas between thousands (1,234.5; 1.234,5), or the minus sign of typesetting.
func isOdd(text []byte) bool {
	plain := bytes.Replace(text, []byte("\u2212"), []byte("-"), 1)
	return len(plain) < len(text) && isNumber(plain) || bytes.IndexByte(plain, ',') >= 0 && commaNumber.Match(plain)
}

func skipDigits(text []byte) []byte {
	for len(text) > 0 && text[0]-'0' <= 9 {
		text = text[1:]
	}
	return text
}

// shortInteger reads an unsigned integer of up to 15 digits, which every number type holds exactly.
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

// powersOfTen are those that fractions of up to 19 digits are divided by.
var powersOfTen = [...]float64{1, 1e1, 1e2, 1e3, 1e4, 1e5, 1e6, 1e7, 1e8, 1e9, 1e10, 1e11, 1e12, 1e13, 1e14, 1e15, 1e16, 1e17, 1e18, 1e19}

// shortDecimal reads a number of up to 19 digits, as an integer of at most 2^53, without an
// exponent. Both that integer and the power of ten that divides it are exact in float64, so that
// the quotient is the nearest number.
func shortDecimal(text []byte) (value float64, ok bool) {
	digits, point := text, -1
	if len(text) > 0 && (text[0] == '-' || text[0] == '+') {
		digits = text[1:]
	}
	if len(digits) > 20 {
		return 0, false
	}
	n := uint64(0)
	for i, c := range digits {
		switch digit := c - '0'; {
		case digit <= 9:
			n = n*10 + uint64(digit)
		case c == '.' && point < 0:
			point = i
		default:
			return 0, false
		}
	}
	decimals := 0
	if point >= 0 {
		decimals = len(digits) - 1 - point
		digits = digits[1:] // count only the digits
	}
	if len(digits) == 0 || len(digits) > 19 || n > 1<<53 {
		return 0, false
	}
	value = float64(int64(n))
	if decimals > 0 {
		value /= powersOfTen[decimals]
	}
	if text[0] == '-' {
		value = -value
	}
	return value, true
}

// exactText reports whether value is exactly the integer that text spells. It is always true for
// text with an exponent or a nonzero fraction, as those are rounded to the nearest float64.
func exactText(value float64, text []byte) bool {
	whole, fraction, _ := bytes.Cut(text, []byte{'.'})
	if len(bytes.TrimRight(fraction, "0")) > 0 || bytes.ContainsAny(whole, "eEfF") { // f as in inf
		return true
	}
	digits := func(text []byte) []byte { return bytes.TrimLeft(bytes.TrimLeft(text, "+-"), "0") }
	return bytes.Equal(digits(strconv.AppendFloat(nil, value, 'f', 0, 64)), digits(whole))
}

// exact reports whether float64 holds n exactly.
func exact(n int64) bool {
	f := float64(n)
	return f < math.MaxInt64 && int64(f) == n
}
