package source

import (
	"maps"
	"strings"
	"testing"
)

// TestNameMap compares with a map of texts, for names around the length that is packed, with and
// without the prefix.
func TestNameMap(t *testing.T) {
	for _, prefix := range []string{"", "GO:"} {
		m, want := newNameMap[int](prefix, 0), make(map[string]int)
		for _, before := range []string{"", "G", "GO", "GO:", "GO:GO:", "Go:"} {
			for length := range 10 {
				for _, c := range []string{"0", "\x00", "\xff"} {
					name := before + strings.Repeat(c, length)
					if _, known := m.get([]byte(name)); known != hasName(want, name) {
						t.Errorf("prefix %q: %q known: %v", prefix, name, known)
					}
					m.set(name, len(want))
					want[name] = len(want)
				}
			}
		}
		for name, value := range want {
			if got, known := m.get([]byte(name)); !known || got != value {
				t.Errorf("prefix %q: %q is %d, %v, want %d", prefix, name, got, known, value)
			}
		}
		if got := maps.Collect(m.all()); !maps.Equal(got, want) {
			t.Errorf("prefix %q: all %v, want %v", prefix, got, want)
		}
	}
}

func hasName(names map[string]int, name string) bool {
	_, known := names[name]
	return known
}
