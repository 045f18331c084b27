package inputfile

import (
	"cmp"
	"errors"
	"fmt"
	"io/fs"
	"os"

	"tcbuild/fault"
	"tcbuild/internal/inorder"
)

// Files are open files, each opened only once. The zero value is empty. It is not safe for
// concurrent use, but its files are. It must be closed.
type Files struct{ files []*File }

// Open opens a file, unless the path is already open. The file belongs to f.
func (f *Files) Open(path string) (*File, error) {
	for _, file := range f.files {
		if file.path == path {
			return file, nil
		}
	}
	return f.own(Open(path))
}

// OpenAtOnce is Open for a file that can be used while it is digested: what is read of it is
// certain when Unchanged has returned nil.
func (f *Files) OpenAtOnce(path string) (*File, error) {
	file, err := openUndigested(path)
	if err == nil {
		file.digestBehind()
	}
	return f.own(file, err)
}

func (f *Files) own(file *File, err error) (*File, error) {
	if err != nil {
		return nil, err
	}
	f.files = append(f.files, file)
	return file, nil
}

// OpenTogether opens files that belong together, in the order of their paths in paths, and only
// then digests them, in parallel. Reading them begins when all are digested; so files that all read
// as digested were, at one moment, there side by side. The error is that of the first file that has
// one.
func (f *Files) OpenTogether(paths []string) ([]*File, error) {
	opened := make([]*File, 0, len(paths))
	for _, path := range paths {
		file, err := openUndigested(path)
		if err != nil {
			return nil, errors.Join(err, closeAll(opened))
		}
		opened = append(opened, file)
	}
	for _, file := range opened {
		if err := file.checkName(os.Stat(file.path)); err != nil {
			return nil, errors.Join(err, closeAll(opened))
		}
	}
	if err := inorder.All(len(opened), func(i int) error { return opened[i].digest() }); err != nil {
		return nil, errors.Join(err, closeAll(opened))
	}
	f.files = append(f.files, opened...)
	return opened, nil
}

// checkName checks that the file's path still leads to it; there and err are what os.Stat says
// of the path.
func (f *File) checkName(there fs.FileInfo, err error) error {
	here, statErr := f.file.Stat()
	if err := cmp.Or(statErr, err); fault.System(err) {
		return f.fail(fmt.Errorf("read %s: %w", f.path, err))
	}
	if err != nil || !os.SameFile(here, there) {
		return f.fail(f.changed("it was replaced or removed while files beside it were opened"))
	}
	return nil
}

// Inputs identifies the files by their paths, in the order in which they were opened.
func (f *Files) Inputs() []Input {
	inputs := []Input{}
	for _, file := range f.files {
		inputs = append(inputs, file.Input(file.path))
	}
	return inputs
}

// Unchanged checks every file as File.Unchanged does, and returns the first error.
func (f *Files) Unchanged() error {
	for _, file := range f.files {
		if err := file.Unchanged(); err != nil {
			return err
		}
	}
	return nil
}

// Close closes the files.
func (f *Files) Close() error { return closeAll(f.files) }

func closeAll(files []*File) error {
	var errs []error
	for _, file := range files {
		errs = append(errs, file.Close())
	}
	return errors.Join(errs...)
}

// Difference describes the first file that is new, changed or gone; it returns "" if the same files
// were read.
func Difference(before, now []Input) string {
	old := make(map[string]Input, len(before))
	for _, input := range before {
		old[input.Name] = input
	}
	for _, input := range now {
		switch was, there := old[input.Name]; {
		case !there:
			return "input " + input.Name + " is new"
		case was != input:
			return "input " + input.Name + " changed"
		}
		delete(old, input.Name)
	}
	for _, input := range before {
		if _, gone := old[input.Name]; gone {
			return "input " + input.Name + " is gone"
		}
	}
	return ""
}
