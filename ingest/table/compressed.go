package table

import (
	"bufio"
	"bytes"
	"encoding/binary"
	"errors"
	"io"
	"math"
	"path/filepath"

	"github.com/klauspost/compress/gzip"
	"github.com/klauspost/compress/zip"
	"github.com/klauspost/compress/zstd"

	"tcbuild/fault"
	"tcbuild/ingest/table/rows"
)

// maxWindow limits a zstd decoder's memory, like the zstd tool does without --long.
const maxWindow = 128 << 20

// Decompress wraps the content of a file according to the ending of its name: .gz, .zst, or
// another, whose content stays as it is. A file that is not compressed as its name says is a
// fault.Input. Close does not close the content.
func Decompress(path string, content io.Reader) (io.ReadCloser, error) {
	_, compression := Format(path)
	if compression == "" {
		return io.NopCloser(content), nil
	}
	in := bufio.NewReader(content)
	head, _ := in.Peek(4) // an error comes again when it is read
	switch compression {
	case ".gz":
		if magic := []byte{0x1f, 0x8b}; !bytes.HasPrefix(magic, head[:min(2, len(head))]) {
			return nil, notCompressed(path, "gzip", compression)
		}
		r, err := gzip.NewReader(in)
		if err != nil {
			return nil, rows.Damaged(path, "at its start", err)
		}
		return r, nil
	default:
		if err := new(zstd.Header).Decode(head); errors.Is(err, zstd.ErrMagicMismatch) {
			return nil, notCompressed(path, "zstd", compression)
		}
		r, err := zstd.NewReader(in, zstd.WithDecoderConcurrency(1),
			zstd.WithDecoderMaxWindow(maxWindow))
		if err != nil {
			return nil, rows.Damaged(path, "at its start", err)
		}
		return r.IOReadCloser(), nil
	}
}

// notCompressed is the error of a file that lacks the compression of its name.
func notCompressed(path, program, ending string) error {
	return fault.New(fault.Input, "rename the file so that its ending fits, or download it again",
		"read %s: the file is not %s-compressed, although its name ends in %s", path, program,
		ending)
}

// openMember opens a file in a zip file; name may be empty if there is but one. It is read in
// place, and its checksum is compared at its end.
func openMember(path string, in *io.SectionReader, name string) (string, io.Reader, error) {
	archive, err := zip.NewReader(in, in.Size())
	if err != nil {
		return "", nil, notZip(path, in, err)
	}
	if !isWhole(in, archive) {
		return "", nil, fault.New(fault.Input, "make the archive again, with all files in one",
			"read %s: found bytes before or after the archive, such as those of another one", path)
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

// isWhole reports whether an archive is the whole file: its directory ends at the record that ends
// the file. The library searches for that record, and ignores another archive before or after it.
func isWhole(in *io.SectionReader, archive *zip.Reader) bool {
	const size, size64 = 22, 20 + 56 // of the record; of those before it in large archives
	at := in.Size() - size - int64(len(archive.Comment))
	var record [size]byte
	if _, err := in.ReadAt(record[:], at); err != nil || string(record[:4]) != "PK\x05\x06" {
		return false
	}
	length := binary.LittleEndian.Uint32(record[12:])
	offset := binary.LittleEndian.Uint32(record[16:])
	end := int64(offset) + int64(length)
	return end == at || end == at-size64 || max(length, offset) == math.MaxUint32
}

// notZip is the error of a file that is not read as a zip file: it is another one, or damaged.
func notZip(path string, in *io.SectionReader, err error) error {
	start := make([]byte, 2)
	_, readErr := in.ReadAt(start, 0)
	if format, _ := Format(path); format == ".xlsx" && string(start) == "\xd0\xcf" {
		return fault.New(fault.Input, "save it as .xlsx without a password",
			"open table %s: found an Excel file with a password, or of a version before 2007", path)
	}
	if readErr == nil && string(start) != "PK" {
		return fault.New(fault.Input,
			"rename the file so that its ending fits, or download it again",
			"read %s: the file is not a zip file, although its name ends in %s", path,
			filepath.Ext(path))
	}
	return rows.Damaged(path, "at its end", err)
}
