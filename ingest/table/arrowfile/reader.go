package arrowfile

import (
	"io"

	"github.com/apache/arrow/go/v17/arrow/ipc"

	"tcbuild/ingest/table/rows"
)

// NewReader reads an Arrow IPC file by record batches, for callers that know its schema and check
// its bytes themselves: it ignores the checksums of compressed buffers. It checks the lengths in all
// metadata first, and does not allow buffers that are much larger than the file, so that a damaged
// file cannot exhaust the memory. Such a file may still make the reader panic, here or later. The
// caller keeps ownership of the file.
func NewReader(file io.ReaderAt, size int64) (*ipc.FileReader, error) {
	return open(io.NewSectionReader(file, 0, size), ignoreFrames)
}

// open checks the lengths in a file's metadata, and its compressed buffers, and opens a reader.
func open(in *io.SectionReader, frames frameCheck) (*ipc.FileReader, error) {
	if err := verify(in, frames); err != nil {
		return nil, err
	}
	return ipc.NewFileReader(in, ipc.WithAllocator(rows.NewAllocator(in.Size())))
}
