package ontologies

import (
	"strings"
	"testing"
)

// TestJoins adds texts to a set, of which one has the separator of the graph's column.
func TestJoins(t *testing.T) {
	set, j := "", make(joins)
	for _, text := range []string{"NOT|part_of", "part_of", "", "NOT|part_of", "NOT", "part_of"} {
		set = j.with(set, []byte(text))
	}
	if got := strings.ReplaceAll(set, joint, "|"); got != "NOT|part_of|part_of|NOT" {
		t.Errorf("got %s", got)
	}
}
