package fault

import (
	"errors"
	"strings"
)

// exitCodes are the exit codes of the kinds; docs/commands.md promises them.
var exitCodes = [...]int{Failed: 1, Usage: 2, Input: 3, Damaged: 4, Busy: 75}

// ExitCode is the exit code of a program that ends with err, not nil: 1, 2, 3, 4 or 75 by its kind.
func ExitCode(err error) int { return exitCodes[KindOf(err)] }

// FromRun is the error with which another run of the program failed, as its exit code and its
// stderr tell it; died is the error if they do not, as after a signal.
func FromRun(code int, stderr string, died error) error {
	e := &Error{Kind: Failed, Err: died}
	for kind, exitCode := range exitCodes {
		if exitCode == code {
			e.Kind = Kind(kind)
		}
	}
	message, hint, _ := strings.Cut(strings.TrimSpace(stderr), "\nhint: ")
	if message = strings.TrimPrefix(message, "tcbuild: "); message != "" {
		e.Err, e.Hint = errors.New(message), hint
	}
	return e
}
