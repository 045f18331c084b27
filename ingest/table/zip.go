package table

import (
	"bytes"
	"io"

	"github.com/klauspost/compress/zip"

	"tcbuild/fault"
	"tcbuild/ingest/table/rows"
)

// openMember opens a file in a zip file; name may be empty if there is but one. It is read in
// place, and its checksum is compared at its end.
func openMember(path string, in *io.SectionReader, name string) (string, io.Reader, error) {
	archive, err := zip.NewReader(in, in.Size())
	if err != nil {
		return "", nil, notZip(path, in, err)
	}
	var names []string
	for _, member := range archive.File {
		if member.FileInfo().IsDir() {
			continue
		}
		names = append(names, member.Name)
		if member.Name == name {
			content, err := member.Open()
			if err != nil {
				err = rows.Damaged(path+"/"+name, "at its start", err)
			}
			return name, content, err
		}
	}
	if name == "" && len(names) == 1 {
		return openMember(path, in, names[0])
	}
	found := "found no name of a file in it"
	if name != "" {
		found = "found no file " + fault.Quote(name)
	}
	return "", nil, fault.New(fault.Input, "set member, beside the file, to one of them",
		"open table %s: %s, expected one of %s", path, found, fault.List(names))
}

// notZip is the error of a file that is not read as a zip file: it is another one, or damaged.
func notZip(path string, in *io.SectionReader, err error) error {
	start := make([]byte, 2)
	if _, readErr := in.ReadAt(start, 0); readErr == nil && !bytes.Equal(start, []byte("PK")) {
		return fault.New(fault.Input, "rename the file so that its ending fits, or download it again",
			"read %s: the file is not a zip file, although its name ends in .zip", path)
	}
	return rows.Damaged(path, "at its end", err)
}
