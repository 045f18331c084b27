package table

import (
	"io"
	"os"

	"github.com/apache/arrow/go/v17/arrow/ipc"
)

// NewArrowReader reads an Arrow IPC file by record batches, for callers that know its schema. It
// checks the lengths in all metadata first, and does not allow buffers that are much larger than
// the file, so that a damaged file cannot exhaust the memory. Such a file may still make the reader
// panic, here or later. The caller keeps ownership of the file.
func NewArrowReader(file *os.File) (*ipc.FileReader, error) {
	info, err := file.Stat()
	if err != nil {
		return nil, err
	}
	section := io.NewSectionReader(file, 0, info.Size())
	blocks, err := verifyFooter(section)
	if err != nil {
		return nil, err
	}
	for _, block := range blocks {
		if err := block.verify(section, 0); err != nil {
			return nil, err
		}
	}
	return ipc.NewFileReader(section, ipc.WithAllocator(newAllocator(info.Size())))
}
