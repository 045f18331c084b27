package gpr

import (
	"fmt"
	"math/rand/v2"
	"reflect"
	"strings"
	"testing"

	"tcbuild/fault"
)

func TestAlternatives(t *testing.T) {
	for rule, want := range map[string]string{
		"":                            "[]",
		"A":                           "[[A]]",
		"A and B":                     "[[A B]]",
		"B or A":                      "[[B] [A]]",
		"(C and A) or B or (A and C)": "[[C A] [B]]",
		"A AND (B Or C)":              "[[A B] [A C]]",
		"(A or B) and (C or D)":       "[[A C] [A D] [B C] [B D]]",
		"A or (A and B)":              "[[A] [A B]]",
		"A and (A or B) and A":        "[[A] [A B]]",
		"A or B and C":                "[[A] [B C]]",
	} {
		parsed, err := Parse(rule)
		if err != nil {
			t.Fatal(err)
		}
		got, err := parsed.Alternatives(100)
		if text := fmt.Sprint(got); err != nil || text != want {
			t.Errorf("Alternatives of %q = %s, %v; want %s", rule, text, err, want)
		}
	}
	wide, _ := Parse("A1 or B1" + strings.Repeat(" or A1", 8))
	if got, err := wide.Alternatives(10); err != nil || len(got) != 2 {
		t.Errorf("Alternatives of ten = %v, %v", got, err)
	}
	if _, err := wide.Alternatives(9); fault.KindOf(err) != fault.Input {
		t.Errorf("ten alternatives within nine: %v", err)
	}
	pairs := make([]string, 60)
	for i := range pairs {
		pairs[i] = fmt.Sprintf("(A%d or B%d)", i, i)
	}
	deep, _ := Parse(strings.Join(pairs, " and "))
	if _, err := deep.Alternatives(10_000); fault.KindOf(err) != fault.Input || !strings.Contains(err.Error(), "10000") {
		t.Errorf("2^60 alternatives: %v", err)
	}
}

// TestAlternativesMeanTheRule compares random rules with their alternatives for every set of
// deleted genes.
func TestAlternativesMeanTheRule(t *testing.T) {
	random := rand.New(rand.NewPCG(3, 0))
	var write func(depth int) string
	write = func(depth int) string {
		if depth == 0 || random.IntN(4) == 0 {
			return string(rune('A' + random.IntN(6)))
		}
		word := [...]string{" and ", " or ", " AND ", " Or ", " & ", " || "}[random.IntN(6)]
		return "(" + write(depth-1) + word + write(depth-1) + ")"
	}
	for range 500 {
		rule, err := Parse(write(4))
		if err != nil {
			t.Fatal(err)
		}
		alternatives, err := rule.Alternatives(100_000)
		if err != nil {
			t.Fatal(err)
		}
		for deleted := range 1 << 6 {
			gone := func(gene string) bool { return deleted>>(gene[0]-'A')&1 == 1 }
			alive := false
			for _, genes := range alternatives {
				whole := true
				for _, gene := range genes {
					whole = whole && !gone(gene)
				}
				alive = alive || whole
			}
			if rule.alive(gone) != alive {
				t.Fatalf("%v and its alternatives %v differ without %06b", rule, alternatives, deleted)
			}
		}
	}
}

func TestRename(t *testing.T) {
	rule, _ := Parse("(a and b) or a")
	renamed := rule.Rename(strings.ToUpper)
	if renamed.String() != "(A and B) or A" || rule.String() != "(a and b) or a" {
		t.Errorf("%v became %v", rule, renamed)
	}
	if (*Rule)(nil).Rename(strings.ToUpper) != nil {
		t.Error("no rule became one")
	}
	if again, _ := Parse(renamed.String()); !reflect.DeepEqual(again, renamed) {
		t.Errorf("%v parses as %v", renamed, again)
	}
}
