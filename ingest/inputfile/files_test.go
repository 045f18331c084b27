package inputfile

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"reflect"
	"strings"
	"syscall"
	"testing"

	"tcbuild/fault"
)

func TestFiles(t *testing.T) {
	var paths []string
	for _, size := range sizes {
		paths = append(paths, create(t, content(size)))
	}
	var files Files
	defer files.Close()
	together, err := files.OpenTogether(paths)
	if err != nil {
		t.Fatal(err)
	}
	for i, file := range together {
		alone := open(t, paths[i])
		if file.Input("") != alone.Input("") || !reflect.DeepEqual(file.sums, alone.sums) {
			t.Errorf("%d bytes: other digests", sizes[i])
		}
		if again, err := files.Open(paths[i]); again != file || err != nil {
			t.Errorf("%d bytes: opened again, %v", sizes[i], err)
		}
	}
	if inputs := files.Inputs(); len(inputs) != len(paths) || inputs[1] != together[1].Input(paths[1]) {
		t.Errorf("got %v", inputs)
	}
	if err := files.Unchanged(); err != nil {
		t.Error(err)
	}
	if err := os.Truncate(paths[3], 5); err != nil {
		t.Fatal(err)
	}
	if err := files.Unchanged(); fault.KindOf(err) != fault.Busy || !strings.Contains(err.Error(), paths[3]) {
		t.Errorf("got %v", err)
	}
}

func TestFilesErrors(t *testing.T) {
	a, b := create(t, nil), create(t, nil)
	var files Files
	defer files.Close()
	none := filepath.Join(t.TempDir(), "none")
	if _, err := files.OpenTogether([]string{a, none, b, t.TempDir()}); err == nil || !strings.Contains(err.Error(), none) {
		t.Errorf("got %v", err)
	}
	if len(files.files) != 0 {
		t.Error("files stay open after an error")
	}
	file, err := files.Open(a)
	if err != nil {
		t.Fatal(err)
	}
	broken := &File{path: a, file: file.file}
	if err := broken.checkName(nil, &fs.PathError{Op: "stat", Path: a, Err: syscall.EIO}); fault.KindOf(err) != fault.Failed || errors.Is(err, ErrChanged) {
		t.Errorf("got %v, expected the disk's error", err)
	}
	if err := os.Rename(b, a); err != nil {
		t.Fatal(err)
	}
	if err := file.checkName(os.Stat(file.path)); fault.KindOf(err) != fault.Busy || files.Unchanged() != err {
		t.Errorf("got %v", err)
	}
}
