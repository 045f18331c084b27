package decimal

import (
	"errors"
	"math"
	"math/big"
	"strconv"
	"strings"
	"testing"
)

func TestParse(t *testing.T) {
	for _, test := range []struct {
		text string
		want float64
		err  error
	}{
		{"0", 0, nil},
		{"-0.000e-999", math.Copysign(0, -1), nil},
		{"0e5", 0, nil},
		{"1.5", 1.5, nil},
		{"inf", math.Inf(1), nil},
		{"2.2250738585072014e-308", 0x1p-1022, nil},
		{"2.225073858507201e-308", 0x0.fffffffffffffp-1022, nil}, // the largest denormal
		{"5e-324", math.SmallestNonzeroFloat64, nil},
		{"3e-324", math.SmallestNonzeroFloat64, nil}, // the nearest
		{"1e-320", 2024 * math.SmallestNonzeroFloat64, nil},
		{"2.4703282292062327e-324", 0, ErrTooSmall}, // half of the smallest, to 17 digits
		{"2.4703282292062328e-324", math.SmallestNonzeroFloat64, nil},
		{"1e-400", 0, ErrTooSmall},
		{"-1E-400", 0, ErrTooSmall},
		{"+.01e-330", 0, ErrTooSmall},
		{"0." + strings.Repeat("0", 400) + "1", 0, ErrTooSmall},
		{"1e400", math.Inf(1), strconv.ErrRange},
		{"", 0, strconv.ErrSyntax},
	} {
		got, err := Parse(test.text)
		if math.Float64bits(got) != math.Float64bits(test.want) || !errors.Is(err, test.err) {
			t.Errorf("%q: got %v, %v, want %v, %v", test.text, got, err, test.want, test.err)
		}
	}
}

// FuzzParse compares with exact arithmetic.
func FuzzParse(f *testing.F) {
	for _, text := range []string{"1e-400", "-0.0", "5e-324", "0e-9999", "12.5e3", "00.1e-323"} {
		f.Add(text)
	}
	f.Fuzz(func(t *testing.T, text string) {
		value, err := Parse(text)
		if strings.ContainsAny(text, "xXpP_") || err != nil && !errors.Is(err, ErrTooSmall) {
			return
		}
		_, exponent, _ := strings.Cut(strings.ToLower(text), "e")
		if len(text) > 40 || len(exponent) > 6 {
			return // too slow for big.Rat
		}
		exact, ok := new(big.Rat).SetString(text)
		if !ok {
			return // inf, nan
		}
		nearest, _ := exact.Float64()
		tooSmall := nearest == 0 && exact.Sign() != 0
		if value != nearest || (err != nil) != tooSmall {
			t.Errorf("%q: got %v, %v, want %v", text, value, err, nearest)
		}
	})
}
