package disk

import (
	"crypto/sha256"
	"encoding/hex"
	"io"
	"io/fs"
	"time"

	"golang.org/x/sys/unix"

	"tcbuild/fault"
)

// Stamp is what changes with every change of a file. All nodes of a cluster see the same one.
type Stamp struct {
	Bytes    int64  `json:"bytes"`
	Modified int64  `json:"modified"` // ns since 1970
	Changed  int64  `json:"changed"`  // of the status, which no program can set
	Inode    uint64 `json:"inode"`
}

// StampOf follows links.
func StampOf(path string) (Stamp, error) {
	var stat unix.Stat_t
	if err := unix.Stat(path, &stat); err != nil {
		return Stamp{}, &fs.PathError{Op: "open", Path: path, Err: err}
	}
	return Stamp{stat.Size, stat.Mtim.Nano(), stat.Ctim.Nano(), stat.Ino}, nil
}

// Known is a file that has been read.
type Known struct {
	Stamp
	SHA256 string `json:"sha256"`
}

// Digests are those of files that have been read, by name.
type Digests map[string]Known

// settled is how old a change must be for a later one to have another time, whatever the clock of
// the file system.
const settled = 2 * time.Second

// Remember keeps what was read of a file, unless it may have changed again without another time.
func (d Digests) Remember(name string, file Known, read time.Time) {
	delete(d, name)
	if read.Sub(time.Unix(0, max(file.Modified, file.Changed))) >= settled {
		d[name] = file
	}
}

// Of returns the size and digest of the file at path, known by a name. It is read if it is not the
// one that is known, and then remembered. A file that changes meanwhile is a fault.Busy.
func (d Digests) Of(name, path string) (file Known, read bool, err error) {
	begin := time.Now()
	before, err := StampOf(path)
	if err != nil || d[name].Stamp == before {
		return d[name], false, err
	}
	content, _, err := OpenRegular(path)
	if err != nil {
		return file, true, err
	}
	defer content.Close()
	sum := sha256.New()
	// hides WriteTo, which would not use the buffer
	from := struct{ io.Reader }{content}
	if _, err := io.CopyBuffer(sum, from, make([]byte, 1<<20)); err != nil {
		return file, true, err
	}
	if after, err := StampOf(path); err != nil || after != before {
		return file, true, fault.New(fault.Busy, "wait until it is written, then run it again",
			"read %s: it changed while it was read", path)
	}
	file = Known{before, hex.EncodeToString(sum.Sum(nil))}
	d.Remember(name, file, begin)
	return file, true, nil
}
