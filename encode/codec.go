// Package encode turns masks into bytes and back. It is pure: no files,
// no clocks, no goroutines.
//
// All masks of a sample form one mask space: they are concatenated in canonical order, so that a
// sample's masks are one ascending list of removed positions. A Codec turns that list into the
// payload of a sample, and a value holds the payloads of consecutive samples:
//
//	count u32 | count × { end u32, checksum u32 } | payloads
//
// Numbers are little-endian. docs/FORMAT.md specifies each payload.
package encode

import (
	"errors"
	"fmt"
	"strings"
)

// ErrDamaged is wrapped by every decoder error: the bytes are not what an encoder writes.
var ErrDamaged = errors.New("damaged")

// Mode is what a payload holds.
type Mode string

const (
	Indices   Mode = "indices"    // the removed positions
	FullMasks Mode = "full-masks" // every mask whole
)

// Codec is one way to write payloads of a mode.
type Codec struct {
	Mode Mode
	Name string
	// WholeSize returns the payload size in bytes of masks with the given number of positions. It
	// is nil for codecs that compress.
	WholeSize func(size int) int
	// NewEncoder makes an encoder for masks with size positions in total, NewDecoder a decoder.
	NewEncoder func(size int) Encoder
	NewDecoder func(size int) Decoder
}

// codecs lists the codecs; the first of a mode is its default (docs/BENCHMARKS.md has the
// measurement).
var codecs = []Codec{
	{Indices, "zstd", nil, newRunsZstdEncoder, newRunsZstdDecoder},
	{Indices, "delta", nil, newRunsEncoder, newRunsDecoder},
	{Indices, "raw", nil, newPositionsEncoder, newPositionsDecoder},
	{FullMasks, "zstd", nil, newBitsZstdEncoder, newBitsZstdDecoder},
	{FullMasks, "bits", bitsSize, newBitsEncoder, newBitsDecoder},
	{FullMasks, "raw", func(size int) int { return size }, newBytesEncoder, newBytesDecoder},
}

// Codecs returns the names of a mode's codecs, its default first.
func Codecs(mode Mode) []string {
	var names []string
	for _, c := range codecs {
		if c.Mode == mode {
			names = append(names, c.Name)
		}
	}
	return names
}

// Find returns the codec of a mode with the given name; an empty name is the default.
func Find(mode Mode, name string) (Codec, error) {
	for _, c := range codecs {
		if c.Mode == mode && (name == "" || c.Name == name) {
			return c, nil
		}
	}
	return Codec{}, fmt.Errorf("mode %q has no codec %q, expected one of %s", mode, name,
		strings.Join(Codecs(mode), ", "))
}

// Encoder appends payloads. It holds scratch memory: one per goroutine.
type Encoder interface {
	// Append appends the payload of a sample to dst. removed is strictly ascending and below the
	// size the encoder was made for.
	Append(dst []byte, removed []uint32) []byte
}

// Decoder reads payloads. It holds scratch memory: one per goroutine. Results are views to read,
// not to change, and valid until the next call. On damage it returns what it could decode before
// the damage, and an error that wraps ErrDamaged.
type Decoder interface {
	// Removed returns the removed positions, strictly ascending and below size.
	Removed(payload []byte) ([]uint32, error)
	// Masks returns the whole masks, one byte per position: 1 keep, 0 removed.
	Masks(payload []byte) ([]byte, error)
}

func damagedf(format string, args ...any) error {
	return fmt.Errorf("%w: "+format, append([]any{ErrDamaged}, args...)...)
}
