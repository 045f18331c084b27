// Package fault gives an error a kind, which determines the exit code, and a hint that says how to
// fix it.
package fault

import (
	"errors"
	"fmt"
	"io/fs"
	"runtime"
	"runtime/debug"
	"slices"
	"syscall"
)

// Kind classifies an error; the exit code follows from it. errors.Is(err, fault.Damaged) matches an
// error of that kind anywhere in the chain of err; KindOf tells the kind that counts.
type Kind int

const (
	// Failed is an I/O, disk or driver failure: exit code 1. Errors that carry no kind are Failed.
	Failed Kind = iota
	// Usage is a wrong flag, argument or configuration: exit code 2.
	Usage
	// Input is bad input data: exit code 3.
	Input
	// Damaged is a dataset that does not match its manifest, checksums or graph: exit code 4.
	Damaged
	// Busy is a dataset locked by another build, a build that was interrupted and can be resumed,
	// or an input that changed while it was read: exit code 75.
	Busy
)

func (k Kind) Error() string {
	return [...]string{"failed", "wrong usage", "bad input", "damaged dataset", "busy"}[k]
}

// Error is an error with a kind and, if known, the fix.
type Error struct {
	Kind Kind
	Err  error  // what we were doing, where, found, expected
	Hint string // the fix; "" if unknown
}

func (e *Error) Error() string { return e.Err.Error() }

// Unwrap returns the wrapped error.
func (e *Error) Unwrap() error { return e.Err }

// Is reports whether target is the error's Kind; the kind of an operating system's error is
// Failed.
func (e *Error) Is(target error) bool {
	if System(e.Err) {
		return target == error(Failed)
	}
	return target == error(e.Kind)
}

// New makes an error of the given kind. The message is formatted as by
// fmt.Errorf, so %w wraps.
func New(kind Kind, hint, format string, args ...any) error {
	return &Error{Kind: kind, Err: fmt.Errorf(format, args...), Hint: hint}
}

// DiskFull reports whether err means that the disk, or the user's quota, has no space left.
func DiskFull(err error) bool {
	return errors.Is(err, syscall.ENOSPC) || errors.Is(err, syscall.EDQUOT)
}

// System reports whether err is a failure of the operating system: a failing or full disk, a
// missing permission, too many open files. Such an error says nothing about a file's content,
// unlike a missing file or one of another kind.
func System(err error) bool {
	code, ok := errors.AsType[syscall.Errno](err)
	return ok && !slices.Contains(aboutTheFile, code)
}

// aboutTheFile are the errors that describe what is at a path.
var aboutTheFile = []syscall.Errno{
	syscall.ENOENT, syscall.ENOTDIR, syscall.EISDIR, syscall.ELOOP, syscall.ENXIO, syscall.ENODEV,
	syscall.EINVAL, syscall.EEXIST, syscall.ENOTEMPTY, syscall.ENAMETOOLONG, syscall.EXDEV,
}

// KindOf returns the kind of the outermost Error in err's chain, or Failed. An error of the
// operating system is always Failed, even inside another Error; see System.
func KindOf(err error) Kind {
	if System(err) {
		return Failed
	}
	if e, ok := errors.AsType[*Error](err); ok {
		return e.Kind
	}
	return Failed
}

// HintOf returns the hint for an error of the operating system, else the first hint in err's chain,
// else one for what there is at a path, or "".
func HintOf(err error) string {
	code, _ := errors.AsType[syscall.Errno](err)
	switch {
	case DiskFull(err):
		return "free disk space and run the same command again"
	case errors.Is(err, syscall.EMFILE), errors.Is(err, syscall.ENFILE):
		return "raise the limit of open files (ulimit -n) and run the same command again"
	case code == syscall.ENOMEM:
		return "give it more memory, or a higher limit (ulimit -v), and run the same command again"
	case errors.Is(err, fs.ErrPermission):
		return "check the permissions of the file and of the folders above it"
	case code == syscall.EROFS:
		return "it is mounted for reading only: name another folder"
	case System(err):
		return "check the disk, then run the same command again"
	}
	for err != nil {
		e, ok := errors.AsType[*Error](err)
		if !ok {
			break
		}
		if e.Hint != "" {
			return e.Hint
		}
		err = e.Err
	}
	return atPath[code]
}

// atPath are the hints for errors that tell what there is at a path.
var atPath = map[syscall.Errno]string{
	syscall.ENOENT:  "check the path",
	syscall.ENOTDIR: "check the path: it, or a part of it, is a file where a folder should be",
	syscall.EISDIR:  "check the path: it is a folder where a file should be",
	syscall.ELOOP: "check the path: a symbolic link on it leads back to itself, " +
		"or must not be there",
	syscall.ENXIO:        "check the path: it is a device or socket where a file should be",
	syscall.ENODEV:       "check the path: it is a device or socket where a file should be",
	syscall.EEXIST:       "remove what is there, or choose another name",
	syscall.ENOTEMPTY:    "remove what is there, or choose another name",
	syscall.ENAMETOOLONG: "choose a shorter name",
}

// Bug is a panic: a fault of tcbuild itself.
type Bug struct {
	Cause any    // what recover returned
	Stack []byte // of the goroutine that panicked
}

func (b *Bug) Error() string { return fmt.Sprintf("panic: %v", b.Cause) }

// Catch makes a panic of run its error, a Bug. Work for another goroutine is wrapped in it, as a
// panic there would end the program with the exit code of wrong usage, and leave locks and
// temporary files.
func Catch(run func() error) func() error {
	return func() (err error) {
		defer func() {
			if cause := recover(); cause != nil {
				err = New(Failed, "this is a fault of tcbuild, not of your data or settings: "+
					"report it in the issues of tcbuild's repository, with all of these lines, "+
					"the command and what 'tcbuild version --json' prints",
					"%w", &Bug{cause, debug.Stack()})
			}
		}()
		return run()
	}
}

// Recovered is the error of a panic of a library on damaged data: cause is what recover returned.
// It is not an error that a caller compares with, as a library may panic with io.EOF.
func Recovered(cause any) error {
	if err, ok := cause.(error); ok {
		if _, ok := errors.AsType[runtime.Error](err); ok { // such as an index out of range
			return errors.New("its lengths and offsets contradict each other")
		}
		return fmt.Errorf("%w", err)
	}
	return fmt.Errorf("%v", cause)
}

// exitCodes are the exit codes of the kinds; docs/commands.md promises them.
var exitCodes = [...]int{Failed: 1, Usage: 2, Input: 3, Damaged: 4, Busy: 75}

// ExitCode is the exit code of a program that ends with err, not nil: 1, 2, 3, 4 or 75 by its kind.
func ExitCode(err error) int { return exitCodes[KindOf(err)] }
