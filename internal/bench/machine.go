package bench

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"time"

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

const (
	memorySeconds = 0.1     // duration of a memory measurement
	chunkBytes    = 1 << 20 // of one write or read of the disk limits
)

// measure adds a round: memory with buffers of size bytes, and the disk of dir with a file of
// diskBytes.
func (l *Limits) measure(dir string, size int, diskBytes int64) error {
	from, to := bytes.Repeat([]byte{1}, max(size, 1)), bytes.Repeat([]byte{1}, max(size, 1))
	l.Fill.add(memorySpeed(len(to), func() { clear(to) }))
	l.Copy.add(memorySpeed(len(to), func() { copy(to, from) }))
	l.DiskBytes = diskBytes
	path := filepath.Join(dir, "disk-limit")
	write, err := writeSpeed(path, diskBytes)
	if err != nil {
		return err
	}
	read, err := readSpeed(path, diskBytes)
	l.DiskWrite.add(write)
	l.DiskRead.add(read)
	return errors.Join(err, os.Remove(path))
}

// memorySpeed repeats work, which handles size bytes, and returns its best speed: other load on the
// machine does not lower the limit.
func memorySpeed(size int, work func()) float64 {
	best := time.Duration(1<<63 - 1)
	repeats := 1 + chunkBytes/size // so that reading the clock takes negligible time
	for start := time.Now(); time.Since(start).Seconds() < memorySeconds; {
		lap := time.Now()
		for range repeats {
			work()
		}
		best = min(best, max(time.Since(lap), 1))
	}
	return float64(size) * float64(repeats) / best.Seconds()
}

// writeSpeed writes a file of noise, which no disk can compress, and syncs it.
func writeSpeed(path string, size int64) (float64, error) {
	noise := noise(chunkBytes)
	file, err := os.Create(path)
	if err != nil {
		return 0, err
	}
	start := time.Now()
	for left := size; left > 0 && err == nil; left -= chunkBytes {
		_, err = file.Write(noise[:min(left, chunkBytes)])
	}
	err = errors.Join(err, file.Sync())
	seconds := time.Since(start).Seconds()
	return float64(size) / seconds, errors.Join(err, file.Close())
}

// readSpeed reads a file that is not in the page cache, several times, and returns the best speed:
// the disk may still be busy from writing it. It returns 0 if the file cannot be dropped from the
// page cache.
func readSpeed(path string, size int64) (best float64, err error) {
	file, err := os.Open(path)
	if err != nil {
		return 0, err
	}
	defer file.Close()
	buffer := make([]byte, chunkBytes)
	for range diskReads {
		if dropCache(path) != nil {
			return 0, nil
		}
		start := time.Now()
		if _, err := io.CopyBuffer(struct{ io.Writer }{io.Discard}, io.NewSectionReader(file, 0, size), buffer); err != nil {
			return 0, err
		}
		best = max(best, float64(size)/time.Since(start).Seconds())
	}
	return best, nil
}

const diskReads = 3
