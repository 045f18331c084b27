package gpr

import (
	"bufio"
	"compress/gzip"
	"math/rand/v2"
	"os"
	"reflect"
	"regexp"
	"strings"
	"testing"
)

func TestGenesInOrderOfFirstMention(t *testing.T) {
	rule, err := Parse("(C and A) or (B and C) or A")
	if err != nil {
		t.Fatal(err)
	}
	if got, want := rule.Genes(), []string{"C", "A", "B"}; !reflect.DeepEqual(got, want) {
		t.Errorf("Genes() = %q, want %q", got, want)
	}
	if got := (*Rule)(nil).Genes(); len(got) != 0 {
		t.Errorf("no rule mentions %q", got)
	}
}

// alive reports whether a rule holds without the deleted genes.
func (r *Rule) alive(deleted func(gene string) bool) bool {
	switch {
	case r == nil:
		return true
	case r.Op == Gene:
		return !deleted(r.Name)
	}
	for _, operand := range r.Operands {
		if operand.alive(deleted) == (r.Op == Or) {
			return r.Op == Or
		}
	}
	return r.Op == And
}

func TestAlive(t *testing.T) {
	for _, test := range []struct {
		rule    string
		deleted map[string]bool
		want    bool
	}{
		{"", setOf("A"), true},
		{"A", setOf(), true},
		{"A", setOf("A"), false},
		{"A", setOf("B"), true},
		{"A and B", setOf("B"), false},
		{"A or B", setOf("A"), true},
		{"A or B", setOf("A", "B"), false},
		{"(A and B) or C", setOf("A"), true},
		{"(A and B) or C", setOf("A", "C"), false},
		{"A and (B or C)", setOf("B"), true},
		{"A and (B or C)", setOf("B", "C"), false},
		{"A or A", setOf("A"), false},
	} {
		rule, err := Parse(test.rule)
		if err != nil {
			t.Fatal(err)
		}
		if got := rule.alive(func(g string) bool { return test.deleted[g] }); got != test.want {
			t.Errorf("%q alive without %v = %v, want %v", test.rule, test.deleted, got, test.want)
		}
	}
}

func setOf(genes ...string) map[string]bool {
	set := make(map[string]bool)
	for _, g := range genes {
		set[g] = true
	}
	return set
}

var (
	word      = regexp.MustCompile(`[^() ]+`)
	innermost = regexp.MustCompile(`\([^()]*\)`)
)

// aliveByText is the oracle of Parse: it writes true and false for
// the genes and replaces the innermost parentheses by their value until none are left.
func aliveByText(rule string, deleted map[string]bool) bool {
	text := word.ReplaceAllStringFunc(rule, func(w string) string {
		switch {
		case w == "and" || w == "or":
			return w
		case deleted[w]:
			return "false"
		default:
			return "true"
		}
	})
	for strings.Contains(text, "(") {
		text = innermost.ReplaceAllStringFunc(text, func(group string) string {
			if flatValue(strings.Trim(group, "()")) {
				return "true"
			}
			return "false"
		})
	}
	return flatValue(text)
}

// flatValue is the value of a text without parentheses.
func flatValue(text string) bool {
	for _, alternative := range strings.Split(text, " or ") {
		if !strings.Contains(alternative, "false") {
			return true
		}
	}
	return false
}

// checkAgainstText compares a rule, and its canonical text, with the oracle for random deletions.
func checkAgainstText(t *testing.T, random *rand.Rand, text string) {
	t.Helper()
	rule, err := Parse(text)
	if err != nil {
		t.Fatal(err)
	}
	for range 8 {
		deleted := make(map[string]bool)
		for _, g := range rule.Genes() {
			deleted[g] = random.IntN(3) == 0
		}
		got := rule.alive(func(g string) bool { return deleted[g] })
		if want := aliveByText(text, deleted); got != want {
			t.Fatalf("%q alive without %v = %v, want %v", text, deleted, got, want)
		}
		if canonical := aliveByText(rule.String(), deleted); canonical != got {
			t.Fatalf("%q and its canonical %q differ without %v", text, rule, deleted)
		}
	}
}

func TestRandomRules(t *testing.T) {
	const seed = 1
	random := rand.New(rand.NewPCG(seed, 0))
	var write func(depth int) string
	write = func(depth int) string {
		if depth == 0 || random.IntN(4) == 0 {
			return string(rune('A' + random.IntN(6)))
		}
		operands := make([]string, 1+random.IntN(3))
		for i := range operands {
			operands[i] = write(depth - 1)
		}
		text := operands[0]
		for _, operand := range operands[1:] {
			text += [2]string{" and ", " or "}[random.IntN(2)] + operand
		}
		if random.IntN(2) == 0 {
			return "(" + text + ")"
		}
		return text
	}
	for range 1000 {
		checkAgainstText(t, random, write(4))
	}
}

// TestYeastRules reads every rule of yeast-GEM 9.0.2.
func TestYeastRules(t *testing.T) {
	file, err := os.Open("../../../shared/data/yeast_gem_v9.0.2/reactions.tsv.gz")
	if err != nil {
		t.Skipf("the public yeast data is not there: %v", err)
	}
	defer file.Close()
	text, err := gzip.NewReader(file)
	if err != nil {
		t.Fatal(err)
	}
	random := rand.New(rand.NewPCG(2, 0))
	rules, mentions, genes := 0, 0, make(map[string]bool)
	lines := bufio.NewScanner(text)
	lines.Scan() // the header
	for lines.Scan() {
		text := lines.Text()[strings.LastIndexByte(lines.Text(), '\t')+1:]
		if text == "" {
			continue
		}
		checkAgainstText(t, random, text)
		rule, _ := Parse(text)
		again, err := Parse(rule.String())
		if err != nil || !reflect.DeepEqual(again, rule) {
			t.Fatalf("%q became %q: %v", rule, again, err)
		}
		for _, signs := range [][2]string{{" AND ", " OR "}, {" And ", " oR "}, {" & ", " | "}, {"&&", "||"}} {
			other, err := Parse(strings.NewReplacer(" and ", signs[0], " or ", signs[1]).Replace(text))
			if err != nil || !reflect.DeepEqual(other, rule) {
				t.Fatalf("%q with the signs %q is %v, %v; want %v", text, signs, other, err, rule)
			}
		}
		rules++
		mentions += len(rule.Genes())
		for _, g := range rule.Genes() {
			genes[g] = true
		}
	}
	if err := lines.Err(); err != nil {
		t.Fatal(err)
	}
	if mentions != 4_095 || len(genes) != 1_161 {
		t.Errorf("%d rules name %d genes, %d of them different; want 4095 and 1161", rules, mentions, len(genes))
	}
}

func TestHasIsozymes(t *testing.T) {
	for text, want := range map[string]bool{"": false, "A": false, "A and B": false, "A or B": true, "A and (B or C)": true, "(A and B) or C": true} {
		rule, err := Parse(text)
		if err != nil || rule.HasIsozymes() != want {
			t.Errorf("%q: got %v, %v; want %v", text, rule.HasIsozymes(), err, want)
		}
	}
}
