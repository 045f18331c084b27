package gpr

import (
	"fmt"
	"reflect"
	"strings"
	"testing"

	"tcbuild/fault"
)

func gene(name string) *Rule        { return &Rule{Op: Gene, Name: name} }
func all(operands ...*Rule) *Rule   { return &Rule{Op: And, Operands: operands} }
func anyOf(operands ...*Rule) *Rule { return &Rule{Op: Or, Operands: operands} }

func TestParse(t *testing.T) {
	a, b, c, d := gene("A"), gene("B"), gene("C"), gene("D")
	for _, test := range []struct {
		text, canonical string
		want            *Rule
	}{
		{"", "", nil},
		{" \t\n\u00a0", "", nil},
		{"A", "A", a},
		{"((A))", "A", a},
		{"A and B or C", "(A and B) or C", anyOf(all(a, b), c)},
		{"A or B and C", "A or (B and C)", anyOf(a, all(b, c))},
		{"A and (B or C)", "A and (B or C)", all(a, anyOf(b, c))},
		{"(A or B) or (C or D)", "A or B or C or D", anyOf(a, b, c, d)},
		{"A and (B and (C and D))", "A and B and C and D", all(a, b, c, d)},
		{"A AND B Or C", "(A and B) or C", anyOf(all(a, b), c)},
		{"A&B|C", "(A and B) or C", anyOf(all(a, b), c)},
		{"A && B || C", "(A and B) or C", anyOf(all(a, b), c)},
		{"(A)and(B)", "A and B", all(a, b)},
		{"A or A", "A or A", anyOf(a, a)},
		{"android or ORB1 or YAL016C-B", "android or ORB1 or YAL016C-B", anyOf(gene("android"), gene("ORB1"), gene("YAL016C-B"))},
		{"hoΔ and tRNA,1;x", "hoΔ and tRNA,1;x", all(gene("hoΔ"), gene("tRNA,1;x"))},
	} {
		got, err := Parse(test.text)
		if err != nil {
			t.Errorf("Parse(%q): %v", test.text, err)
			continue
		}
		if !reflect.DeepEqual(got, test.want) {
			t.Errorf("Parse(%q) = %v, want %v", test.text, got, test.want)
		}
		if got.String() != test.canonical {
			t.Errorf("Parse(%q).String() = %q, want %q", test.text, got, test.canonical)
		}
	}
}

func TestParseErrors(t *testing.T) {
	deep := strings.Repeat("(", 1_000_000)
	for _, test := range []struct{ text, want string }{
		{"and", "byte 0: found `and`, expected a gene or `(`"},
		{"A and", "byte 5: found the end of the rule, expected a gene or `(`"},
		{"A and  or B", "byte 7: found `or`, expected a gene or `(`"},
		{"A &&& B", "byte 4: found `&`, expected a gene or `(`"},
		{"A B", "byte 2: found `B`, expected `and`, `or` or the end of the rule"},
		{"A)", "byte 1: found `)`, expected `and`, `or` or the end of the rule"},
		{"()", "byte 1: found `)`, expected a gene or `(`"},
		{"A and (B or C", "byte 13: found the end of the rule, expected `and`, `or` or the `)` that closes the `(` at byte 6"},
		{"(A B)", "byte 3: found `B`, expected `and`, `or` or the `)` that closes the `(` at byte 0"},
		{"Δ Δ", "byte 3: found `Δ`, expected"},
		{deep, "byte 1000: found parentheses nested deeper than 1000 levels"},
	} {
		rule, err := Parse(test.text)
		if err == nil || !strings.Contains(err.Error(), test.want) {
			t.Errorf("Parse(%.20q) = %v, %v; want an error with %q", test.text, rule, err, test.want)
			continue
		}
		if fault.KindOf(err) != fault.Input || fault.HintOf(err) == "" {
			t.Errorf("Parse(%.20q): kind %v, hint %q", test.text, fault.KindOf(err), fault.HintOf(err))
		}
	}
}

func TestParseDeepestAllowed(t *testing.T) {
	text := strings.Repeat("(", MaxDepth) + "A" + strings.Repeat(")", MaxDepth)
	if rule, err := Parse(text); err != nil || rule.String() != "A" {
		t.Errorf("%d parentheses: %v, %v", MaxDepth, rule, err)
	}
}

func FuzzParse(f *testing.F) {
	for _, text := range []string{"", "A", "(A and B) or C", "A&B||(C|D)", "((", "a b", "x\xffy and Δ", "A OR (B)"} {
		f.Add(text)
	}
	f.Fuzz(func(t *testing.T, text string) {
		rule, err := Parse(text)
		if err != nil {
			if rule != nil {
				t.Fatalf("a rule beside the error %v", err)
			}
			return
		}
		again, err := Parse(rule.String())
		if err != nil {
			t.Fatalf("%q of %q does not parse: %v", rule, text, err)
		}
		if !reflect.DeepEqual(again, rule) {
			t.Fatalf("%q became %q", rule, again)
		}
	})
}

func BenchmarkParse(b *testing.B) {
	for _, complexes := range []int{1, 100} {
		b.Run(fmt.Sprintf("complexes=%d", complexes), func(b *testing.B) {
			text := strings.Repeat("(YBR127C and YDL185W and YOR332W) or ", complexes) + "YHR026W"
			b.SetBytes(int64(len(text)))
			for b.Loop() {
				if _, err := Parse(text); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}
