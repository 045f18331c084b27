package versions

import (
	"errors"
	"io/fs"

	"tcbuild/fault"
	"tcbuild/ingest/inputfile"
)

// Source is a file that stages read but no stage makes.
type Source struct {
	Name string // in fingerprints
	Path string
}

// Input is the file of a source, as read.
type Input = inputfile.Input

// sources reads each source once, however many stages share it.
type sources map[Source]Input

// read reads the whole file of a source.
func (s sources) read(source Source) (Input, error) {
	if input, ok := s[source]; ok {
		return input, nil
	}
	input, err := readSource(source)
	if err == nil {
		s[source] = input
	}
	return input, err
}

func readSource(source Source) (Input, error) {
	file, err := inputfile.Open(source.Path)
	if err != nil {
		return Input{}, err
	}
	defer file.Close()
	return file.Input(source.Name), nil
}

// unchanged checks that the sources are still those of the plan: otherwise the version would
// already be out of date.
func (s sources) unchanged() error {
	for source, before := range s {
		var now []Input
		input, err := readSource(source)
		switch {
		case err == nil:
			now = []Input{input}
		case !errors.Is(err, fs.ErrNotExist):
			return err
		}
		if why := inputfile.Difference([]Input{before}, now); why != "" {
			return changed(why)
		}
	}
	return nil
}

func changed(why string) error {
	return fault.New(fault.Busy, "run the same command again", "rebuild: while it ran, %s", why)
}
