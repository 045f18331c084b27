package download

import (
	"compress/gzip"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"strings"

	"tcbuild/conf"
	"tcbuild/fault"
	"tcbuild/internal/disk"
)

// Entry is a public file that settings list.
type Entry struct {
	// where to save the file; if it ends in .gz and the address does not, the file is compressed
	// (required)
	File    string `yaml:"file" required:"yes"`
	Address string `yaml:"address" required:"yes"` // where to download it from (required)
	// expected SHA-256 of the uncompressed content (default: not checked; 'tcbuild ingest fetch'
	// prints the digest that it finds)
	SHA256 string `yaml:"sha256"`
	// the publisher updates the file in place, so a different digest is only a warning
	Changes bool `yaml:"changes"`

	Place conf.Place `yaml:"-" json:"-"` // for errors; may be empty
}

// Fetched is what Fetch found or did.
type Fetched struct {
	Entry
	Bytes   int64  // of the file, as it is stored
	Present bool   // whether it was there before
	Found   string // the digest of its content
}

// Fetch downloads a file unless it is there. A file that does not have the digest is a fault.Input,
// whether it was there or not, and is never replaced or kept under its name. After a fault.Busy,
// such as a broken connection, another Fetch continues where this one stopped.
func (d Entry) Fetch(ctx context.Context, client Client) (Fetched, error) {
	if err := conf.Check(&d); err != nil {
		return Fetched{}, err
	}
	done := Fetched{Entry: d}
	switch _, err := os.Stat(d.File); {
	case err == nil:
		done.Present = true
		const again = "remove it, then run the same command again to download it"
		return done, done.check(d.File, again, again)
	case !errors.Is(err, fs.ErrNotExist):
		return done, err
	}
	if err := os.MkdirAll(filepath.Dir(d.File), 0o777); err != nil {
		return done, err
	}
	part, err := d.lockPart()
	if err != nil {
		return done, err
	}
	defer part.Close()
	err = client.Get(ctx, d.Address, part)
	if errors.Is(err, fault.Busy) || ctx.Err() != nil {
		return done, fmt.Errorf("download %s: %w", d.File, err) // the part stays, to be continued
	}
	if err != nil {
		err = fmt.Errorf("download %s: %w", d.File, err)
	} else {
		err = done.publish(part)
	}
	return done, errors.Join(err, os.Remove(part.Name()))
}

// lockPart opens the hidden file with the bytes received so far, and locks it for this process.
func (d Entry) lockPart() (*os.File, error) {
	digest := sha256.Sum256([]byte(d.Address))
	name := fmt.Sprintf(".%s.%x.part", filepath.Base(d.File), digest[:4])
	part, err := disk.TryLock(filepath.Join(filepath.Dir(d.File), name), disk.Alone)
	if err == nil && !disk.IsCurrent(part) {
		part.Close() // another process has just published it
		err = disk.ErrLocked
	}
	if errors.Is(err, disk.ErrLocked) {
		return nil, fault.New(fault.Busy,
			"wait until it has ended, then run the same command again",
			"download %s: another process downloads it", d.File)
	}
	return part, err
}

// publish gives the downloaded content its name, if it matches the settings.
func (f *Fetched) publish(part *os.File) error {
	file, err := disk.Create(f.File)
	if err != nil {
		return err
	}
	if err := f.write(file, part); err != nil {
		return errors.Join(fmt.Errorf("download %s: %w", f.File, err), file.Discard())
	}
	const broken = "run the same command again; if it comes broken again, " +
		"save the file there yourself"
	const other = "if its publisher has replaced it, check what has changed, " +
		"then update sha256 in the settings"
	if err := f.check(file.Name(), broken, other); err != nil {
		return errors.Join(fmt.Errorf("%s: %w", f.Address, err), file.Discard())
	}
	return file.Publish()
}

// write copies what was downloaded, compressed if only the file's name says so.
func (f *Fetched) write(file io.Writer, part *os.File) error {
	if _, err := part.Seek(0, io.SeekStart); err != nil {
		return err
	}
	if !isGzip(f.File) || isGzip(f.Address) {
		_, err := io.Copy(file, part)
		return err
	}
	compressed := gzip.NewWriter(file)
	_, err := io.Copy(compressed, part)
	return errors.Join(err, compressed.Close())
}

// check compares the content of the file at path with the digest. The hints are for a file that
// cannot be decompressed, and for a whole one with another digest.
func (f *Fetched) check(path, broken, other string) error {
	file, err := os.Open(path)
	if err != nil {
		return err
	}
	defer file.Close()
	info, err := file.Stat()
	if err != nil {
		return err
	}
	f.Bytes = info.Size()
	var content io.Reader = file
	if isGzip(f.File) {
		if content, err = gzip.NewReader(file); err != nil {
			return fault.New(fault.Input, broken, "read %s: %w", f.File, err)
		}
	}
	digest := sha256.New()
	if _, err := io.Copy(digest, content); err != nil {
		return fault.New(fault.Input, broken, "read %s: %w", f.File, err)
	}
	f.Found = hex.EncodeToString(digest.Sum(nil))
	if f.Found != f.SHA256 && f.SHA256 != "" && !f.Changes {
		return fault.New(fault.Input, other,
			"check %s: found content with sha256 %s, expected %s", f.File, f.Found, f.SHA256)
	}
	return nil
}

func isGzip(name string) bool { return strings.HasSuffix(name, ".gz") }
