package source

import (
	"slices"
	"testing"
)

func TestList(t *testing.T) {
	var l list[int]
	var want []int
	for i := range 3*blockLength + 2 {
		switch i {
		case 0, 1, blockLength - 1, blockLength, blockLength + 1, 3 * blockLength:
			if got := l.all(); l.length != i || !slices.Equal(got, want) {
				t.Errorf("%d of %d elements: length %d", len(got), i, l.length)
			}
		}
		l.append(2 * i)
		want = append(want, 2*i)
		if got := *l.at(i); got != 2*i {
			t.Fatalf("element %d is %d", i, got)
		}
	}
	*l.at(1) = -1
	if got := *l.at(1); got != -1 {
		t.Errorf("element 1 is %d", got)
	}
}
