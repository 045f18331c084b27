package rows

import (
	"bytes"
	"errors"
	"fmt"
	"math"
	"regexp"
	"strconv"
	"strings"

	"tcbuild/fault"
	"tcbuild/internal/decimal"
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
	case isNumber(text):
		return aNumber
	case IsMissing(text):
		return noValue
	case isOdd(text):
		return oddNumber
	}
	return otherText
}

// parseFloat reads a decimal number (digits, with an optional decimal point and exponent) or an
// infinity, which is inf or infinity in any case. Other notations of strconv are errors: nan, 0x10,
// 1_000.
func parseFloat(text []byte) (float64, error) {
	if len(text) == 0 || strings.IndexByte("0123456789.+-iI", text[0]) < 0 {
		return 0, strconv.ErrSyntax
	}
	for _, c := range text {
		if c == '_' || c|' ' == 'x' {
			return 0, strconv.ErrSyntax
		}
	}
	return decimal.Parse(string(text))
}

func isNumber(text []byte) bool {
	_, err := parseFloat(text)
	return err == nil || errors.Is(err, strconv.ErrRange)
}

// parseNumber reads a number. A missing one is NaN.
func parseNumber(text []byte) (value float64, missing bool, err error) {
	text = bytes.TrimSpace(text)
	switch value, err = parseFloat(text); {
	case err != nil && IsMissing(text):
		return math.NaN(), true, nil
	case errors.Is(err, decimal.ErrTooSmall):
		return 0, false, fault.New(fault.Input, tooSmallHint,
			"found number %s, which is %w", fault.Quote(text), err)
	case errors.Is(err, strconv.ErrRange):
		return 0, false, fmt.Errorf(
			"found number %s, which is beyond the range of 64-bit floating-point numbers",
			fault.Quote(text))
	case err != nil && isOdd(text):
		return 0, false, fault.New(fault.Input, PlainNumberHint, "found %s, expected a number %s",
			fault.Quote(text), PlainNumber)
	case err != nil:
		return 0, false, fmt.Errorf("found %s, expected a number", fault.Quote(text))
	case math.Abs(value) >= 1<<53 && !exactText(value, text):
		return 0, false, fmt.Errorf(
			"found integer %s, which a 64-bit floating-point number cannot hold exactly",
			fault.Quote(text))
	}
	return value, false, nil
}

// parseInteger reads a decimal integer.
func parseInteger(text []byte) (value int64, missing bool, err error) {
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

// PlainNumber says how numbers are written, for errors.
const PlainNumber = "with a decimal point, such as -1234.5"

// PlainNumberHint is the hint for numbers in another notation.
const PlainNumberHint = `save the table with decimal points, and without commas between ` +
	`thousands; pandas converts decimal commas: pandas.read_csv(FILE, decimal=",", sep=";"), ` +
	`or sep="\t" for tabs`

const tooSmallHint = "store logarithms of the column's numbers, such as -log10 of p-values"

var commaNumber = regexp.MustCompile(
	`^[-+]?(([0-9]*|[0-9]{1,3}(\.[0-9]{3})+),[0-9]+|[0-9]{1,3}(,[0-9]{3})+(\.[0-9]+)?)` +
		`([eE][-+]?[0-9]+)?$`)

// isOdd reports whether a text is no number here but one to its reader: with a comma before its
// decimals, commas between thousands (1,234.5; 1.234,5), or the minus sign of typesetting.
func isOdd(text []byte) bool {
	plain := bytes.Replace(text, []byte("\u2212"), []byte("-"), 1)
	return len(plain) < len(text) && isNumber(plain) ||
		bytes.IndexByte(plain, ',') >= 0 && commaNumber.Match(plain)
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
