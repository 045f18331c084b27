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

// interruptible returns a context that the first SIGINT, SIGTERM or SIGUSR1
// (which SLURM sends as a warning, with --signal=USR1) cancels, with a cause of
// kind fault.Busy. A further signal kills the program at once, after signalGrace.
// A program that is still there after longestEnd ends by itself: it waits for a
// file or pipe that nothing comes from. What it leaves, the next run removes.
func interruptible(parent context.Context) (ctx context.Context, stop func()) {
	ctx, cancel := context.WithCancelCause(parent)
	signals := make(chan os.Signal, 1)
	signal.Notify(signals, unix.SIGINT, unix.SIGTERM, unix.SIGUSR1)
	go func() {
		select {
		case s := <-signals:
			// Back to what the system does, which is to kill; but SLURM may send its signal to the
			// process and to its group.
			time.AfterFunc(signalGrace, func() { signal.Stop(signals) })
			interrupted := fault.New(fault.Busy, "run the same command again to go on", "interrupted by %s", unix.SignalName(s.(syscall.Signal)))
			time.AfterFunc(longestEnd, func() { endNow(interrupted) })
			cancel(interrupted)
		case <-ctx.Done():
		}
	}()
	return ctx, func() {
		signal.Stop(signals)
		cancel(nil)
	}
}

// longestEnd is the time that a command has to end by itself after a signal, unless mayEndLate is
// set.
const longestEnd = 5 * time.Second

var mayEndLate atomic.Bool

// endNow ends the program whatever it is doing.
func endNow(interrupted error) {
	if mayEndLate.Load() {
		return
	}
	printed := make(chan struct{})
	go func() {
		printError(&printable{out: os.Stderr}, interrupted)
		close(printed)
	}()
	select {
	case <-printed:
	case <-time.After(signalGrace): // stderr takes nothing either
	}
	os.Exit(exitCode(interrupted))
}

// signalGrace is how far apart the copies of one signal may come.
const signalGrace = time.Second
