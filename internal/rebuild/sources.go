package rebuild

import (
	"errors"
	"fmt"
	"io/fs"
	"path/filepath"

	"tcbuild/internal/fault"
	"tcbuild/internal/inputfile"
)

// Source is a file, or a folder with all its files, that stages read and no stage makes.
type Source struct {
	Name string // in fingerprints
	Path string
}

// Input is one file of a source, as it was read.
type Input = inputfile.Input

// sources reads each source once, however many stages share it.
type sources map[Source][]Input

// read returns the files of a source, by name. It reads them whole.
func (s sources) read(source Source) ([]Input, error) {
	if inputs, ok := s[source]; ok {
		return inputs, nil
	}
	inputs, err := readSource(source)
	if err != nil {
		return nil, err
	}
	s[source] = inputs
	return inputs, nil
}

func readSource(source Source) ([]Input, error) {
	var inputs []Input
	root, err := filepath.EvalSymlinks(source.Path)
	if err != nil {
		return nil, fault.New(fault.Failed, "check the path", "read input %s: %w", source.Name, err)
	}
	err = filepath.WalkDir(root, func(path string, entry fs.DirEntry, err error) error {
		// LMDB's readers change its lock file, which holds no data.
		if err != nil || entry.IsDir() || entry.Name() == "lock.mdb" {
			return err
		}
		name, err := filepath.Rel(root, path)
		if err != nil {
			return err
		}
		input, err := hashInput(path, filepath.ToSlash(filepath.Join(source.Name, name)))
		inputs = append(inputs, input)
		return err
	})
	if err != nil {
		return nil, fmt.Errorf("read input %s: %w", source.Name, err)
	}
	return inputs, nil
}

func hashInput(path, name string) (Input, error) {
	file, err := inputfile.Open(path)
	if err != nil {
		return Input{}, err
	}
	defer file.Close()
	return file.Input(name), nil
}

// unchanged makes sure that the sources are still what the plan was made for: stages read them
// after they were hashed.
func (s sources) unchanged() error {
	for source, before := range s {
		now, err := readSource(source)
		if err != nil && !errors.Is(err, fs.ErrNotExist) {
			return err
		}
		if why := inputfile.Difference(before, now); why != "" {
			return changed(why)
		}
	}
	return nil
}

func changed(why string) error {
	return fault.New(fault.Busy, "run the same command again", "rebuild: while it ran, %s", why)
}
