package fault

import (
	"errors"
	"fmt"
	"io"
	"testing"
)

func TestExitCode(t *testing.T) {
	for kind, want := range map[Kind]int{Failed: 1, Usage: 2, Input: 3, Damaged: 4, Busy: 75} {
		if got := ExitCode(fmt.Errorf("wrapped: %w", New(kind, "", "x"))); got != want {
			t.Errorf("kind %d: got %d, want %d", kind, got, want)
		}
	}
	if got := ExitCode(io.ErrUnexpectedEOF); got != 1 {
		t.Errorf("no kind: got %d, want 1", got)
	}
}

func TestFromRun(t *testing.T) {
	for _, test := range []struct {
		code          int
		stderr        string
		kind          Kind
		message, hint string
	}{
		{3, "tcbuild: read x.tsv:2: bad\nhint: mend it\n", Input, "read x.tsv:2: bad", "mend it"},
		{1, "tcbuild: write x: no space\n", Failed, "write x: no space", ""},
		{2, "tcbuild: odd\nhint: a\n", Usage, "odd", "a"},
		{-1, "", Failed, "signal: killed", ""},
	} {
		err := FromRun(test.code, test.stderr, errors.New("signal: killed"))
		if err.Error() != test.message || KindOf(err) != test.kind || HintOf(err) != test.hint {
			t.Errorf("got %q of kind %d with hint %q, want %q, %d, %q", err, KindOf(err), HintOf(err), test.message, test.kind, test.hint)
		}
	}
}
