package main

import (
	"errors"
	"os"
	"strconv"
	"strings"

	"github.com/KimMachineGun/automemlimit/memlimit"
	"golang.org/x/sys/unix"
)

// limitMemory keeps the heap within the memory that the process may use, by collecting garbage more
// often as it runs out. The limit is the cgroup's (of a container or SLURM job) or that of ulimit
// -v; GOMEMLIMIT takes precedence. Without a readable limit, nothing changes.
func limitMemory() {
	_, _ = memlimit.Set(memlimit.WithProvider(func() (uint64, error) {
		cgroup, cgroupErr := memlimit.FromCgroup()
		addresses, addressErr := freeAddresses()
		switch {
		case cgroupErr != nil:
			return addresses, addressErr
		case addressErr != nil:
			return cgroup, nil
		}
		return min(cgroup, addresses), nil
	}))
}

// freeAddresses returns the bytes that ulimit -v leaves to the heap: half of the address space that
// is free. The other half is for mapped files, and for C's stacks and arenas, which reserve a
// hundred megabytes per thread without using them.
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
