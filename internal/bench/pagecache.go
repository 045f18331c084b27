package bench

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"math/rand/v2"
	"os"
	"path/filepath"
	"unsafe"

	"golang.org/x/sys/unix"
)

// dropCache drops a file, or all files of a folder, from the page cache. They must be synced and
// not mapped. The error says why they are still cached.
func dropCache(path string) error {
	return eachFile(path, func(file *os.File) error {
		if err := unix.Fadvise(int(file.Fd()), 0, 0, unix.FADV_DONTNEED); err != nil {
			return fmt.Errorf("posix_fadvise: %w", err)
		}
		cached, err := cachedFraction(file)
		if err == nil && cached > 0.1 {
			err = fmt.Errorf("the file system keeps %.0f %% of %s in memory", 100*cached, filepath.Base(file.Name()))
		}
		return err
	})
}

// fillCache reads all files of a folder into the page cache.
func fillCache(dir string) error {
	return eachFile(dir, func(file *os.File) error {
		_, err := io.Copy(io.Discard, file)
		return err
	})
}

// eachFile calls do with a file, or with all files of a folder.
func eachFile(path string, do func(*os.File) error) error {
	return filepath.WalkDir(path, func(path string, entry fs.DirEntry, err error) error {
		if err != nil || entry.IsDir() {
			return err
		}
		file, err := os.Open(path)
		if err != nil {
			return err
		}
		defer file.Close()
		return do(file)
	})
}

// cachedFraction is the fraction of a file's pages that the page cache holds.
func cachedFraction(file *os.File) (fraction float64, err error) {
	info, err := file.Stat()
	if err != nil || info.Size() == 0 {
		return 0, err
	}
	mapped, err := unix.Mmap(int(file.Fd()), 0, int(info.Size()), unix.PROT_READ, unix.MAP_SHARED)
	if err != nil {
		return 0, fmt.Errorf("map %s: %w", file.Name(), err)
	}
	defer func() { err = errors.Join(err, unix.Munmap(mapped)) }()
	pages := make([]byte, (len(mapped)+os.Getpagesize()-1)/os.Getpagesize())
	_, _, errno := unix.Syscall(unix.SYS_MINCORE, uintptr(unsafe.Pointer(&mapped[0])), uintptr(len(mapped)),
		uintptr(unsafe.Pointer(&pages[0])))
	if errno != 0 {
		return 0, fmt.Errorf("mincore: %w", errno)
	}
	cached := 0
	for _, page := range pages {
		cached += int(page & 1)
	}
	return float64(cached) / float64(len(pages)), nil
}

// noise is size incompressible bytes.
func noise(size int) []byte {
	bytes := make([]byte, size)
	rand.NewChaCha8([32]byte{}).Read(bytes) // never fails
	return bytes
}
