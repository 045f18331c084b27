//go:build cuda

package gpuverify

import (
	"bytes"
	"fmt"
	"os"
	"strconv"
	"strings"
)

// pinnedShare is which part of the machine's available memory may be locked unless Devices says.
const pinnedShare = 8

// pinned is how many bytes of the host's memory may be locked for each device. Locked memory is
// lost to all other programs.
func (d *devices) pinned() int64 {
	total := d.Options.Devices.Pinned
	if total == 0 {
		total = d.available / pinnedShare
	}
	return total / int64(len(d.list))
}

// availableMemory is how many bytes the machine can give to programs, and a limit on this one's
// group leaves.
func availableMemory() (int64, error) {
	text, err := os.ReadFile("/proc/meminfo")
	if err != nil {
		return 0, err
	}
	_, rest, _ := bytes.Cut(text, []byte("MemAvailable:"))
	fields := strings.Fields(string(rest))
	if len(fields) == 0 {
		return 0, fmt.Errorf("read /proc/meminfo: found no MemAvailable")
	}
	kilobytes, err := strconv.ParseInt(fields[0], 10, 64)
	if err != nil {
		return 0, fmt.Errorf("read /proc/meminfo: MemAvailable: %w", err)
	}
	available := kilobytes << 10
	if limit, err := os.ReadFile("/sys/fs/cgroup/memory.max"); err == nil {
		if most, err := strconv.ParseInt(strings.TrimSpace(string(limit)), 10, 64); err == nil {
			available = min(available, most)
		}
	}
	return available, nil
}
