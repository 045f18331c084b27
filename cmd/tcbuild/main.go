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
	err := root.ExecuteContext(ctx)
	if unwritten := e.stdout.Close(); err == nil && unwritten != nil {
		err = fmt.Errorf("write to stdout: %w", unwritten)
	}
	if err == nil {
		return 0
	}
	// commands return ctx.Err(); the cause says why
	if errors.Is(err, context.Canceled) && ctx.Err() != nil {
		err = context.Cause(ctx)
	}
	printError(e.stderr, err)
	return exitCode(err)
}

// printError prints an error on one line and its hint, if any, on a second one.
func printError(stderr *printable, err error) {
	oneLine := func(text string) string { return clip(strings.ReplaceAll(text, "\n", "; ")) }
	message := err.Error()
	if fault.DiskFull(err) {
		message = "the disk is full: " + message
	}
	fmt.Fprintln(stderr, "tcbuild:", oneLine(message))
	if hint := fault.HintOf(err); hint != "" {
		fmt.Fprintln(stderr, "hint:", oneLine(hint))
	}
	_ = stderr.Close()
}

// exitCode is the exit code of a failed run; see exitCodes.
func exitCode(err error) int {
	switch fault.KindOf(err) {
	case fault.Usage:
		return 2
	case fault.Input:
		return 3
	case fault.Damaged:
		return 4
	case fault.Busy:
		return 75
	default:
		return 1
	}
}
