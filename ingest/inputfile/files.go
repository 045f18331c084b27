package inputfile

import (
	"cmp"
	"errors"
	"io"

	"tcbuild/fault"
)

// Files are open files, each opened only once. The zero value is empty. It is not safe for
// concurrent use, but its files are. It must be closed.
type Files struct {
	Shared bool // open them by OpenShared
	files  []*File
}

// Open opens a file, unless the path is already open. The file belongs to f.
func (f *Files) Open(path string) (*File, error) {
	for _, file := range f.files {
		if file.path == path {
			return file, nil
		}
	}
	open := Open
	if f.Shared {
		open = OpenShared
	}
	file, err := open(path)
	if err == nil {
		f.files = append(f.files, file)
	}
	return file, err
}

// Inputs identifies the files by their paths, in the order in which they were opened.
func (f *Files) Inputs() []Input {
	inputs := []Input{}
	for _, file := range f.files {
		inputs = append(inputs, file.Input(file.path))
	}
	return inputs
}

// Unchanged checks every file as File.Unchanged does, and returns the first error. Files that are
// all unchanged were, at one moment, there side by side as they were read.
func (f *Files) Unchanged() error {
	for _, file := range f.files {
		if err := file.Unchanged(); err != nil {
			return err
		}
	}
	return nil
}

// Explain returns the error of files that changed in place of an error about their content, which
// may be due to that. It closes the files, so that nobody waits for digests that are of no use.
func Explain(err error, files interface {
	Unchanged() error
	io.Closer
}) error {
	if fault.KindOf(err) != fault.Input {
		return err
	}
	files.Close()
	return cmp.Or(files.Unchanged(), err)
}

// Failed returns the first file's read error, as File.Failed does.
func (f *Files) Failed() error {
	for _, file := range f.files {
		if err := file.Failed(); err != nil {
			return err
		}
	}
	return nil
}

// Close closes the files.
func (f *Files) Close() error {
	var errs []error
	for _, file := range f.files {
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
