package fault

import (
	"errors"
	"fmt"
	"syscall"
	"testing"
)

func TestKindIsMatched(t *testing.T) {
	err := fmt.Errorf("build: %w", New(Busy, "wait", "lock out: %w", New(Input, "", "read")))
	if !errors.Is(err, Busy) || !errors.Is(err, Input) || errors.Is(err, Damaged) || KindOf(err) != Busy {
		t.Errorf("%v is matched wrongly", err)
	}
	if full := New(Damaged, "", "read: %w", syscall.ENOSPC); KindOf(full) != Failed {
		t.Errorf("a full disk is %v", KindOf(full))
	}
}
