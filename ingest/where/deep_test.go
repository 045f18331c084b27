package where

import (
	"strings"
	"testing"

	"tcbuild/fault"
)

// A long expression is compiled or refused; it neither ends the program nor takes for ever.
func TestLongExpressions(t *testing.T) {
	ids := strings.Repeat(`"some sample", `, 8000)
	for name, test := range map[string]struct {
		expression string
		valid      bool
	}{
		"list":        {`sample_id in [` + ids + `"s1"]`, true},
		"parentheses": {strings.Repeat("(", 65_000) + "true" + strings.Repeat(")", 65_000), true},
		"conditions":  {strings.Repeat("true or ", 16_000) + "fitness == 0.5", true},
		"negations":   {strings.Repeat("!", 130_000) + "true", true},
		"sums":        {strings.Repeat("1+", 65_000) + "1 != 0.5", true},
		"chains":      {strings.Repeat("0 <= ", 25_000) + "abs(fitness) < 1", true},
		"nested":      {strings.Repeat("0 < abs(", 5000) + "fitness" + strings.Repeat(") < 1", 5000), false},
		"too long":    {strings.Repeat("(", maxLength) + "true", false},
	} {
		filter, err := Compile(test.expression, columns, genes)
		if !test.valid {
			if fault.KindOf(err) != fault.Usage || len(err.Error()) > 1000 {
				t.Errorf("%s: got %v", name, err)
			}
			continue
		}
		if err != nil {
			t.Errorf("%s: %v", name, err)
			continue
		}
		if !filter.Keeps(&measured) {
			t.Errorf("%s: not kept", name)
		}
	}
}
