package where

import (
	"fmt"
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

// What an expression asks of the columns of a table without types is found in time.
func TestLongExpressionsOfRows(t *testing.T) {
	var names []string
	for k := range 1000 {
		names = append(names, fmt.Sprint("c", k))
	}
	for _, expression := range []string{
		strings.Join(names, " + ") + ` == "x"`, `1 < ` + strings.Join(names, " + "), strings.Repeat("(", 999) + strings.Join(names, ") + ") + " == 1",
		strings.Join(names, " + (") + strings.Repeat(")", 999) + ` contains "x"`, strings.Repeat("0 < ", 2000) + strings.Join(names, " + "),
	} {
		if _, used, err := CompileRows("check", expression, names); err != nil || len(used) != len(names) {
			t.Errorf("%d columns, %v", len(used), err)
		}
	}
}
