package zstdframe

import (
	"bytes"
	"encoding/binary"
)

// Writer writes frames, one after the other. It holds scratch memory: one per goroutine.
type Writer struct {
	tree   *Tree
	out    []byte
	value  byte // of the latest run
	length int  // of the latest run, not yet in the block
	block  block

	// what this frame has so far
	lastBlock   int  // offset in out of the latest block's header; -1 before the first
	treeWritten bool // in the literals of a block
	seqTables   bool // in the sequences of a block
}

// NewWriter makes a writer of frames whose literals are coded by a tree.
func NewWriter(tree *Tree) *Writer { return &Writer{tree: tree} }

// frameStart is the magic number and the descriptor: content size in 4 bytes, single segment, no
// checksum.
var frameStart = []byte{0x28, 0xB5, 0x2F, 0xFD, 2<<6 | 1<<5}

// Limits of RFC 8878: a block holds at most 128 KiB, and a literals section with one Huffman stream
// at most 1,023 literals.
const (
	maxBlock    = 128 << 10
	maxLiterals = 1023
	minMatch    = 3
)

const (
	blockRaw        = 0
	blockRLE        = 1
	blockCompressed = 2
)

// Kinds of literals, with the form of their sizes.
const (
	literalsRaw      = 0 | 1<<2
	literalsCoded    = 2
	literalsTreeless = 3
)

// block collects the runs of one block.
type block struct {
	length    int  // of the block's content, in bytes
	runs      int  // in it
	value     byte // of the latest run
	literals  []byte
	pending   int // literals since the latest sequence
	sequences []Sequence
}

// Begin starts a frame, to be appended to dst, of content of the given size in bytes: that is what
// the calls of Run and Literals up to End have to add up to.
func (w *Writer) Begin(dst []byte, size int) {
	w.out = binary.LittleEndian.AppendUint32(append(dst, frameStart...), uint32(size))
	w.lastBlock, w.treeWritten, w.seqTables = -1, false, false
}

// Run adds length bytes of one value. A run that follows one of the same value extends it.
func (w *Writer) Run(value byte, length int) {
	if length == 0 {
		return // otherwise it would cut a run that continues after it
	}
	if value != w.value {
		w.cut()
		w.value = value
	}
	w.length += length
}

// cut adds the latest run to the block, or to several blocks if it does not fit in one.
func (w *Writer) cut() {
	for w.length > 0 {
		piece := min(w.length, maxBlock-w.block.length)
		w.block.add(w.value, piece)
		w.length -= piece
		if w.block.length == maxBlock || len(w.block.literals) > maxLiterals-minMatch {
			w.flush()
		}
	}
}

// Zeros adds content of size bytes whose zero bits are at these positions, strictly ascending:
// position p is bit p%8 of byte p/8. The time grows with their number.
func (w *Writer) Zeros(zeros []uint32, size int) {
	at := 0
	for i := 0; i < len(zeros); {
		next, value := int(zeros[i]/8), byte(0xFF)
		for ; i < len(zeros) && int(zeros[i]/8) == next; i++ {
			value &^= 1 << (zeros[i] % 8)
		}
		ones := next - at
		at = next + 1
		isLone := w.length == 1 && ones > minMatch // nearly always
		if isLone && w.block.hasRoom(ones) {
			w.block.addLone(w.value, ones)
			w.value = value
			continue
		}
		w.Run(0xFF, ones)
		w.Run(value, 1)
	}
	w.Run(0xFF, size-at)
}

// hasRoom reports whether a byte and a run of ones can be added before the block is full.
func (b *block) hasRoom(ones int) bool {
	return b.length+1+ones < maxBlock && len(b.literals)+2 <= maxLiterals-minMatch
}

// addLone adds a byte and a run of 0xFF, which gets a match, as calls of add do.
func (b *block) addLone(value byte, ones int) {
	b.literals = append(b.literals, value, 0xFF)
	b.sequences = append(b.sequences, Sequence{uint32(b.pending + 2), uint32(ones - 1)})
	b.pending = 0
	b.length += 1 + ones
	b.runs += 2
	b.value = 0xFF
}

