package disk

import (
	"cmp"
	"io/fs"
	"os"
	"path/filepath"
	"strings"

	"golang.org/x/sys/unix"

	"tcbuild/fault"
)

// IsMine reports whether this process's user owns a file, folder or symbolic link; it does not
// follow links.
func IsMine(path string) bool {
	var stat unix.Stat_t
	return unix.Lstat(path, &stat) == nil && int(stat.Uid) == os.Geteuid()
}

// mostLinks is how many links Resolve follows, as the kernel does.
const mostLinks = 40

// Resolve returns where an output at path lands: a path without .., whose folder has no links. The
// folder may be missing. Whoever checks an output and whoever writes it both use this path, since
// cleaning the other one could change its meaning. The last element is not followed.
//
// It is an error if another user's symbolic link decides where the output lands: if the last
// element is one, or a folder before it where everyone can make links. So is .. after something
// that is not a folder.
func Resolve(path string) (string, error) {
	left, done := path, ""
	if filepath.IsAbs(path) {
		done = "/"
	}
	for links := 0; left != ""; {
		var element string
		element, left, _ = strings.Cut(strings.Trim(left, "/"), "/")
		at := filepath.Join(done, element)
		if element == ".." {
			// .. of what is missing, or of a file, would be another folder for the kernel: none
			if info, err := os.Lstat(cmp.Or(done, ".")); err != nil || !info.IsDir() {
				return "", fault.New(fault.Usage, "name the path without ..",
					"%s: found .. after %s, which is not a folder", path, done)
			}
		}
		target, err := os.Readlink(at)
		if err != nil { // no link, or nothing at all
			done = at
			continue
		}
		if !IsMine(at) && (left == "" || anyoneCanWrite(cmp.Or(done, "."))) {
			return "", fault.New(fault.Usage, "name the folder itself, in place of the link",
				"%s is a symbolic link of another user", at)
		}
		if left == "" {
			return at, nil
		}
		if links++; links > mostLinks {
			return "", &fs.PathError{Op: "resolve", Path: path, Err: unix.ELOOP}
		}
		if filepath.IsAbs(target) {
			done = "/"
		}
		left = target + "/" + left
	}
	return cmp.Or(done, "."), nil
}

// anyoneCanWrite reports whether every user can make links in a folder.
func anyoneCanWrite(dir string) bool {
	info, err := os.Stat(dir)
	return err == nil && info.Mode().Perm()&0o002 != 0
}
