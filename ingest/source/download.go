package source

import (
	"compress/gzip"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"net/http"
	"os"
	"path/filepath"
	"strings"

	"tcbuild/conf"
	"tcbuild/fault"
	"tcbuild/internal/disk"
)

// Download is a public file that sources read.
type Download struct {
	// where to save the file; if it ends in .gz and the address does not, the file is compressed
	// (required)
	File    string `yaml:"file"`
	Address string `yaml:"address"` // where to download it from (required)
	// expected SHA-256 of the uncompressed content (default: not checked; 'tcbuild ingest fetch'
	// prints the digest that it finds)
	SHA256 string `yaml:"sha256"`
	// the publisher updates the file in place, so a different digest is only a warning
	Changes bool `yaml:"changes"`

	Place conf.Place `yaml:"-" json:"-"` // for errors; may be empty
}

// Fetched is what Fetch found or did.
type Fetched struct {
	Download
	Bytes   int64  // of the file, as it is stored
	Present bool   // whether it was there before
	Found   string // the digest of its content
}

// Fetch downloads a file unless it is there. A file that does not have the digest is a fault.Input,
// whether it was there or not, and is never replaced or kept under its name.
func (d Download) Fetch(ctx context.Context) (Fetched, error) {
	if err := required(at(d.Place, "downloads"), "file", d.File, "address", d.Address); err != nil {
		return Fetched{}, err
	}
	done := Fetched{Download: d}
	switch _, err := os.Stat(d.File); {
	case err == nil:
		done.Present = true
		return done, done.check(d.File, "remove it, then run the same command again to download it")
	case !errors.Is(err, fs.ErrNotExist):
		return done, err
	}
	if err := os.MkdirAll(filepath.Dir(d.File), 0o777); err != nil {
		return done, err
	}
	file, err := disk.Create(d.File)
	if err != nil {
		return done, err
	}
	if err := d.write(ctx, file); err != nil {
		return done, errors.Join(fmt.Errorf("download %s: %w", d.File, err), file.Discard())
	}
	if err := done.check(file.Name(), "its publisher has replaced it: check what has changed, and update sha256 in the settings"); err != nil {
		return done, errors.Join(err, file.Discard())
	}
	return done, file.Publish()
}

// write writes the content that the address answers with.
func (d Download) write(ctx context.Context, file io.Writer) error {
	request, err := http.NewRequestWithContext(ctx, http.MethodGet, d.Address, nil)
	if err != nil {
		return fault.New(fault.Usage, "correct the address in the settings", "%w", err)
	}
	const byHand = "check the address and the network, or save the file there yourself"
	response, err := http.DefaultClient.Do(request)
	if ctx.Err() != nil {
		return ctx.Err()
	}
	if err != nil {
		return fault.New(fault.Failed, byHand, "%v", err) // not %w: it says nothing about the disk
	}
	defer response.Body.Close()
	if response.StatusCode != http.StatusOK {
		return fault.New(fault.Failed, byHand, "%s answered %s", d.Address, response.Status)
	}
	if !isGzip(d.File) || isGzip(d.Address) {
		_, err = io.Copy(file, response.Body)
		return err
	}
	compressed := gzip.NewWriter(file)
	_, err = io.Copy(compressed, response.Body)
	return errors.Join(err, compressed.Close())
}

// check compares the content of the file at path with the digest.
func (f *Fetched) check(path, hint string) error {
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
			return fault.New(fault.Input, hint, "read %s: %w", f.File, err)
		}
	}
	digest := sha256.New()
	if _, err := io.Copy(digest, content); err != nil {
		return fault.New(fault.Input, hint, "read %s: %w", f.File, err)
	}
	f.Found = hex.EncodeToString(digest.Sum(nil))
	if f.Found != f.SHA256 && f.SHA256 != "" && !f.Changes {
		return fault.New(fault.Input, hint, "check %s: found content with sha256 %s, expected %s", f.File, f.Found, f.SHA256)
	}
	return nil
}

func isGzip(name string) bool { return strings.HasSuffix(name, ".gz") }

// MissingDownload returns the first download whose file is not there.
func (s GraphSpec) MissingDownload() (Download, bool) {
	for _, download := range s.Downloads {
		if _, err := os.Stat(download.File); errors.Is(err, fs.ErrNotExist) {
			return download, true
		}
	}
	return Download{}, false
}
