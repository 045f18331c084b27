package main

import (
	"context"
	"os"
	"os/signal"
	"sync/atomic"
	"syscall"
	"time"

	"golang.org/x/sys/unix"

	"tcbuild/fault"
)

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
			interrupted := fault.New(fault.Busy, "run the same command again to continue", "interrupted by %s",
				unix.SignalName(s.(syscall.Signal)))
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

// longestEnd is how long a command may take to end after a signal, unless mayEndLate is set.
var longestEnd = 5 * time.Second

var mayEndLate atomic.Bool

// endNow ends the program, whatever it is doing.
func endNow(interrupted error) {
	if mayEndLate.Load() {
		return
	}
	printed := make(chan struct{})
	go func() {
		defer close(printed)
		_ = fault.Catch(func() error {
			printError(&printable{out: os.Stderr}, interrupted)
			return nil
		})() // the program ends with the signal's exit code in any case
	}()
	select {
	case <-printed:
	case <-time.After(signalGrace): // stderr is blocked too
	}
	os.Exit(fault.ExitCode(interrupted))
}

// signalGrace is the longest time between copies of one signal.
const signalGrace = time.Second
