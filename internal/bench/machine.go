package bench

import (
	"fmt"
	"os"
	"runtime"
	"strings"

	"golang.org/x/sys/unix"
)

// describeMachine describes the machine, and the file system of dir.
func describeMachine(dir string) (Machine, error) {
	m := Machine{CPU: cpuModel(), Cores: runtime.GOMAXPROCS(0)}
	memory, err := os.ReadFile("/proc/meminfo")
	if err != nil {
		return m, err
	}
	m.MemoryBytes = int64(statusBytes(memory, "MemTotal:"))
	var system unix.Utsname
	if err := unix.Uname(&system); err != nil {
		return m, fmt.Errorf("uname: %w", err)
	}
	m.Kernel = unix.ByteSliceToString(system.Sysname[:]) + " " + unix.ByteSliceToString(system.Release[:])
	var disk unix.Statfs_t
	if err := unix.Statfs(dir, &disk); err != nil {
		return m, fmt.Errorf("statfs %s: %w", dir, err)
	}
	m.Filesystem = filesystem(disk.Type)
	return m, nil
}

// cpuModel is the processor's name, or its architecture if the kernel does not report the name.
func cpuModel() string {
	text, _ := os.ReadFile("/proc/cpuinfo")
	for line := range strings.Lines(string(text)) {
		if key, value, _ := strings.Cut(line, ":"); strings.TrimSpace(key) == "model name" {
			return strings.TrimSpace(value)
		}
	}
	return runtime.GOARCH
}

// filesystem names the file systems commonly used for datasets; others get the kernel's number.
func filesystem(magic int64) string {
	names := map[int64]string{
		unix.EXT4_SUPER_MAGIC: "ext4", unix.XFS_SUPER_MAGIC: "xfs", unix.BTRFS_SUPER_MAGIC: "btrfs", unix.TMPFS_MAGIC: "tmpfs",
		unix.NFS_SUPER_MAGIC: "nfs", unix.OVERLAYFS_SUPER_MAGIC: "overlay", 0x0BD00BD0: "lustre", 0x47504653: "gpfs", 0x2FC12FC1: "zfs",
	}
	if name, known := names[magic]; known {
		return name
	}
	return fmt.Sprintf("%#x", magic)
}
