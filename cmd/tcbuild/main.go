// Command tcbuild turns a cell graph and perturbation sets into training datasets.
package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"strings"

	"tcbuild/internal/fault"
)

func main() {
	ctx, stop := interruptible(context.Background())
	code := run(ctx, os.Args[1:], os.Stdout, os.Stderr)
	stop()
	os.Exit(code)
}

// run is the whole program: it returns the exit code.
func run(ctx context.Context, args []string, stdout, stderr io.Writer) int {
	root := newRoot(newEnv(stdout, stderr))
	root.SetArgs(args)
	err := root.ExecuteContext(ctx)
	if err == nil {
		return 0
	}
	if errors.Is(err, context.Canceled) && ctx.Err() != nil { // commands return ctx.Err(); the cause says what happened
		err = context.Cause(ctx)
	}
	fmt.Fprintln(stderr, "tcbuild:", strings.ReplaceAll(err.Error(), "\n", "; "))
	if hint := fault.HintOf(err); hint != "" {
		fmt.Fprintln(stderr, "hint:", hint)
	}
	return exitCode(err)
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
