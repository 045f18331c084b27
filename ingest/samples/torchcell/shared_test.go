package torchcell

import (
	"fmt"
	"slices"
	"strings"
	"testing"
)

// A parser that has read other records finds the same nodes as a new one, and the same errors.
func TestParserSharesObjects(t *testing.T) {
	used := new(parser)
	objects := []string{`{}`, `{"a": 1}`, `{"a": 1, "b": {"environment": {"a": 1}}}`, `{"a": 10}`,
		`{"environment": {"environment": {"a": 1}}}`, `[{"a": 1}]`, `"{"`, `{"a": 1`, `1`}
	for round := range 3 {
		for i, object := range objects {
			for _, end := range []string{"}", "}}", ",", "x}", ""} {
				other := objects[(i+round)%len(objects)]
				text := fmt.Sprintf(`{"environment": %s, "experiment_reference":%s, "x": %s%s`,
					object, other, object, end)
				want, wantErr := new(parser).parse([]byte(text))
				got, err := used.parse([]byte(text))
				if fmt.Sprint(err) != fmt.Sprint(wantErr) {
					t.Fatalf("%s: got %v, want %v", text, err, wantErr)
				}
				if err == nil && !slices.EqualFunc(got, want, sameNode) {
					t.Fatalf("%s: got %d nodes, want %d", text, len(got), len(want))
				}
			}
		}
	}
}

func sameNode(a, b node) bool {
	return string(a.name) == string(b.name) && string(a.text) == string(b.text) && a.size == b.size
}

// An object within the limit of depth at one place may be beyond it at another.
func TestParserSharesNothingTooDeep(t *testing.T) {
	deep := func(levels int) []byte {
		inside := `{"environment": {"x": ` + strings.Repeat("[", 10) + strings.Repeat("]", 10) + `}}`
		return []byte(strings.Repeat("[", levels) + inside + strings.Repeat("]", levels))
	}
	used := new(parser)
	for _, levels := range []int{0, maxDepth - 12, maxDepth - 11} {
		_, want := new(parser).parse(deep(levels))
		if _, err := used.parse(deep(levels)); fmt.Sprint(err) != fmt.Sprint(want) {
			t.Errorf("%d levels: got %v, want %v", levels, err, want)
		}
	}
}
