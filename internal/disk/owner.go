package disk

import (
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

// mostLinks is how many links CheckPlanted follows: more than the kernel does.
const mostLinks = 64

// CheckPlanted returns an error if another user's symbolic link decides where an output at path
// lands. The last element of the path must not be a link of another user. Folders before it may be
// links of others only where not everyone can make one.
func CheckPlanted(path string) error {
	left, done := path, "/" // not cleaned: the element before .. may be a link
	if !filepath.IsAbs(path) {
		folder, err := os.Getwd()
		if err != nil {
			return err
		}
		left = folder + "/" + path
	}
	for links := 0; left != ""; {
		var element string
		element, left, _ = strings.Cut(strings.Trim(left, "/"), "/")
		at := filepath.Join(done, element)
		target, err := os.Readlink(at)
		if err != nil { // no link, or nothing at all
			done = at
			continue
		}
		if !IsMine(at) && (left == "" || anyoneCanWrite(done)) {
			return fault.New(fault.Usage, "name the folder itself, in place of the link",
				"%s is a symbolic link of another user", at)
		}
		if links++; links > mostLinks {
			return nil // the kernel refuses the path
		}
		if filepath.IsAbs(target) {
			done = "/"
		}
		left = target + "/" + left
	}
	return nil
}

// anyoneCanWrite reports whether every user can make links in a folder.
func anyoneCanWrite(dir string) bool {
	info, err := os.Stat(dir)
	return err == nil && info.Mode().Perm()&0o002 != 0
}
