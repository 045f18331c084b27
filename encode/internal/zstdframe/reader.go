package zstdframe

import (
	"bytes"
	"encoding/binary"
	"math"
	"math/bits"
	"slices"
)

// Reader reads the frames of a Writer with the same tree. It reports false if a frame is damaged or
// uses what a Writer never does: which of these, another decoder has to find. It holds scratch
// memory: one per goroutine. Results are valid until the next call.
type Reader struct {
	tree     *Tree
	stream   []byte // the latest bit stream, padded
	literals []byte // of the latest block that codes them

	// what this frame has so far
	size      int // of its content, in bytes
	wantZeros bool
	zeros     []uint32
	content   []byte // without wantZeros
	at        int    // place in the content
	treeRead  bool   // in the literals of a block
	seqTables bool   // in the sequences of a block
}

// NewReader makes a reader of frames whose literals are coded by a tree.
func NewReader(tree *Tree) *Reader { return &Reader{tree: tree} }

// Literals returns a frame's content, which was written by Writer.Literals.
func (r *Reader) Literals(frame []byte) (content []byte, ok bool) {
	r.wantZeros = false
	_, ok = r.read(frame, math.MaxInt)
	return r.content, ok
}

// Zeros returns the positions of the zero bits of a frame's content, which has size bytes: position
// p is bit p%8 of byte p/8. The content is not laid out: it takes time that grows with the number
// of runs, and of zeros.
func (r *Reader) Zeros(frame []byte, size int) (zeros []uint32, ok bool) {
	r.wantZeros = true
	found, ok := r.read(frame, size)
	return r.zeros, ok && found == size
}

// read reads a frame of at most maxSize bytes of content and returns how many it has.
func (r *Reader) read(frame []byte, maxSize int) (size int, ok bool) {
	r.content, r.zeros, r.at = r.content[:0], r.zeros[:0], 0
	r.treeRead, r.seqTables = false, false
	frame, ok = bytes.CutPrefix(frame, frameStart)
	if !ok || len(frame) < 4 {
		return 0, false
	}
	r.size = int(binary.LittleEndian.Uint32(frame))
	if r.size > maxSize {
		return 0, false
	}
	frame = frame[4:]
	for {
		if len(frame) < 3 {
			return 0, false
		}
		header := int(frame[0]) | int(frame[1])<<8 | int(frame[2])<<16
		last, kind, stored := header&1 != 0, header>>1&3, header>>3
		start, length := r.at, stored // of the block's content
		if kind == blockRLE {
			stored = 1
		}
		if frame = frame[3:]; len(frame) < stored {
			return 0, false
		}
		body := frame[:stored]
		frame = frame[stored:]
		switch kind {
		case blockRaw:
			r.add(body)
		case blockRLE:
			if length == 0 || !r.add(body) || !r.repeat(body[0], length-1) {
				return 0, false
			}
		case blockCompressed:
			if !r.readCompressed(body) || r.at-start <= stored {
				return 0, false
			}
		default:
			return 0, false
		}
		length = r.at - start
		fits := length <= maxBlock && r.at <= r.size
		isEmpty := length == 0 && r.size > 0
		if !fits || isEmpty || last != (r.at == r.size) {
			return 0, false
		}
		if last {
			return r.size, len(frame) == 0
		}
	}
}

// add adds content.
func (r *Reader) add(content []byte) bool {
	if r.wantZeros {
		r.zeros = AppendZeros(r.zeros, r.at, content)
	} else {
		r.content = append(r.content, content...)
	}
	r.at += len(content)
	return true
}

// repeat adds a byte of content several times. It reports false if there is no room for them.
func (r *Reader) repeat(value byte, times int) bool {
	if times > r.size-r.at || !r.wantZeros && times > 0 {
		return false
	}
	if value != 0xFF {
		for i := range times {
			r.zeros = AppendZeros(r.zeros, r.at+i, []byte{value})
		}
	}
	r.at += times
	return true
}

// AppendZeros appends the positions of the zero bits of bytes, which start at byte at.
func AppendZeros(zeros []uint32, at int, packed []byte) []uint32 {
	for i, b := range packed {
		for left := ^b; left != 0; left &= left - 1 {
			zeros = append(zeros, uint32((at+i)*8+bits.TrailingZeros8(left)))
		}
	}
	return zeros
}

// readCompressed reads the body of a compressed block.
func (r *Reader) readCompressed(body []byte) bool {
	literals, body, ok := r.readLiterals(body)
	if !ok || len(body) == 0 {
		return false
	}
	count := int(body[0])
	if body = body[1:]; count >= 128 {
		if len(body) == 0 {
			return false
		}
		count = (count-128)<<8 | int(body[0])
		body = body[1:]
	}
	if count == 0 {
		return len(body) == 0 && r.add(literals)
	}
	tables := newTables
	if r.seqTables {
		tables = sameTables
	}
	r.seqTables = true
	body, ok = bytes.CutPrefix(body, tables)
	return ok && r.wantZeros && r.readSequences(body, count, literals)
}

