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
	e.arguments = args
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
	return fault.ExitCode(err)
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
