package disk

import (
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// An output may be reached by the user's own links, but not by another user's.
func TestResolveOthersLinks(t *testing.T) {
	if os.Geteuid() != 0 {
		t.Skip("only root can make links of another user")
	}
	const stranger = 4321
	dir := t.TempDir()
	at := func(name string) string { return filepath.Join(dir, name) }
	link := func(target, name string, owner int) error {
		return errors.Join(os.Symlink(target, at(name)), os.Lchown(at(name), owner, owner))
	}
	err := errors.Join(
		os.MkdirAll(at("open/folder"), 0o755),
		os.Chmod(at("open"), os.ModeSticky|0o777),
		os.MkdirAll(at("closed/folder"), 0o755),
		link("folder", "open/theirs", stranger),
		link("folder", "open/mine", 0),
		link("nowhere", "open/dangling", stranger),
		link("folder", "closed/theirs", stranger),
		link("../open/theirs", "closed/indirect", 0),
		link(at("open")+"/mine", "closed/absolute", 0),
		link("loop", "closed/loop", 0),
	)
	if err != nil {
		t.Fatal(err)
	}
	t.Chdir(at("open"))
	for _, path := range []string{
		"theirs", "theirs/", "theirs/below", "./theirs/below", "mine/../theirs", "dangling",
		at("open/theirs"), at("closed/theirs"), at("closed/indirect/below"),
	} {
		_, err := Resolve(path)
		if err == nil || !strings.Contains(err.Error(), "a symbolic link of another user") {
			t.Errorf("%q: got %v", path, err)
		}
	}
	for _, path := range []string{
		"mine", "mine/below", "folder", "new", "new/below", "/", "",
		at("closed/theirs/below"), at("closed/absolute/below"), at("closed/loop"),
	} {
		if _, err := Resolve(path); err != nil {
			t.Errorf("%q: got %v", path, err)
		}
	}
}
