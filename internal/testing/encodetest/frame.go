package encodetest

import (
	"bytes"
	"errors"
	"fmt"

	"github.com/klauspost/compress/zstd"
)

// CheckFrame makes sure that a Zstandard frame is what RFC 8878 asks for, and holds content.
func CheckFrame(frame, content []byte) error {
	found, err := NewDump(frame, "frame").Frame()
	if err == nil && !bytes.Equal(found, content) {
		err = errors.New("the frame holds other content")
	}
	return err
}

var decompressor, _ = zstd.NewReader(nil, zstd.WithDecoderConcurrency(1))

// Frame shows the rest of the bytes as a Zstandard frame, and returns its content. All that it says
// of the frame it reads there: it shares nothing with the writer of frames, and knows only the
// forms that occur in them.
//
// An error says what is not as RFC 8878 asks for, also where lenient decoders read on: a block that
// is larger than the window, which is the content size up to 128 KiB (decoders before 1.5.4 of the
// reference library want compressed blocks to be smaller than that), and bytes behind the last one.
func (d *Dump) Frame() (content []byte, err error) {
	defer func() {
		if failure := recover(); failure != nil { // also of a part that is longer than the frame
			err = fmt.Errorf("byte %d of %d: %v", d.at, len(d.data), failure)
		}
	}()
	frame := d.data[d.at:]
	require(d.U32() == 0xFD2FB528, "magic number %08x", d.U32())
	d.Next(4, "Zstandard frame: magic")
	descriptor := d.U8()
	require(descriptor == 2<<6|1<<5, "frame descriptor %02x", descriptor)
	d.Next(1, "single segment, content size in %d bytes, no checksum", 1<<(descriptor>>6))
	size := d.U32()
	d.Next(4, "content size %d", size)
	var before tables
	for last := false; !last; {
		last = before.block(d, min(size, 128<<10))
	}
	require(d.Left() == 0, "%d bytes behind the last block", d.Left())
	if content, err = decompressor.DecodeAll(frame, nil); err == nil && len(content) != size {
		err = fmt.Errorf("the frame states a content of %d bytes, and holds %d", size, len(content))
	}
	return content, err
}

func require(ok bool, format string, args ...any) {
	if !ok {
		panic(fmt.Sprintf(format, args...))
	}
}

// tables are what earlier blocks of a frame have, for others to use again.
type tables struct{ tree, sequences bool }

func (before *tables) block(d *Dump, window int) (last bool) {
	header := d.U16() | int(d.Peek(3)[2])<<16
	kind, size := header>>1&3, header>>3
	name := "block"
	if last = header&1 != 0; last {
		name = "last block"
	}
	require(size <= window && (kind < 2 || size < window), "block of kind %d with %d bytes in a window of %d", kind, size, window)
	switch kind {
	case 0:
		d.Next(3, "%s, raw of %d bytes", name, size)
		d.Next(size, "content")
	case 1:
		d.Next(3, "%s, %d times", name, size)
		d.Next(1, "this byte")
	case 2:
		d.Next(3, "%s, compressed of %d bytes", name, size)
		end := d.at + size
		before.literals(d)
		before.lengths(d, end)
	default:
		require(false, "block of kind %d", kind)
	}
	return last
}

func (before *tables) literals(d *Dump) {
	kind, format := d.U8()&3, d.U8()>>2&3
	if kind == 0 {
		require(format == 1, "raw literals with sizes of format %d", format)
		count := d.U16() >> 4
		d.Next(2, "%d raw literals", count)
		d.Next(count, "literals")
		return
	}
	require(kind >= 2 && format == 0, "literals of kind %d with sizes of format %d", kind, format)
	header := d.U16() | int(d.Peek(3)[2])<<16
	count, size := header>>4&1023, header>>14
	if kind == 2 {
		d.Next(3, "%d Huffman-coded literals: with their tree, %d bytes", count, size)
		weights := d.U8()
		require(weights < 128, "weights of the tree are not compressed")
		d.Next(1, "tree: compressed weights of %d bytes", weights)
		d.Next(weights, "weights")
		size -= 1 + weights
		before.tree = true
	} else {
		require(before.tree, "literals use a tree again, and there is none")
		d.Next(3, "%d Huffman-coded literals: by the tree before, %d bytes", count, size)
	}
	d.Next(size, "codes, read from the end")
}

// lengths shows the sequences of a block, which end at a byte.
func (before *tables) lengths(d *Dump, end int) {
	count, size := d.U8(), 1
	if count >= 128 {
		count, size = (count-128)<<8|int(d.Peek(2)[1]), 2
	}
	d.Next(size, "%d sequences", count)
	if count > 0 {
		modes := d.U8()
		kinds := []string{"predefined", "of one code", "described", "those before"}
		d.Next(1, "tables: literal lengths %s, offsets %s, match lengths %s", kinds[modes>>6], kinds[modes>>4&3], kinds[modes>>2&3])
		for i, codes := range []string{"literal length", "offset", "match length"} {
			switch mode := modes >> (6 - 2*i) & 3; mode {
			case 1:
				d.Next(1, "%s code %d", codes, d.U8())
			case 2:
				_, probabilities, size, err := Distribution(d.data[d.at:])
				require(err == nil, "%s codes: %v", codes, err)
				d.Next(size, "distribution of %d %s codes", len(probabilities), codes)
			case 3:
				require(before.sequences, "tables of sequences are used again, and there are none")
			}
		}
		before.sequences = true
	}
	d.Next(end-d.at, "sequences, read from the end")
}

// Distribution reads a distribution without zero probabilities, as RFC 8878, 4.1.1, tells it: a
// table has 1<<log states, of which each code has as many as its probability. It has size bytes.
func Distribution(description []byte) (log int, probabilities []int, size int, err error) {
	at := 0
	read := func(n int) int { // the next n bits, the first the lowest
		value := 0
		for i := range n {
			if byteAt := (at + i) / 8; byteAt < len(description) {
				value |= int(description[byteAt]>>((at+i)%8)&1) << i
			}
		}
		return value
	}
	log = read(4) + 5
	at = 4
	for left := 1 << log; left > 0; {
		width := 0 // of values up to left+1
		for 1<<width <= left+1 {
			width++
		}
		short := 1<<width - 1 - (left + 1) // values below it take one bit less
		value := read(width - 1)
		if value < short {
			at += width - 1
		} else {
			value = read(width)
			at += width
			if value >= 1<<(width-1) {
				value -= short
			}
		}
		if value < 2 {
			return 0, nil, 0, fmt.Errorf("code %d has probability %d", len(probabilities), value-1)
		}
		probabilities = append(probabilities, value-1)
		left -= value - 1
	}
	return log, probabilities, (at + 7) / 8, nil
}
