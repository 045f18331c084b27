package fault

import (
	"fmt"
	"strings"
	"testing"
)

func TestQuote(t *testing.T) {
	a := strings.Repeat("a", longestQuote)
	for _, test := range []struct{ value, want string }{
		{"", `""`},
		{"a\x1b[31m\n\"", `"a\x1b[31m\n\""`},
		{a, `"` + a + `"`},
		{a + "b", `"` + a + `"… (121 bytes)`},
		{a[1:] + "é", `"` + a[1:] + `"… (121 bytes)`},
		{strings.Repeat("\xff", 1<<20), `"` + strings.Repeat(`\xff`, longestQuote) + `"… (1,048,576 bytes)`},
		{strings.Repeat("\x80", 1<<20), `"` + strings.Repeat(`\x80`, longestQuote-4) + `"… (1,048,576 bytes)`},
	} {
		if got := Quote(test.value); got != test.want {
			t.Errorf("got  %s\nwant %s", got, test.want)
		}
		if got := Quote([]byte(test.value)); got != test.want {
			t.Errorf("as bytes: got  %s\nwant %s", got, test.want)
		}
	}
}

func TestList(t *testing.T) {
	var many []string
	for i := range longestList + 1234 {
		many = append(many, fmt.Sprint(i))
	}
	for _, test := range []struct {
		names []string
		want  string
	}{
		{nil, ""},
		{[]string{"genes"}, "genes"},
		{[]string{"genes", "a b", "é", "a\nb"}, `genes, a b, é, "a\nb"`},
		{many[:longestList], strings.Join(many[:longestList], ", ")},
		{many, strings.Join(many[:longestList], ", ") + ", and 1,234 more"},
	} {
		if got := List(test.names); got != test.want {
			t.Errorf("got  %s\nwant %s", got, test.want)
		}
	}
}

func TestNearest(t *testing.T) {
	valid := []string{"out", "scale", "samples", "seed", "threshold"}
	for word, want := range map[string]string{
		"otu": "out", "Scale": "scale", "sampels": "samples", "sed": "seed", "treshhold": "threshold",
		"scale": "scale", "xyz": "", "": "", "wholly_different": "",
	} {
		if got := Nearest(word, valid); got != want {
			t.Errorf("%q: got %q, want %q", word, got, want)
		}
	}
}

func TestEditDistance(t *testing.T) {
	for _, c := range []struct {
		a, b string
		want int
	}{{"", "", 0}, {"", "abc", 3}, {"abc", "", 3}, {"abc", "abc", 0}, {"abc", "acb", 1}, {"abc", "xbc", 1},
		{"abc", "bc", 1}, {"kitten", "sitting", 3}, {"ca", "abc", 3}, {"gène", "gene", 1}} {
		if got := editDistance([]rune(c.a), []rune(c.b)); got != c.want {
			t.Errorf("%q -> %q: got %d, want %d", c.a, c.b, got, c.want)
		}
	}
}
