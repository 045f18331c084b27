// Command tcbuild turns a cell graph and perturbation sets into training datasets.
package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"strings"

	"tcbuild/fault"
)

func main() {
	ctx, stop := interruptible(context.Background())
	code := run(ctx, os.Args[1:], os.Stdout, os.Stderr)
	stop()
	os.Exit(code)
}

// run is the whole program: it returns the exit code.
func run(ctx context.Context, args []string, stdout, stderr io.Writer) int {
	e := newEnv(stdout, stderr)
	root := newRoot(e)
	root.SetArgs(args)
	return ended(ctx, e, fault.Catch(func() error { return root.ExecuteContext(ctx) })())
}

// ended prints the error of a command, if it has one, and returns the exit code.
func ended(ctx context.Context, e *env, err error) int {
	if unwritten := e.stdout.Failed(); err == nil && unwritten != nil {
		err = fmt.Errorf("write to stdout: %w", unwritten)
	}
	if err == nil {
		return 0
	}
	if code, silent := errors.AsType[exitCode](err); silent {
		return int(code)
	}
	err = exitReason(ctx, err)
	printError(e.stderr, err)
	return fault.ExitCode(err)
}

// exitCode is the error of a run that has said all there is to say.
type exitCode int

func (c exitCode) Error() string { return fmt.Sprintf("exit code %d", int(c)) }

// exitReason is the error as the program prints it: commands return ctx.Err(), and the cause says
// what interrupted them.
func exitReason(ctx context.Context, err error) error {
	if errors.Is(err, context.Canceled) && ctx.Err() != nil {
		return context.Cause(ctx)
	}
	return err
}

// printError prints an error on one line and its hint, if any, on a second one.
func printError(stderr *printable, err error) {
	oneLine := func(text string) string { return clip(strings.ReplaceAll(text, "\n", "; ")) }
	if bug, ok := errors.AsType[*fault.Bug](err); ok {
		stderr.Write(bug.Stack)
	}
	message := err.Error()
	if fault.DiskFull(err) {
		message = "the disk is full: " + message
	}
	fmt.Fprintln(stderr, "tcbuild:", oneLine(message))
	if hint := fault.HintOf(err); hint != "" {
		fmt.Fprintln(stderr, "hint:", oneLine(hint))
	}
}
