package main

import (
	"context"
	"os"
	"os/signal"
	"syscall"
	"time"

	"golang.org/x/sys/unix"

	"tcbuild/internal/fault"
)

// interruptible returns a context that the first SIGINT, SIGTERM or SIGUSR1
// (which SLURM sends as a warning, with --signal=USR1) cancels, with a cause of
// kind fault.Busy. A further signal kills the program at once, after signalGrace.
func interruptible(parent context.Context) (ctx context.Context, stop func()) {
	ctx, cancel := context.WithCancelCause(parent)
	signals := make(chan os.Signal, 1)
	signal.Notify(signals, unix.SIGINT, unix.SIGTERM, unix.SIGUSR1)
	go func() {
		select {
		case s := <-signals:
			// Back to what the system does, which is to kill; but SLURM may send its signal to the process and to its group.
			time.AfterFunc(signalGrace, func() { signal.Stop(signals) })
			name := unix.SignalName(s.(syscall.Signal))
			cancel(fault.New(fault.Busy, "run the same command again to go on", "interrupted by %s", name))
		case <-ctx.Done():
		}
	}()
	return ctx, func() {
		signal.Stop(signals)
		cancel(nil)
	}
}

// signalGrace is how far apart the copies of one signal may come.
const signalGrace = time.Second
