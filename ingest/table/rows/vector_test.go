package rows

import (
	"math"
	"math/big"
	"testing"
)

func TestDecimalText(t *testing.T) {
	for _, test := range []struct {
		unscaled int64
		scale    int32
		want     string
	}{{0, 0, "0"}, {-5, 0, "-5"}, {-5, -2, "-500"}, {5, 1, "0.5"}, {-5, 3, "-0.005"}, {1234, 2, "12.34"}, {-1200, 2, "-12.00"}, {0, 2, "0.00"}} {
		if got := string(decimalText(big.NewInt(test.unscaled), test.scale)); got != test.want {
			t.Errorf("%d with scale %d: got %s, want %s", test.unscaled, test.scale, got, test.want)
		}
	}
}

// TestHalfPrecision tests each number with its neighbours in order, and the ends and steps of the
// type.
func TestHalfPrecision(t *testing.T) {
	for stored := uint16(0); stored < 0x7c00; stored++ {
		low, high := halfPrecision(stored), halfPrecision(stored+1)
		if step := math.Ldexp(1, max(int(stored>>10), 1)-25); stored < 0x7bff && high-low != step || halfPrecision(stored|0x8000) != -low {
			t.Fatalf("%#x is %g, the next %g", stored, low, high)
		}
	}
	for stored, want := range map[uint16]float64{0: 0, 1: 0x1p-24, 0x0400: 0x1p-14, 0x3c00: 1, 0x7bff: 65504, 0x7c00: math.Inf(1), 0xfc00: math.Inf(-1)} {
		if got := halfPrecision(stored); got != want {
			t.Errorf("%#x: got %g, want %g", stored, got, want)
		}
	}
	if !math.IsNaN(halfPrecision(0x7e00)) || !math.Signbit(halfPrecision(0x8000)) {
		t.Error("NaN or -0 are other numbers")
	}
}
