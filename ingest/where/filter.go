// Package where decides by an expression which samples of a perturbation set are kept. The language
// is a part of github.com/expr-lang/expr, whose parser it uses; docs/input.md, Filters, describes
// it.
package where

import (
	"cmp"
	"math"
	"strings"

	"tcbuild/ingest"
)

// Filter is a compiled expression. It is safe for concurrent use.
type Filter struct{ keeps condition }

// Keeps reports whether the expression is true for a sample.
func (f *Filter) Keeps(sample *ingest.Sample) bool { return f.keeps(sample) }

// A part of an expression gives its value for a sample. In
//
//	0.4 < fitness and medium + "!" == "YPD!"
//
// fitness is a number, medium + "!" a text, and 0.4 < fitness a condition.
type part struct {
	kind      kind // says which one of the following it has; "": it is a mistake
	number    number
	text      text
	condition condition
}

type kind string

const (
	isNumber    kind = "number"
	isText      kind = "text"
	isCondition kind = "condition"
)

type (
	number    func(*ingest.Sample) float64 // NaN if missing
	text      func(*ingest.Sample) string  // has missingText in it if missing
	condition func(*ingest.Sample) bool
)

func numberPart(x number) part       { return part{kind: isNumber, number: x} }
func textPart(x text) part           { return part{kind: isText, text: x} }
func conditionPart(x condition) part { return part{kind: isCondition, condition: x} }

// missingText is in the bytes of a missing text. Texts are UTF-8, which never has this byte, and
// whatever is made of a missing text still has it.
const missingText = "\xff"

func textIsMissing(text string) bool { return strings.Contains(text, missingText) }

// ofNumbers joins two numbers by an operator. The result has no kind if it cannot join them.
func ofNumbers(operator string, x, y number) part {
	switch operator {
	case "+":
		return numberPart(func(s *ingest.Sample) float64 { return x(s) + y(s) })
	case "-":
		return numberPart(func(s *ingest.Sample) float64 { return x(s) - y(s) })
	case "*":
		return numberPart(func(s *ingest.Sample) float64 { return x(s) * y(s) })
	case "/":
		return numberPart(func(s *ingest.Sample) float64 { return x(s) / y(s) })
	}
	return compare(x, y, ordering[float64](operator), false, math.IsNaN)
}

// ofTexts joins two texts by an operator, or by its negation.
func ofTexts(operator string, x, y text, negated bool) part {
	is := map[string]func(x, y string) bool{
		"contains": strings.Contains, "startsWith": strings.HasPrefix,
		"endsWith": strings.HasSuffix,
	}[operator]
	switch {
	case operator == "+":
		return textPart(func(s *ingest.Sample) string { return x(s) + y(s) })
	case is == nil:
		is = ordering[string](operator)
	}
	return compare(x, y, is, negated, textIsMissing)
}

// ofConditions joins two conditions by an operator.
func ofConditions(operator string, x, y condition) part {
	switch operator {
	case "and", "&&":
		return conditionPart(func(s *ingest.Sample) bool { return x(s) && y(s) })
	case "or", "||":
		return conditionPart(func(s *ingest.Sample) bool { return x(s) || y(s) })
	case "==":
		return conditionPart(func(s *ingest.Sample) bool { return x(s) == y(s) })
	case "!=":
		return conditionPart(func(s *ingest.Sample) bool { return x(s) != y(s) })
	}
	return part{}
}

// ordering is a comparison of values that are not missing, nil for another operator.
func ordering[T cmp.Ordered](operator string) func(x, y T) bool {
	switch operator {
	case "==":
		return func(x, y T) bool { return x == y }
	case "!=":
		return func(x, y T) bool { return x != y }
	case "<":
		return func(x, y T) bool { return x < y }
	case "<=":
		return func(x, y T) bool { return x <= y }
	case ">":
		return func(x, y T) bool { return x > y }
	case ">=":
		return func(x, y T) bool { return x >= y }
	}
	return nil
}

// compare is false for missing values. Without a comparison, it has no kind.
func compare[T float64 | string](
	x, y func(*ingest.Sample) T, is func(x, y T) bool, negated bool, missing func(T) bool,
) part {
	if is == nil {
		return part{}
	}
	return conditionPart(func(s *ingest.Sample) bool {
		a, b := x(s), y(s)
		return is(a, b) != negated && !missing(a) && !missing(b)
	})
}

// isIn is false for a missing value.
func isIn[T float64 | string](
	x func(*ingest.Sample) T, values map[T]struct{}, negated bool, missing func(T) bool,
) part {
	return conditionPart(func(s *ingest.Sample) bool {
		value := x(s)
		_, in := values[value]
		return in != negated && !missing(value)
	})
}
