package table

import (
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
		return "", nil, rows.Damaged(path, "at its end", err)
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
