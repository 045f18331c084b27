package source

import "fmt"

// check returns an error for an ambiguous cutoff.
func (c Cutoff) check(place string) error {
	switch {
	case c.Threshold != nil:
		return usage(fmt.Sprintf("write above: %v, as threshold meant, or at_least: %v", *c.Threshold, *c.Threshold),
			"%s.threshold: found %v, expected above or at_least", place, *c.Threshold)
	case c.Above != nil && c.AtLeast != nil:
		return usage("remove one of them", "%s: found both above and at_least, expected one of them", place)
	}
	return nil
}

func (c Cutoff) isSet() bool { return c.Above != nil || c.AtLeast != nil }

// condition returns the condition that a weight must meet (NaN if it is missing), and a description
// of the rows that do not meet it.
func (c Cutoff) condition(what string) (keep func(weight float64) bool, refusal string) {
	if c.Above != nil {
		return func(weight float64) bool { return weight > *c.Above }, fmt.Sprintf("with no %s above %v", what, *c.Above)
	}
	return func(weight float64) bool { return weight >= *c.AtLeast }, fmt.Sprintf("with no %s of at least %v", what, *c.AtLeast)
}
