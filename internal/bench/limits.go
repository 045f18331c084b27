package bench

import (
	"bytes"
	"errors"
	"io"
	"os"
	"path/filepath"
	"time"
)

// limits is one round's measurement of the machine, in bytes per second.
type limits struct{ fill, copy, diskWrite, diskRead float64 }

const (
	memorySeconds = 0.1     // duration of a memory measurement
	chunkBytes    = 1 << 20 // of one write or read of the disk limits
)

// measureLimits measures memory with buffers of size bytes, and the disk of dir with a file of
// diskBytes.
func measureLimits(dir string, size int, diskBytes int64) (limits, error) {
	from, to := bytes.Repeat([]byte{1}, max(size, 1)), bytes.Repeat([]byte{1}, max(size, 1))
	l := limits{
		fill: memorySpeed(len(to), func() { clear(to) }),
		copy: memorySpeed(len(to), func() { copy(to, from) }),
	}
	path := filepath.Join(dir, "disk-limit")
	var err error
	if l.diskWrite, err = writeSpeed(path, diskBytes); err != nil {
		return l, err
	}
	l.diskRead, err = readSpeed(path, diskBytes)
	return l, errors.Join(err, os.Remove(path))
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
