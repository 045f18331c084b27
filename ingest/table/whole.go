package table

import (
	"bytes"
	"io"

	"tcbuild/fault"
	"tcbuild/ingest/inputfile"
)

// maxWhole is the largest content of a file that is read as a whole: models and ontologies of a
// hundredth of it are large. A compressed file can unpack to a thousand times its size.
var maxWhole int64 = 1 << 30

// ReadWhole reads a file as a whole, and decompresses it as its name says.
func ReadWhole(files *inputfile.Files, path string) ([]byte, error) {
	file, err := files.Open(path)
	if err != nil {
		return nil, err
	}
	text, err := readWhole(file)
	if changed := file.Unchanged(); changed != nil {
		return nil, changed
	}
	return text, err
}

func readWhole(file *inputfile.File) ([]byte, error) {
	in, err := Decompress(file.Path(), file.Reader())
	if err != nil {
		return nil, err
	}
	defer in.Close()
	text := bytes.NewBuffer(make([]byte, 0, min(file.Size(), maxWhole)+bytes.MinRead))
	if _, err := text.ReadFrom(io.LimitReader(in, maxWhole+1)); err != nil {
		return nil, fault.New(fault.Input, "download the file again",
			"read %s: the file is truncated or damaged: %w", file.Path(), err)
	}
	if int64(text.Len()) > maxWhole {
		return nil, fault.New(fault.Input, "check that it is the right file",
			"read %s: found more than %d MiB of content, expected at most that",
			file.Path(), maxWhole>>20)
	}
	return text.Bytes(), nil
}
