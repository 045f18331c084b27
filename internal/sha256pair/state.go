package sha256pair

import (
	"crypto/sha256"
	"encoding"
	"encoding/binary"
	"hash"
)

// state is what a hash of crypto/sha256 knows between two blocks.
type state struct {
	words [8]uint32
	bytes uint64 // hashed so far
}

// A hash of crypto/sha256 marshals as marshalledPrefix, the words, the bytes of a begun block in room for a whole
// one, and the number of bytes, all big-endian.
const (
	marshalledPrefix = "sha\x03"
	marshalledSize   = len(marshalledPrefix) + sha256.Size + sha256.BlockSize + 8
)

// stateOf returns a hash's state; not ok is one within a block, or of another implementation.
func stateOf(h hash.Hash) (s state, ok bool) {
	marshaler, ok := h.(encoding.BinaryAppender)
	if !ok {
		return s, false
	}
	text, err := marshaler.AppendBinary(make([]byte, 0, marshalledSize))
	if err != nil || len(text) != marshalledSize || string(text[:len(marshalledPrefix)]) != marshalledPrefix {
		return s, false
	}
	for i := range s.words {
		s.words[i] = binary.BigEndian.Uint32(text[len(marshalledPrefix)+4*i:])
	}
	s.bytes = binary.BigEndian.Uint64(text[marshalledSize-8:])
	return s, s.bytes%sha256.BlockSize == 0
}

// moveOn gives s to the hash h it was taken from, with so many more bytes hashed.
func (s state) moveOn(h hash.Hash, bytes int) {
	text := append(make([]byte, 0, marshalledSize), marshalledPrefix...)
	for _, word := range s.words {
		text = binary.BigEndian.AppendUint32(text, word)
	}
	text = append(text, make([]byte, sha256.BlockSize)...)
	text = binary.BigEndian.AppendUint64(text, s.bytes+uint64(bytes))
	if err := h.(encoding.BinaryUnmarshaler).UnmarshalBinary(text); err != nil {
		panic(err) // it is laid out as the hash itself does
	}
}
