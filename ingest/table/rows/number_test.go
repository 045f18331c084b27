package rows

import (
	"fmt"
	"math"
	"strconv"
	"strings"
	"testing"
)

func TestNumber(t *testing.T) {
	for _, test := range []struct{ text, number, integer string }{
		{"0", "0", "0"},
		{"007", "7", "7"},
		{"-3", "-3", "-3"},
		{"+3", "3", "3"},
		{"999999999999999", "9.99999999999999e+14", "999999999999999"},
		{"9007199254740992", "9.007199254740992e+15", "9007199254740992"},
		{"9007199254740993", `found integer "9007199254740993", which a 64-bit floating-point number cannot hold exactly`, "9007199254740993"},
		{"-9007199254740993", `found integer "-9007199254740993", which a 64-bit floating-point number cannot hold exactly`, "-9007199254740993"},
		{"+0018446744073709551616", "1.8446744073709552e+19", `found "+0018446744073709551616", expected an integer`},
		{"18446744073709551616.00", "1.8446744073709552e+19", `found "18446744073709551616.00", expected an integer`},
		{"18446744073709551617.0", `found integer "18446744073709551617.0", which a 64-bit floating-point number cannot hold exactly`, `found "18446744073709551617.0", expected an integer`},
		{"9007199254740993.5", "9.007199254740994e+15", `found "9007199254740993.5", expected an integer`},
		{"9.007199254740993e15", "9.007199254740992e+15", `found "9.007199254740993e15", expected an integer`},
		{"1.5", "1.5", `found "1.5", expected an integer`},
		{"1e3", "1000", `found "1e3", expected an integer`},
		{".5", "0.5", `found ".5", expected an integer`},
		{"-5.", "-5", `found "-5.", expected an integer`},
		{"+.5E-1", "0.05", `found "+.5E-1", expected an integer`},
		{"inf", "+Inf", `found "inf", expected an integer`},
		{"-Infinity", "-Inf", `found "-Infinity", expected an integer`},
		{"1e999", `found number "1e999", which is beyond the range of 64-bit floating-point numbers`, `found "1e999", expected an integer`},
		{"1e-999", `found number "1e-999", which is too small for a 64-bit floating-point number: the smallest above 0 is 5e-324`, `found "1e-999", expected an integer`},
		{"-0.0e-999", "-0", `found "-0.0e-999", expected an integer`},
		{"1e-320", "1e-320", `found "1e-320", expected an integer`},
		{"2.2250738585072014e-308", "2.2250738585072014e-308", `found "2.2250738585072014e-308", expected an integer`},
		{" 1", "1", "1"},
		{"\t1.5 \u00a0", "1.5", `found "1.5", expected an integer`},
		{"", "missing", "missing"},
		{"  ", "missing", "missing"},
		{" NA ", "missing", "missing"},
		{"#N/A N/A", "missing", "missing"},
		{"-1.#IND", "missing", "missing"},
		{"None", "missing", "missing"},
		{"N/A", "missing", "missing"},
		{"-nan", "missing", "missing"},
		{"Na", `found "Na", expected a number`, `found "Na", expected an integer`},
		{"NAN", `found "NAN", expected a number`, `found "NAN", expected an integer`},
		{"Null", `found "Null", expected a number`, `found "Null", expected an integer`},
		{"none", `found "none", expected a number`, `found "none", expected an integer`},
		{".", `found ".", expected a number`, `found ".", expected an integer`},
		{"-", `found "-", expected a number`, `found "-", expected an integer`},
		{"e5", `found "e5", expected a number`, `found "e5", expected an integer`},
		{"1e", `found "1e", expected a number`, `found "1e", expected an integer`},
		{"1e5.", `found "1e5.", expected a number`, `found "1e5.", expected an integer`},
		{"TRUE", `found "TRUE", expected a number`, `found "TRUE", expected an integer`},
		{"1 2", `found "1 2", expected a number`, `found "1 2", expected an integer`},
		{"1,5", `found "1,5", expected a number with a decimal point, such as -1234.5`, `found "1,5", expected an integer`},
		{" \u22121e5", `found "−1e5", expected a number with a decimal point, such as -1234.5`, `found "−1e5", expected an integer`},
		{"1,5,", `found "1,5,", expected a number`, `found "1,5,", expected an integer`},
		{"0x10", `found "0x10", expected a number`, `found "0x10", expected an integer`},
		{"-0X1p-2", `found "-0X1p-2", expected a number`, `found "-0X1p-2", expected an integer`},
		{"1_000", `found "1_000", expected a number`, `found "1_000", expected an integer`},
	} {
		number, missing, err := parseNumber([]byte(test.text))
		if got := outcome(number, missing, err); got != test.number {
			t.Errorf("number %q: got %s, want %s", test.text, got, test.number)
		}
		if missing != math.IsNaN(number) {
			t.Errorf("number %q: value %v, missing %v", test.text, number, missing)
		}
		spelled := aNumber
		if missing {
			spelled = noValue
		} else if err != nil && strings.HasSuffix(err.Error(), PlainNumber) {
			spelled = oddNumber
		} else if err != nil && strings.HasSuffix(err.Error(), "expected a number") {
			spelled = otherText
		}
		if got := spellingOf([]byte(test.text)); got != spelled {
			t.Errorf("%q: spelling %d, want %d", test.text, got, spelled)
		}
		integer, missing, err := parseInteger([]byte(test.text))
		if got := outcome(integer, missing, err); got != test.integer {
			t.Errorf("integer %q: got %s, want %s", test.text, got, test.integer)
		}
	}
}

func outcome[T int64 | float64](value T, missing bool, err error) string {
	switch {
	case err != nil:
		return err.Error()
	case missing:
		return "missing"
	}
	return fmt.Sprint(value)
}

// FuzzNumber compares with strconv, which has no missing values and rounds integers.
func FuzzNumber(f *testing.F) {
	for _, text := range []string{"12", "-0.5e3", "na", "9007199254740993", "0x1", "123456789012345"} {
		f.Add(text)
	}
	f.Fuzz(func(t *testing.T, text string) {
		got, missing, err := parseNumber([]byte(text))
		want, wantErr := strconv.ParseFloat(strings.TrimSpace(text), 64)
		switch {
		case missing || err != nil:
			return
		case wantErr != nil || math.Float64bits(got) != math.Float64bits(want):
			t.Errorf("%q: got %v, strconv %v, %v", text, got, want, wantErr)
		}
		if integer, _, err := parseInteger([]byte(text)); err == nil && float64(integer) != got {
			t.Errorf("%q: integer %d, number %v", text, integer, got)
		}
	})
}
