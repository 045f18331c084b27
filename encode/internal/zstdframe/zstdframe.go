// Package zstdframe writes and reads Zstandard frames (RFC 8878) of content that is runs of equal
// bytes, as masks are. The content is never materialised: a long run is one literal and one match
// at offset 1, so time and size grow with the number of runs, not with the length of the content.
// Any Zstandard decoder reads the frames. A Reader finds the zero bits of such a frame; frames that
// a Writer would not write it leaves to other decoders.
//
//	frame       magic 28 b5 2f fd | descriptor a0 | content size u32 | block | block | …
//	block       header, 3 bytes | body
//	              bit 0       it is the last block
//	              bits 1, 2   kind: 0 raw, 1 RLE, 2 compressed
//	              bits 3-23   size: bytes of the body; of an RLE block, of its content
//	body        raw         the content, where it is not longer than compressed
//	            RLE         the byte that the content repeats
//	            compressed  literals | sequences; 128 KiB of content at most
//	literals    kind and sizes, 2 or 3 bytes | [tree, in the frame's first coded literals] | literals
//	              kind 0      as they are
//	              kind 2, 3   Huffman codes in one stream, which bounds them to 1,023; 2 with tree
//	sequences   count, 1 or 2 bytes | modes | [tables, in the frame's first sequences] | bit stream
//	              a sequence: copy n literals, then repeat the last byte m times; FSE codes n and
//	              m. All offsets have one code, which says 1 byte before and takes no bits. A
//	              decoder reads the stream from its end.
//
// Numbers are little-endian. The descriptor says: one segment, content size in 4 bytes, no
// checksum.
//
// The tree and the tables are fixed, so that a frame's bytes depend only on its content; gathering
// statistics for each frame would take longer than coding it.
//
// BenchmarkFrame of package encode is why this package exists. The masks of one sample of yeast's
// size, 2.45 million positions as bits, 1,850 of them 0 (2 cores of an AMD EPYC, which others
// used):
//
//	zstdframe                          0.11 ms    2,061 bytes
//	klauspost/compress, fastest        0.86 ms    3,203 bytes
//	klauspost/compress, default        0.79 ms    3,205 bytes
//	klauspost/compress, best           3.37 ms    2,997 bytes
package zstdframe
