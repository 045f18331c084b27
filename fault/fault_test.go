package fault

import (
	"errors"
	"fmt"
	"io"
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

// An error of the operating system is Failed however it is wrapped; one that describes a file's
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
		{
			syscall.ENOMEM, Failed,
			"give it more memory, or a higher limit (ulimit -v), and run the same command again",
		},
		{syscall.ENOENT, Damaged, "build"},
		{syscall.EISDIR, Damaged, "build"},
		{syscall.ELOOP, Damaged, "build"},
		{syscall.EROFS, Failed, "it is mounted for reading only: name another folder"},
		{errors.New("other bytes"), Damaged, "build"},
	} {
		err := New(Damaged, "build", "read: %w", &fs.PathError{Op: "open", Path: "f", Err: test.err})
		if KindOf(err) != test.kind || !errors.Is(err, test.kind) || HintOf(err) != test.hint {
			t.Errorf("%v: got kind %d, hint %q", err, KindOf(err), HintOf(err))
		}
	}
}

// An error that describes what is at a path always has a hint.
func TestHintOfPlainErrors(t *testing.T) {
	for _, code := range aboutTheFile {
		err := fmt.Errorf("lock: %w", New(Failed, "", "open: %w", &fs.PathError{Op: "open", Path: "f", Err: code}))
		if known := code != syscall.EINVAL && code != syscall.EXDEV; (HintOf(err) != "") != known {
			t.Errorf("%v has the hint %q", code, HintOf(err))
		}
	}
	if hint := HintOf(errors.New("anything")); hint != "" {
		t.Errorf("got the hint %q", hint)
	}
}

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
