package main

import (
	"errors"
	"testing"

	"github.com/KimMachineGun/automemlimit/memlimit"
	"golang.org/x/sys/unix"
)

func TestFreeAddresses(t *testing.T) {
	var before unix.Rlimit
	if err := unix.Getrlimit(unix.RLIMIT_AS, &before); err != nil {
		t.Fatal(err)
	}
	if before.Cur != unix.RLIM_INFINITY {
		t.Skip("ulimit -v limits this process already")
	}
	if _, err := freeAddresses(); !errors.Is(err, memlimit.ErrNoLimit) {
		t.Errorf("without a limit: %v", err)
	}
	limit := before
	limit.Cur = 1 << 40 // enough for all other tests
	if err := unix.Setrlimit(unix.RLIMIT_AS, &limit); err != nil {
		t.Fatal(err)
	}
	defer unix.Setrlimit(unix.RLIMIT_AS, &before)
	if free, err := freeAddresses(); err != nil || free > 1<<39 || free < 1<<39-1<<35 {
		t.Errorf("got %d and %v, expected less than %d by the addresses that the process has",
			free, err, 1<<39)
	}
}
