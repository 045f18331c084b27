// Command tcbuild turns a cell graph and perturbation sets into training datasets.
package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"os"
	"os/signal"
	"strings"
	"syscall"
	"time"

	"golang.org/x/sys/unix"

	"tcbuild/fault"
)

func main() {
	if err := checkStdout(); err != nil {
		printError(&printable{out: os.Stderr}, err)
		os.Exit(fault.ExitCode(err))
	}
	limitMemory()
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
	err := fault.Catch(func() error { return root.ExecuteContext(ctx) })()
	if err != nil {
		hinted(args, fault.HintOf(err))
	}
	return ended(ctx, e, err)
}

// hinted is called with the arguments of a command that failed, and the hint; tests check it.
var hinted = func([]string, string) {}

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
	if errors.Is(err, context.Canceled) && ctx.Err() != nil {
		err = context.Cause(ctx) // what interrupted the command
	}
	if e.logFormat == jsonLog {
		logError(e.stderr, err)
	} else {
		printError(e.stderr, err)
	}
	return fault.ExitCode(err)
}

// exitCode is the error of a run that has said all there is to say.
type exitCode int

func (c exitCode) Error() string { return fmt.Sprintf("exit code %d", int(c)) }

// printError prints an error on one line and its hint, if any, on a second one.
func printError(stderr *printable, err error) {
	message, hint := describeError(stderr, err)
	fmt.Fprintln(stderr, "tcbuild:", message)
	if hint != "" {
		fmt.Fprintln(stderr, "hint:", hint)
	}
}

// logError prints an error as the last record of a JSON log, with the exit code and the hint.
func logError(stderr *printable, err error) {
	message, hint := describeError(stderr, err)
	attrs := []any{"code", fault.ExitCode(err)}
	if hint != "" {
		attrs = append(attrs, "hint", hint)
	}
	slog.New(slog.NewJSONHandler(stderr, nil)).Error(message, attrs...)
}

// describeError returns an error and its hint, each on one line. It prints the stack of a bug.
func describeError(stderr *printable, err error) (message, hint string) {
	oneLine := func(text string) string { return clip(strings.ReplaceAll(text, "\n", "; ")) }
	if bug, ok := errors.AsType[*fault.Bug](err); ok {
		stderr.Write(bug.Stack)
	}
	message = err.Error()
	if fault.DiskFull(err) {
		message = "the disk is full: " + message
	}
	return oneLine(message), oneLine(fault.HintOf(err))
}

// interruptible returns a context that the first SIGINT, SIGTERM or SIGUSR1 (which SLURM sends as a
// warning, with --signal=USR1) cancels, with a cause of kind fault.Busy. Another signal, later than
// signalGrace, kills the program at once. A program that still runs after longestEnd, because it is
// blocked on a file or pipe, is ended too. The next run removes what it leaves behind.
func interruptible(parent context.Context) (ctx context.Context, stop func()) {
	ctx, cancel := context.WithCancelCause(parent)
	signals := make(chan os.Signal, 1)
	signal.Notify(signals, unix.SIGINT, unix.SIGTERM, unix.SIGUSR1)
	wait := fault.Catch(func() error {
		select {
		case s := <-signals:
			// Restore the default, which is to kill; but SLURM may send its signal to the process
			// and to its group.
			time.AfterFunc(signalGrace, func() { signal.Stop(signals) })
			interrupted := fault.New(fault.Busy, "run the same command again to continue",
				"interrupted by %s", unix.SignalName(s.(syscall.Signal)))
			time.AfterFunc(longestEnd, func() { endNow(interrupted) })
			return interrupted
		case <-ctx.Done():
			return nil
		}
	})
	go func() { cancel(wait()) }()
	return ctx, func() {
		signal.Stop(signals)
		cancel(nil)
	}
}

// longestEnd is how long a command may take to end after a signal.
var longestEnd = 5 * time.Second

// endNow ends the program, whatever it is doing, and even if stderr is blocked.
func endNow(interrupted error) {
	code := fault.ExitCode(interrupted)
	time.AfterFunc(signalGrace, func() { os.Exit(code) })
	printError(&printable{out: os.Stderr}, interrupted)
	os.Exit(code)
}

// signalGrace is the longest time between copies of one signal.
const signalGrace = time.Second
