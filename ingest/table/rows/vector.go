package rows

import (
	"slices"

	"tcbuild/fault"
)

// Vector holds the values of one column of a batch. Only the slices for its kind are used.
type Vector struct {
	Kind     Kind
	Numbers  NumberForm // Number: the slice that holds the values
	Valid    []bool     // Number: false if the value is missing
	Integers []int64    // Number
	Floats   []float64  // Number
	// Text: nil is a missing value; List: the elements of all rows; Number: decimals as written
	Texts [][]byte
	Ends  []int // List: row i has Texts[Ends[i-1]:Ends[i]]
}

// NumberForm is the representation of numbers in a column of a binary format.
type NumberForm int

const (
	Floats NumberForm = iota
	Integers
	Decimals
)

// ErrUnsignedRange is the error for an unsigned integer that a Vector does not hold.
var ErrUnsignedRange = fault.New(fault.Input, "store the column as signed integers or as floating-point numbers",
	"found an unsigned integer of 2^63 or more, expected a smaller one")

// AppendNumbers converts numbers to the type of a Vector.
func AppendNumbers[To, From int8 | int16 | int32 | int64 | uint8 | uint16 | uint32 | uint64 | float32 | float64](to []To, from []From) []To {
	to = slices.Grow(to, len(from))
	for _, n := range from {
		to = append(to, To(n))
	}
	return to
}
