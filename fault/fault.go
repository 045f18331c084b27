// Package fault gives an error a kind, from which the command line takes its
// exit code, and a hint that says how to fix it.
package fault

import (
	"errors"
	"fmt"
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
	// Damaged is a dataset whose content is not what its manifest, checksums or graph say: exit
	// code 4.
	Damaged
	// Busy is a dataset locked by another build, a build that was interrupted and can be resumed,
	// or an input that changed while it was read: exit code 75.
	Busy
)

func (k Kind) Error() string {
	return [...]string{"failed", "wrong usage", "bad input", "damaged dataset", "busy"}[k]
}

// Error is an error with a kind and, where one is known, the fix.
type Error struct {
	Kind Kind
	Err  error  // what we were doing, where, found, expected
	Hint string // the fix; empty when there is none to name
}

func (e *Error) Error() string { return e.Err.Error() }

// Unwrap returns the wrapped error.
func (e *Error) Unwrap() error { return e.Err }

// Is reports whether target is the error's Kind.
func (e *Error) Is(target error) bool {
	return target == error(e.Kind)
}

// New makes an error of the given kind. The message is formatted as by
// fmt.Errorf, so %w wraps.
func New(kind Kind, hint, format string, args ...any) error {
	return &Error{Kind: kind, Err: fmt.Errorf(format, args...), Hint: hint}
}

// DiskFull reports whether err comes from a disk, or a user's quota, without space left.
func DiskFull(err error) bool {
	return errors.Is(err, syscall.ENOSPC) || errors.Is(err, syscall.EDQUOT)
}

// KindOf returns the kind of the outermost Error in err's chain, Failed when there is none. A full
// disk is always Failed.
func KindOf(err error) Kind {
	if DiskFull(err) {
		return Failed
	}
	if e, ok := errors.AsType[*Error](err); ok {
		return e.Kind
	}
	return Failed
}

// HintOf returns the first hint in err's chain, or "".
func HintOf(err error) string {
	if DiskFull(err) {
		return "free disk space and run the same command again"
	}
	for err != nil {
		e, ok := errors.AsType[*Error](err)
		if !ok {
			return ""
		}
		if e.Hint != "" {
			return e.Hint
		}
		err = e.Err
	}
	return ""
}
