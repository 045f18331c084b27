package parquetfile

import (
	"bufio"
	"bytes"
	"context"
	"fmt"
	"hash/crc32"
	"io"

	"github.com/apache/thrift/lib/go/thrift"
)

// pageStream is the stream that the Parquet reader reads pages from. For each page the reader
// peeks, discards the header, and reads the content. It ignores the header's checksum and a
// truncated content, so pageStream checks both.
type pageStream struct {
	buffered *bufio.Reader
	crc      *uint32 // from the header, nil if it has none
	sum      uint32  // of the content read so far
	left     int     // bytes of the content still to read
}

func (s *pageStream) Peek(n int) ([]byte, error) { return s.buffered.Peek(n) }

// Discard skips a page's header of n bytes.
func (s *pageStream) Discard(n int) (int, error) {
	header, err := s.buffered.Peek(n)
	if err != nil {
		return 0, err
	}
	if err := s.begin(header); err != nil {
		return 0, err
	}
	return s.buffered.Discard(n)
}

// begin reads the two relevant fields of a page header, from PageHeader in Parquet's
// parquet.thrift.
func (s *pageStream) begin(header []byte) error {
	const contentSize, checksum = 3, 4
	*s = pageStream{buffered: s.buffered}
	ctx := context.Background()
	fields := thrift.NewTCompactProtocolConf(&thrift.StreamTransport{Reader: bytes.NewReader(header)}, nil)
	for {
		_, kind, id, err := fields.ReadFieldBegin(ctx)
		if err != nil || kind == thrift.STOP {
			return err
		}
		if kind != thrift.I32 || id != contentSize && id != checksum {
			if err := fields.Skip(ctx, kind); err != nil {
				return err
			}
			continue
		}
		value, err := fields.ReadI32(ctx)
		if err != nil {
			return err
		}
		if id == contentSize {
			s.left = int(value)
		} else {
			crc := uint32(value)
			s.crc = &crc
		}
	}
}

func (s *pageStream) Read(p []byte) (int, error) {
	n, err := s.buffered.Read(p)
	s.left -= n
	if s.crc != nil {
		s.sum = crc32.Update(s.sum, crc32.IEEETable, p[:n])
	}
	return n, err
}

// check compares the page with its header.
func (s *pageStream) check() error {
	if s.left != 0 {
		return fmt.Errorf("found a page %d bytes shorter than its header says: %w", s.left, io.ErrUnexpectedEOF)
	}
	if s.crc != nil && *s.crc != s.sum {
		return fmt.Errorf("found a page with CRC %08x, expected %08x", s.sum, *s.crc)
	}
	return nil
}
