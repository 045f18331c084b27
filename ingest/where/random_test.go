package where

import (
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"strconv"
	"strings"
	"testing"

	"tcbuild/ingest"
	"tcbuild/internal/testing/seed"
	"tcbuild/internal/testing/testrun"
)

// oracle is an expression with its meaning, written down apart from any library.
type oracle struct {
	text string
	// bool, float64 or *string; a missing number is NaN, a missing text nil
	of func(*ingest.Sample) any
}

type maker struct{ *rand.Rand }

func (m maker) pick(words ...string) string { return words[m.IntN(len(words))] }

func (m maker) number(depth int) oracle {
	if depth == 0 || m.IntN(3) == 0 {
		switch m.IntN(5) {
		case 0:
			return oracle{"fitness", func(s *ingest.Sample) any { return s.Phenotypes[0] }}
		case 1:
			return oracle{
				`column("fitness#2")`, func(s *ingest.Sample) any { return s.Phenotypes[1] },
			}
		case 2:
			return oracle{
				"temperature", func(s *ingest.Sample) any { return s.Attributes[2].Number },
			}
		case 3:
			return oracle{
				"deletions()", func(s *ingest.Sample) any { return float64(len(s.Genes)) },
			}
		}
		value := float64(m.IntN(5)) / 2
		return oracle{
			strconv.FormatFloat(value, 'g', -1, 64), func(*ingest.Sample) any { return value },
		}
	}
	a := m.number(depth - 1)
	switch m.IntN(4) {
	case 0:
		return oracle{
			"abs(" + a.text + ")",
			func(s *ingest.Sample) any { return math.Abs(a.of(s).(float64)) },
		}
	case 1:
		return oracle{"-(" + a.text + ")", func(s *ingest.Sample) any { return -a.of(s).(float64) }}
	}
	b, operator := m.number(depth-1), m.pick("+", "-", "*", "/")
	if operator == "/" { // the sign of a zero is not part of the language
		b = oracle{
			"(deletions() + 1)", func(s *ingest.Sample) any { return float64(len(s.Genes)) + 1 },
		}
	}
	return oracle{"(" + a.text + " " + operator + " " + b.text + ")", func(s *ingest.Sample) any {
		x, y := a.of(s).(float64), b.of(s).(float64)
		switch operator {
		case "+":
			return x + y
		case "-":
			return x - y
		case "*":
			return x * y
		}
		return x / y
	}}
}

func (m maker) word(depth int) oracle {
	if depth > 0 && m.IntN(4) == 0 {
		a, b := m.word(depth-1), m.word(depth-1)
		return oracle{"(" + a.text + " + " + b.text + ")", func(s *ingest.Sample) any {
			x, y := a.of(s).(*string), b.of(s).(*string)
			if x == nil || y == nil {
				return (*string)(nil)
			}
			both := *x + *y
			return &both
		}}
	}
	attribute := func(k int) func(*ingest.Sample) any {
		return func(s *ingest.Sample) any {
			if s.Attributes[k].Text == nil {
				return (*string)(nil)
			}
			word := string(s.Attributes[k].Text)
			return &word
		}
	}
	switch m.IntN(4) {
	case 0:
		return oracle{"medium", attribute(0)}
	case 1:
		return oracle{`column("carbon source")`, attribute(1)}
	case 2:
		return oracle{"sample_id", func(s *ingest.Sample) any { id := string(s.ID); return &id }}
	}
	word := m.pick("a", "b", "", "ab")
	return oracle{strconv.Quote(word), func(*ingest.Sample) any { return &word }}
}

func compareValues[T float64 | string](operator string, x, y T) bool {
	switch operator {
	case "==":
		return x == y
	case "!=":
		return x != y
	case "<":
		return x < y
	case "<=":
		return x <= y
	case ">":
		return x > y
	}
	return x >= y
}

var comparisons = []string{"==", "!=", "<", "<=", ">", ">="}

