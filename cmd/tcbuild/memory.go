package main

import (
	"errors"
	"os"
	"strconv"
	"strings"

	"github.com/KimMachineGun/automemlimit/memlimit"
	"golang.org/x/sys/unix"
)

// limitMemory makes the garbage collector work harder as the memory that the process may use runs
// out, instead of taking more: of a container or a job of SLURM's (its cgroup), or of ulimit -v.
// GOMEMLIMIT takes precedence. Without a limit, or where none can be read, nothing changes.
func limitMemory() {
	_, _ = memlimit.Set(memlimit.WithProvider(func() (uint64, error) {
		inCgroup, cgroupErr := memlimit.FromCgroup()
		ofAddresses, addressErr := freeAddresses()
		switch {
		case cgroupErr != nil:
			return ofAddresses, addressErr
		case addressErr != nil:
			return inCgroup, nil
		}
		return min(inCgroup, ofAddresses), nil
	}))
}

// freeAddresses is what ulimit -v leaves to the heap: half of the addresses that are not yet taken.
// The other half is for files that are mapped, and for stacks and arenas of C, which take a hundred
// megabytes a thread without using them.
func freeAddresses() (uint64, error) {
	var limit unix.Rlimit
	if err := unix.Getrlimit(unix.RLIMIT_AS, &limit); err != nil {
		return 0, err
	}
	if limit.Cur == unix.RLIM_INFINITY {
		return 0, memlimit.ErrNoLimit
	}
	statm, err := os.ReadFile("/proc/self/statm")
	if err != nil {
		return 0, err
	}
	pages, _, _ := strings.Cut(string(statm), " ")
	taken, err := strconv.ParseUint(pages, 10, 64)
	if err != nil {
		return 0, err
	}
	taken *= uint64(os.Getpagesize())
	if taken >= limit.Cur {
		return 0, errors.New("no addresses are free")
	}
	return (limit.Cur - taken) / 2, nil
}
