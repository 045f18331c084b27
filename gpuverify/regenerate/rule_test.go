package regenerate

import (
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"tcbuild/fault"
	"tcbuild/ingest"
	"tcbuild/ingest/gpr"
)

func TestParseRule(t *testing.T) {
	genes, _ := ingest.NewNodes(ingest.Gene, []string{"A", "B", "C", "YAL038W-A"}, nil)
	for _, test := range []struct {
		text string
		want postfix
	}{
		{"", nil},
		{" \t\u00a0\u2003", nil},
		{"A", postfix{0}},
		{"X", postfix{absent}},
		{"((B))", postfix{1}},
		{"YAL038W-A", postfix{3}},
		{"A and B", postfix{0, 1, and}},
		{"A or B and C", postfix{0, 1, 2, and, or}},
		{"A and B or C", postfix{0, 1, and, 2, or}},
		{"(A or B) and C", postfix{0, 1, or, 2, and}},
		{"A and (B or C and X)", postfix{0, 1, 2, absent, and, or, and}},
		{"A OR B Or C", postfix{0, 1, or, 2, or}},
		{"A&B&&C|X||A", postfix{0, 1, and, 2, and, absent, or, 0, or}},
		{"(A)and(B)", postfix{0, 1, and}},
		{"A\u00a0or\u2028B", postfix{0, 1, or}},
		{strings.Repeat("(", 5000) + "A" + strings.Repeat(")", 5000), postfix{0}},
	} {
		if got, err := parseRule(test.text, genes); err != nil || !slices.Equal(got, test.want) {
			t.Errorf("%.50q: got %d, error %v, want %d", test.text, got, err, test.want)
		}
	}
	for _, text := range []string{"and", "A and", "or A", "A B", "A (B)", "(A) B", "(", ")", "()", "(A", "A)", "A or or B", "A &&& B", "A and )", ") A (", "(A or) B"} {
		if got, err := parseRule(text, genes); fault.KindOf(err) != fault.Input || !strings.Contains(err.Error(), `"`+text+`"`) {
			t.Errorf("%q: got %d, error %v", text, got, err)
		}
	}
}

// Both parsers, of builder and verifier, take the same texts, and give them the same meaning.
func TestRulesAreTheBuilders(t *testing.T) {
	const seed = 5
	r := rand.New(rand.NewPCG(seed, 0))
	names := []string{"A", "B", "C", "D"}
	genes, _ := ingest.NewNodes(ingest.Gene, names, nil)
	pieces := []string{"A", "B", "C", "D", "X", " and ", " or ", "&", "||", "(", ")", " ", " AND ", "A or B", "(C and D)", "\u0085"}
	valid := 0
	tries := 200_000
	if testing.Short() {
		tries = 20_000
	}
	for range tries {
		var text string
		for range r.IntN(9) {
			text += pieces[r.IntN(len(pieces))]
		}
		built, buildErr := gpr.Parse(text)
		rule, err := parseRule(text, genes)
		if (err == nil) != (buildErr == nil) {
			t.Fatalf("seed %d: %q: error %v, the builder's %v", seed, text, err, buildErr)
		}
		if err != nil {
			continue
		}
		valid++
		words := make([]uint64, len(names)) // in sample k the genes are deleted that are bits of k
		for gene := range words {
			for k := range 1 << len(names) {
				words[gene] |= uint64(k>>gene&1) << k
			}
		}
		removed := rule.removed(words, new([]uint64))
		for k := range 1 << len(names) {
			alive := built.Alive(func(gene string) bool {
				at := slices.Index(names, gene)
				return at >= 0 && k>>at&1 != 0
			})
			if alive != (removed>>k&1 == 0) {
				t.Fatalf("seed %d: %q without genes %04b: removed %v, the builder's rule is %v", seed, text, k, !alive, alive)
			}
		}
	}
	if valid < tries/20 {
		t.Errorf("only %d valid rules", valid)
	}
}
