package fault

import "testing"

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
