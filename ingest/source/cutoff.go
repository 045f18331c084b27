package source

import (
	"fmt"
	"math"
)

// nonzero is the condition without a Cutoff, where one is needed.
func nonzero(weight float64) bool { return weight != 0 && !math.IsNaN(weight) }

const nonzeroRefusal = "with a weight of 0 or none"

// check returns an error for a range without values.
func (c Cutoff) check(place string) error {
	if c.Min != nil && c.Max != nil && *c.Min > *c.Max {
		return usage("", "%s: found min %v above max %v", place, *c.Min, *c.Max)
	}
	return nil
}

func (c Cutoff) isSet() bool { return c.Min != nil || c.Max != nil }

// condition returns the condition that a weight must meet (NaN if it is missing), and a description
// of the rows that do not meet it.
func (c Cutoff) condition(what string) (keep func(weight float64) bool, refusal string) {
	least, most := math.Inf(-1), math.Inf(1)
	switch {
	case c.Min == nil:
		most = *c.Max
		refusal = fmt.Sprintf("with no %s of at most %v", what, most)
	case c.Max == nil:
		least = *c.Min
		refusal = fmt.Sprintf("with no %s of at least %v", what, least)
	default:
		least, most = *c.Min, *c.Max
		refusal = fmt.Sprintf("with no %s from %v to %v", what, least, most)
	}
	return func(weight float64) bool { return weight >= least && weight <= most }, refusal
}
