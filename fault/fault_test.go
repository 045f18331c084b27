package fault

import (
	"errors"
	"fmt"
	"io/fs"
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

// An error of the operating system is Failed whatever was made of it; what it tells about a file's
// kind is not.
func TestSystem(t *testing.T) {
	for _, test := range []struct {
		err  error
		kind Kind
		hint string
	}{
		{syscall.EIO, Failed, "check the disk, then run the same command again"},
		{syscall.ENOSPC, Failed, "free disk space and run the same command again"},
		{syscall.EDQUOT, Failed, "free disk space and run the same command again"},
		{syscall.EACCES, Failed, "check the permissions of the file and of the folders above it"},
		{syscall.EMFILE, Failed, "raise the limit of open files (ulimit -n) and run the same command again"},
		{syscall.ENOENT, Damaged, "build"},
		{syscall.EISDIR, Damaged, "build"},
		{syscall.ELOOP, Damaged, "build"},
		{errors.New("other bytes"), Damaged, "build"},
	} {
		err := New(Damaged, "build", "read: %w", &fs.PathError{Op: "open", Path: "f", Err: test.err})
		if KindOf(err) != test.kind || !errors.Is(err, test.kind) || HintOf(err) != test.hint {
			t.Errorf("%v: got kind %d, hint %q", err, KindOf(err), HintOf(err))
		}
	}
}