// readLiterals reads the literals that a block's body begins with, and returns the rest.
func (r *Reader) readLiterals(body []byte) (literals, rest []byte, ok bool) {
	if len(body) < 3 {
		return nil, nil, false
	}
	header := int(body[0]) | int(body[1])<<8 | int(body[2])<<16
	kind, length, size := header&15, header>>4&(1<<10-1), header>>14
	if kind == literalsRaw {
		length = header >> 4 & (1<<12 - 1)
		if body = body[2:]; len(body) < length {
			return nil, nil, false
		}
		return body[:length], body[length:], true
	}
	if body = body[3:]; len(body) < size {
		return nil, nil, false
	}
	stream, rest := body[:size], body[size:]
	if !r.treeRead {
		if stream, ok = bytes.CutPrefix(stream, r.tree.description); !ok || kind != literalsCoded {
			return nil, nil, false
		}
		r.treeRead = true
	} else if kind != literalsTreeless {
		return nil, nil, false
	}
	left, padded := r.pad(stream)
	r.literals = slices.Grow(r.literals[:0], length)[:length]
	return r.literals, rest, r.tree.decoded.read(r.literals, padded, left)
}

// readSequences reads the bit stream of a block's sequences, from its end, and adds their content.
func (r *Reader) readSequences(stream []byte, count int, literals []byte) bool {
	left, padded := r.pad(stream)
	left -= int(literalLengthTable.log + matchLengthTable.log)
	if left < 0 {
		return false
	}
	state := bitsFrom(padded, left)
	match := &matchLengthStates[takeBits(&state, matchLengthTable.log)]
	literal := &literalLengthStates[takeBits(&state, literalLengthTable.log)]
	done, stateBits := 0, 0 // of the literals; of the latest sequence
	zeros, at := r.zeros, r.at
	for range count {
		stateBits = int(match.bits + literal.bits)
		if left -= stateBits + int(literal.extra+match.extra); left < 0 {
			return false
		}
		next := bitsFrom(padded, left)
		matchNext := uint64(match.next) + takeBits(&next, match.bits)
		literalNext := uint64(literal.next) + takeBits(&next, literal.bits)
		literalLength := int(literal.base)
		if literal.extra != 0 { // hardly ever
			literalLength += int(takeBits(&next, literal.extra))
		}
		matchLength := int(uint64(match.base) + takeBits(&next, match.extra))
		match = &matchLengthStates[matchNext%lengthStateCount]
		literal = &literalLengthStates[literalNext%lengthStateCount]

		if literalLength == 2 && done+1 < len(literals) && literals[done+1] == 0xFF {
			// nearly always: a lone zero, then ones
			if b := ^literals[done]; b&(b-1) == 0 && b != 0 {
				zeros = append(zeros, uint32(at*8+bits.TrailingZeros8(b)))
				done += 2
				at += 2 + matchLength
				continue
			}
		}
		if literalLength == 0 || literalLength > len(literals)-done {
			return false
		}
		r.zeros, r.at = zeros, at
		r.add(literals[done:][:literalLength])
		done += literalLength
		if !r.repeat(literals[done-1], matchLength) {
			return false
		}
		zeros, at = r.zeros, r.at
	}
	r.zeros, r.at = zeros, at
	// no state follows the last sequence, for which the loop has read zeros before the stream
	return left+stateBits == 64 && r.add(literals[done:])
}

// pad copies a bit stream, with 8 bytes of zeros before and after it. It returns how many bits
// come before its end mark, including the zeros; 0 if it has no end mark.
func (r *Reader) pad(stream []byte) (left int, padded []byte) {
	var zeros [8]byte
	r.stream = append(append(append(r.stream[:0], zeros[:]...), stream...), zeros[:]...)
	if len(stream) == 0 || stream[len(stream)-1] == 0 {
		return 0, r.stream
	}
	return 64 + 8*len(stream) - bits.LeadingZeros8(stream[len(stream)-1]) - 1, r.stream
}

// bitsFrom returns at least 57 bits of a stream, from the given bit on.
func bitsFrom(stream []byte, at int) uint64 {
	bit := uint(at)
	return binary.LittleEndian.Uint64(stream[bit/8:]) >> (bit % 8)
}

// takeBits takes the lowest n bits.
func takeBits(from *uint64, n uint8) uint64 {
	n %= 64 // which saves a test for each shift
	value := *from & (1<<n - 1)
	*from >>= n
	return value
}
