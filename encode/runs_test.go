package encode

import (
	"fmt"
	"slices"
	"testing"
)

// Gaps and lengths at the bounds of 16 bits: each list of runs is what FORMAT.md asks for.
func TestRunsAtTheirBounds(t *testing.T) {
	const most = 65_535
	for _, test := range []struct {
		gap, length uint32
		want        string
	}{
		{0, 1, "0+1"},
		{0, 2, "0+2"},
		{most, 1, "65535+1"},
		{most + 1, 1, "65535+0 1+1"},
		{2 * most, 1, "65535+0 65535+1"},
		{2*most + 1, 1, "65535+0 65535+0 1+1"},
		{3, most, "3+65535"},
		{3, most + 1, "3+65535 0+1"},
		{3, 2 * most, "3+65535 0+65535"},
		{3, 2*most + 1, "3+65535 0+65535 0+1"},
		{most, most, "65535+65535"},
		{most + 1, most + 1, "65535+0 1+65535 0+1"},
		{most, most + 1, "65535+65535 0+1"},
	} {
		removed := positions(test.gap, test.gap+test.length, 1)
		var r runs
		if err := r.parse(newRunsEncoder(1<<20).Append(nil, removed)); err != nil {
			t.Fatal(err)
		}
		if got := describeRuns(&r); got != test.want {
			t.Errorf("gap %d, length %d: runs %s, want %s", test.gap, test.length, got, test.want)
		}
		if got, err := r.appendRemoved(nil, 1<<20); err != nil || !slices.Equal(got, removed) {
			t.Errorf("gap %d, length %d: decoded %s, error %v", test.gap, test.length, head(got), err)
		}
	}
}

// describeRuns writes each run as gap+length.
func describeRuns(r *runs) string {
	text, lengths := "", r.lengths
	for i, gap := range r.gaps {
		length := uint16(1)
		if r.marks[i/8]>>(i%8)&1 != 0 {
			length, lengths = lengths[0], lengths[1:]
		}
		if i > 0 {
			text += " "
		}
		text += fmt.Sprintf("%d+%d", gap, length)
	}
	return text
}