func (m maker) condition(depth int) oracle {
	if depth > 0 && m.IntN(2) == 0 {
		a, b := m.condition(depth-1), m.condition(depth-1)
		switch m.IntN(3) {
		case 0:
			return oracle{
				"(" + a.text + m.pick(" and ", " && ") + b.text + ")",
				func(s *ingest.Sample) any { return a.of(s).(bool) && b.of(s).(bool) },
			}
		case 1:
			return oracle{
				"(" + a.text + m.pick(" or ", " || ") + b.text + ")",
				func(s *ingest.Sample) any { return a.of(s).(bool) || b.of(s).(bool) },
			}
		}
		return oracle{
			m.pick("not ", "!") + "(" + a.text + ")",
			func(s *ingest.Sample) any { return !a.of(s).(bool) },
		}
	}
	switch m.IntN(9) {
	case 0:
		a := m.number(depth)
		return oracle{
			"missing(" + a.text + ")",
			func(s *ingest.Sample) any { return math.IsNaN(a.of(s).(float64)) },
		}
	case 1:
		a := m.word(depth)
		return oracle{
			"missing(" + a.text + ")",
			func(s *ingest.Sample) any { return a.of(s).(*string) == nil },
		}
	case 2:
		all, genes := m.IntN(2) == 0, []uint32{uint32(m.IntN(4)), uint32(m.IntN(4))}
		ids := []string{"YAL001C", "YAL002W", "YBR010W", "YDL3"}
		function := map[bool]string{true: "deletes", false: "deletes_any"}[all]
		return oracle{
			fmt.Sprintf("%s(%q, %q)", function, ids[genes[0]], ids[genes[1]]),
			func(s *ingest.Sample) any {
				x, y := slices.Contains(s.Genes, genes[0]), slices.Contains(s.Genes, genes[1])
				return all && x && y || !all && (x || y)
			},
		}
	case 3:
		a, negated := m.number(depth), m.IntN(2) == 0
		list := []float64{float64(m.IntN(5)) / 2, float64(m.IntN(5)) - 2}
		return oracle{
			fmt.Sprintf("%s %s [%v, %v]", a.text,
				map[bool]string{true: "not in", false: "in"}[negated], list[0], list[1]),
			func(s *ingest.Sample) any {
				x := a.of(s).(float64)
				return !math.IsNaN(x) && (x == list[0] || x == list[1]) != negated
			},
		}
	case 4:
		a, negated, operator, part := m.word(depth), m.IntN(2) == 0, m.pick("contains",
			"startsWith", "endsWith", "in"), m.pick("a", "b", "")
		words := operator
		if negated {
			words = "not " + operator
		}
		literal := strconv.Quote(part)
		if operator == "in" {
			literal = "[" + literal + `, "ab"]`
		}
		return oracle{a.text + " " + words + " " + literal, func(s *ingest.Sample) any {
			x := a.of(s).(*string)
			if x == nil {
				return false
			}
			is := map[string]bool{
				"contains":   strings.Contains(*x, part),
				"startsWith": strings.HasPrefix(*x, part),
				"endsWith":   strings.HasSuffix(*x, part),
				"in":         *x == part || *x == "ab",
			}[operator]
			return is != negated
		}}
	case 5:
		a, b, operator := m.word(depth), m.word(depth), m.pick(comparisons...)
		return oracle{a.text + " " + operator + " " + b.text, func(s *ingest.Sample) any {
			x, y := a.of(s).(*string), b.of(s).(*string)
			return x != nil && y != nil && compareValues(operator, *x, *y)
		}}
	case 6:
		a, b, c := m.number(depth), m.number(depth), m.number(depth)
		return oracle{a.text + " < " + b.text + " >= " + c.text, func(s *ingest.Sample) any {
			x, y, z := a.of(s).(float64), b.of(s).(float64), c.of(s).(float64)
			return x < y && y >= z
		}}
	}
	a, b, operator := m.number(depth), m.number(depth), m.pick(comparisons...)
	return oracle{a.text + " " + operator + " " + b.text, func(s *ingest.Sample) any {
		x, y := a.of(s).(float64), b.of(s).(float64)
		return !math.IsNaN(x) && !math.IsNaN(y) && compareValues(operator, x, y)
	}}
}

func (m maker) sample() *ingest.Sample {
	value := func() float64 {
		if m.IntN(3) == 0 {
			return nan
		}
		return float64(m.IntN(9))/2 - 2
	}
	word := func() ingest.Value {
		if m.IntN(3) == 0 {
			return ingest.Value{}
		}
		return textValue(m.pick("", "a", "b", "ab", "ba"))
	}
	s := &ingest.Sample{
		ID:         []byte(m.pick("a", "b", "ab")),
		Phenotypes: []float64{value(), value(), value(), value()},
		Attributes: []ingest.Value{word(), word(), numberValue(value())},
	}
	for gene := range uint32(4) {
		if m.IntN(2) == 0 {
			s.Genes = append(s.Genes, gene)
		}
	}
	return s
}

// Random expressions mean what their oracles say.
func TestKeepsRandom(t *testing.T) {
	m := maker{seed.Rand(t)}
	kept, expressions := 0, testrun.Cases(3000, 600)
	for range expressions {
		o := m.condition(m.IntN(4))
		filter, err := Compile(o.text, columns, genes)
		if err != nil {
			t.Fatalf("%s: %v", o.text, err)
		}
		for range 20 {
			s := m.sample()
			got := filter.Keeps(s)
			if want := o.of(s).(bool); got != want {
				t.Fatalf("%s of %+v: got %v, want %v", o.text, s, got, want)
			}
			if got {
				kept++
			}
		}
	}
	if all := 20 * expressions; kept < all/60 || kept > all-all/60 {
		t.Errorf("the expressions are too much alike: %d of %d are true", kept, all)
	}
}