// Literals adds content that has no long runs: it is coded byte by byte, without matches.
func (w *Writer) Literals(content []byte) {
	w.cut()
	for len(content) > 0 {
		piece := content[:min(len(content), maxLiterals-len(w.block.literals))]
		content = content[len(piece):]
		w.block.literals = append(w.block.literals, piece...)
		w.block.pending += len(piece)
		w.block.length += len(piece)
		w.block.runs += len(piece)
		w.block.value = piece[0] // needed if the block is a single byte
		w.flush()
	}
}

// End closes the frame and returns the dst of Begin with the frame appended.
func (w *Writer) End() []byte {
	w.cut()
	if w.block.length > 0 || w.lastBlock < 0 {
		w.flush()
	}
	w.out[w.lastBlock] |= 1 // Last_Block
	return w.out
}

func (b *block) add(value byte, length int) {
	b.length += length
	b.runs++
	b.value = value
	if length <= minMatch {
		for range length {
			b.literals = append(b.literals, value)
		}
		b.pending += length
		return
	}
	b.literals = append(b.literals, value)
	b.sequences = append(b.sequences, Sequence{uint32(b.pending + 1), uint32(length - 1)})
	b.pending = 0
}

// flush writes the collected block and empties it.
func (w *Writer) flush() {
	b := &w.block
	w.lastBlock = len(w.out)
	switch {
	case b.length == 0:
		w.out = appendBlockHeader(w.out, blockRaw, 0)
	case b.runs == 1:
		w.out = append(appendBlockHeader(w.out, blockRLE, b.length), b.value)
	default:
		w.out = appendBlockHeader(w.out, blockCompressed, 0)
		body, tree, tables := len(w.out), w.treeWritten, w.seqTables
		w.appendLiterals(b.literals)
		w.appendSequences(b.sequences)
		putBlockHeader(w.out[w.lastBlock:], blockCompressed, len(w.out)-body)
		if len(w.out)-body >= b.length { // RFC 8878: a compressed block is smaller than its content
			w.treeWritten, w.seqTables = tree, tables
			w.out = b.appendContent(appendBlockHeader(w.out[:w.lastBlock], blockRaw, b.length))
		}
	}
	*b = block{literals: b.literals[:0], sequences: b.sequences[:0]}
}

func appendBlockHeader(dst []byte, kind, size int) []byte {
	dst = append(dst, 0, 0, 0)
	putBlockHeader(dst[len(dst)-3:], kind, size)
	return dst
}

func putBlockHeader(dst []byte, kind, size int) {
	header := uint32(kind<<1 | size<<3)
	dst[0], dst[1], dst[2] = byte(header), byte(header>>8), byte(header>>16)
}

// appendLiterals writes a literals section: Huffman-coded in one stream if that saves bytes, raw
// otherwise. The tree goes into the frame's first coded section; later ones reuse it.
func (w *Writer) appendLiterals(literals []byte) {
	header, kind := len(w.out), literalsTreeless
	w.out = append(w.out, 0, 0, 0)
	if !w.treeWritten {
		kind = literalsCoded
		w.out = append(w.out, w.tree.description...)
	}
	w.out = w.tree.codes.append(w.out, literals)
	size := len(w.out) - header - 3
	if 3+size >= 2+len(literals) { // with the headers
		sizes := literalsRaw | len(literals)<<4
		w.out = append(append(w.out[:header], byte(sizes), byte(sizes>>8)), literals...)
		return
	}
	sizes := kind | len(literals)<<4 | size<<14
	w.out[header], w.out[header+1], w.out[header+2] = byte(sizes), byte(sizes>>8), byte(sizes>>16)
	w.treeWritten = true
}

// appendContent appends the block's content.
func (b *block) appendContent(dst []byte) []byte {
	literals := b.literals
	for _, s := range b.sequences {
		dst = append(dst, literals[:s.LiteralLength]...)
		literals = literals[s.LiteralLength:]
		dst = append(dst, bytes.Repeat(dst[len(dst)-1:], int(s.MatchLength))...)
	}
	return append(dst, literals...)
}
