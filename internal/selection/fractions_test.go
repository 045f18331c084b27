package selection

import (
	"slices"
	"strings"
	"testing"

	"tcbuild/fault"
)

func TestParseFractions(t *testing.T) {
	got, err := ParseFractions([]string{"train=0.8", " val = .125", "test=0.075000000"})
	want := []Fraction{{"train", 8e8}, {"val", 125e6}, {"test", 75e6}}
	if err != nil || !slices.Equal(got, want) {
		t.Errorf("got %v, %v, want %v", got, err, want)
	}
	if text := FormatFractions(got); text != "train=0.8,val=0.125,test=0.075" {
		t.Errorf("got %s", text)
	}
	if got, err := ParseFractions([]string{"all=1"}); err != nil || got[0].Billionths != whole {
		t.Errorf("got %v, %v", got, err)
	}
	for _, test := range []struct{ words, want string }{
		{"train=0.8,val=0.1,test=0.2", "read --fractions: found train=0.8,val=0.1,test=0.2, which add up to 1.1, expected 1"},
		{"train=0.8,test=0.1999999999", "read --fractions: found \"test=0.1999999999\", expected PART=NUMBER: a name"},
		{"train=0.8", "read --fractions: found train=0.8, which add up to 0.8, expected 1"},
		{"", "read --fractions: found , which add up to 0, expected 1"},
		{"train=80%", "read --fractions: found \"train=80%\""},
		{"train=1e0", "read --fractions: found \"train=1e0\""},
		{"train=-0.5,test=1.5", "read --fractions: found \"train=-0.5\""},
		{"train", "read --fractions: found \"train\""},
		{"train=.", "read --fractions: found \"train=.\""},
		{"train=1.5,test=0.5", "read --fractions: found train=1.5"},
		{"train=1,test=0", "read --fractions: found \"test=0\", expected PART=NUMBER: a name"},
		{"train=0.5,train=0.5", "read --fractions: found part train twice"},
		{"train=0.5,Train=0.5", "read --fractions: found part Train twice"},
		{"../x=1", "read --fractions: found \"../x=1\", expected PART=NUMBER: a name"},
		{"unplaced=1", "read --fractions: found \"unplaced=1\", expected PART=NUMBER: a name"},
		{"0.8,0.2", "read --fractions: found \"0.8\", expected PART=NUMBER: a name"},
	} {
		var words []string
		if test.words != "" {
			words = strings.Split(test.words, ",")
		}
		_, err := ParseFractions(words)
		if err == nil || !strings.HasPrefix(err.Error(), test.want) || fault.KindOf(err) != fault.Usage || fault.HintOf(err) == "" {
			t.Errorf("%s: got %v (%s), want %s", test.words, err, fault.HintOf(err), test.want)
		}
	}
}
