package rows

import (
	"bytes"
	"math"
	"math/big"
)

// decimalText writes unscaled / 10^scale as a decimal number with all its digits.
func decimalText(unscaled *big.Int, scale int32) []byte {
	if scale <= 0 {
		text := unscaled.Append(nil, 10)
		return append(text, bytes.Repeat([]byte{'0'}, int(-scale))...)
	}
	digits := new(big.Int).Abs(unscaled).Append(nil, 10)
	if missing := int(scale) + 1 - len(digits); missing > 0 {
		digits = append(bytes.Repeat([]byte{'0'}, missing), digits...)
	}
	var text []byte
	if unscaled.Sign() < 0 {
		text = append(text, '-')
	}
	point := len(digits) - int(scale)
	text = append(append(text, digits[:point]...), '.')
	return append(text, digits[point:]...)
}

// halfPrecision is the number of an IEEE 754 binary16: sign, 5 bits of exponent, 10 of fraction.
// The Arrow library's own conversion is wrong below 2^-14, where the exponent is 0.
func halfPrecision(stored uint16) float64 {
	exponent, fraction := int(stored>>10&0x1f), float64(stored&0x3ff)
	var value float64
	switch {
	case exponent == 0x1f && fraction != 0:
		return math.NaN()
	case exponent == 0x1f:
		value = math.Inf(1)
	case exponent == 0:
		value = math.Ldexp(fraction, -24)
	default:
		value = math.Ldexp(1024+fraction, exponent-25)
	}
	if stored>>15 == 1 {
		return -value
	}
	return value
}
