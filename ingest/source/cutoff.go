package source

import "fmt"

// check refuses a cutoff that is not clear.
func (c Cutoff) check(place string) error {
	switch {
	case c.Threshold != nil:
		return usage(fmt.Sprintf("write above: %v, which is what threshold meant, or at_least: %v", *c.Threshold, *c.Threshold),
			"%s.threshold: found %v, expected above or at_least", place, *c.Threshold)
	case c.Above != nil && c.AtLeast != nil:
		return usage("remove one of them", "%s: above and at_least are both set", place)
	}
	return nil
}

func (c Cutoff) isSet() bool { return c.Above != nil || c.AtLeast != nil }

// condition returns what a weight must satisfy, NaN if it is missing, and what is said of rows
// whose does not.
func (c Cutoff) condition(what string) (keep func(weight float64) bool, refusal string) {
	if c.Above != nil {
		return func(weight float64) bool { return weight > *c.Above }, fmt.Sprintf("with no %s above %v", what, *c.Above)
	}
	return func(weight float64) bool { return weight >= *c.AtLeast }, fmt.Sprintf("with no %s of at least %v", what, *c.AtLeast)
}
