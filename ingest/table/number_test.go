package table

import (
	"fmt"
	"math"
	"strconv"
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
		{"9007199254740993", `integer "9007199254740993" is not exact as a 64-bit floating-point number`, "9007199254740993"},
		{"-9007199254740993", `integer "-9007199254740993" is not exact as a 64-bit floating-point number`, "-9007199254740993"},
		{"+0018446744073709551616", "1.8446744073709552e+19", `found "+0018446744073709551616", expected an integer`},
		{"18446744073709551617.0", "1.8446744073709552e+19", `found "18446744073709551617.0", expected an integer`},
		{"1.5", "1.5", `found "1.5", expected an integer`},
		{"1e3", "1000", `found "1e3", expected an integer`},
		{".5", "0.5", `found ".5", expected an integer`},
		{"inf", "+Inf", `found "inf", expected an integer`},
		{"1e999", `number "1e999" is beyond the range of 64-bit floating-point numbers`, `found "1e999", expected an integer`},
		{"1e-999", "0", `found "1e-999", expected an integer`},
		{"", "missing", "missing"},
		{"NaN", "missing", "missing"},
		{"nan", "missing", "missing"},
		{"NA", "missing", "missing"},
		{"Na", "missing", "missing"},
		{"NULL", "missing", "missing"},
		{"null", "missing", "missing"},
		{"nul", `found "nul", expected a number`, `found "nul", expected an integer`},
		{"n/a", `found "n/a", expected a number`, `found "n/a", expected an integer`},
		{"-", `found "-", expected a number`, `found "-", expected an integer`},
		{" 1", `found " 1", expected a number`, `found " 1", expected an integer`},
		{"1,5", `found "1,5", expected a number`, `found "1,5", expected an integer`},
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

// FuzzNumber compares with strconv, which knows no missing values and rounds integers.
func FuzzNumber(f *testing.F) {
	for _, text := range []string{"12", "-0.5e3", "na", "9007199254740993", "0x1", "123456789012345"} {
		f.Add(text)
	}
	f.Fuzz(func(t *testing.T, text string) {
		got, missing, err := parseNumber([]byte(text))
		want, wantErr := strconv.ParseFloat(text, 64)
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
