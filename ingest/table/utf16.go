package table

import (
	"bufio"
	"encoding/binary"
	"errors"
	"io"
	"unicode/utf16"
	"unicode/utf8"
)

// Excel's Unicode Text is UTF-16: a character takes two bytes, or four.
//
//	ff fe 59 00 41 00 4c 00    the mark of little-endian text, and YAL

// utf16Reader reads UTF-16 as UTF-8.
type utf16Reader struct {
	in *bufio.Reader
	io.Closer
	order binary.ByteOrder
	rest  []byte // of a character that was read in part
}

// toUTF8 reads text that may be UTF-16, which then begins with a byte order mark.
func toUTF8(text io.ReadCloser) io.ReadCloser {
	in := bufio.NewReader(text)
	mark, _ := in.Peek(2) // an error comes again when it is read
	switch string(mark) {
	case "\xff\xfe":
		return &utf16Reader{in: in, Closer: text, order: binary.LittleEndian}
	case "\xfe\xff":
		return &utf16Reader{in: in, Closer: text, order: binary.BigEndian}
	}
	return struct {
		io.Reader
		io.Closer
	}{in, text}
}

func (u *utf16Reader) Read(p []byte) (n int, err error) {
	for n < len(p) {
		if len(u.rest) == 0 {
			character, err := u.next()
			if err != nil {
				return n, err
			}
			u.rest = utf8.AppendRune(nil, character)
		}
		copied := copy(p[n:], u.rest)
		n, u.rest = n+copied, u.rest[copied:]
	}
	return n, nil
}

func (u *utf16Reader) next() (rune, error) {
	first, err := u.unit()
	if err != nil || !utf16.IsSurrogate(first) {
		return first, err
	}
	second, err := u.unit()
	if err == io.EOF {
		err = io.ErrUnexpectedEOF
	}
	character := utf16.DecodeRune(first, second)
	if err == nil && character == utf8.RuneError {
		err = errors.New("found half of a character of UTF-16")
	}
	return character, err
}

func (u *utf16Reader) unit() (rune, error) {
	var bytes [2]byte
	_, err := io.ReadFull(u.in, bytes[:])
	return rune(u.order.Uint16(bytes[:])), err
}
