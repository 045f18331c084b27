package encode

import (
	"fmt"
	"testing"

	"github.com/klauspost/compress/zstd"
)

// yeastPositions is the size of the yeast graph's mask space.
const yeastPositions = 2_450_000

// benchmarkCodecs runs a benchmark for every codec on a sample as on the yeast graph.
func benchmarkCodecs(b *testing.B, run func(b *testing.B, c Codec, removed []uint32, payload []byte)) {
	removed := yeastLike(yeastPositions)
	for _, c := range codecs {
		payload := c.NewEncoder(yeastPositions).Append(nil, removed)
		b.Run(fmt.Sprintf("mode=%s/codec=%s/removed=%d", c.Mode, c.Name, len(removed)), func(b *testing.B) {
			run(b, c, removed, payload)
			b.ReportMetric(float64(len(payload)), "payload-bytes")
		})
	}
}

func BenchmarkEncode(b *testing.B) {
	benchmarkCodecs(b, func(b *testing.B, c Codec, removed []uint32, payload []byte) {
		encoder := c.NewEncoder(yeastPositions)
		b.SetBytes(4 * int64(len(removed)))
		for b.Loop() {
			payload = encoder.Append(payload[:0], removed)
		}
	})
}

func BenchmarkDecode(b *testing.B) {
	benchmarkCodecs(b, func(b *testing.B, c Codec, removed []uint32, payload []byte) {
		decoder := c.NewDecoder(yeastPositions)
		b.SetBytes(4 * int64(len(removed)))
		for b.Loop() {
			if _, err := decoder.Removed(payload); err != nil {
				b.Fatal(err)
			}
		}
	})
}

// BenchmarkDecodeMasks writes the whole masks of a sample: 2.45 MB.
func BenchmarkDecodeMasks(b *testing.B) {
	benchmarkCodecs(b, func(b *testing.B, c Codec, _ []uint32, payload []byte) {
		decoder := c.NewDecoder(yeastPositions)
		b.SetBytes(yeastPositions)
		for b.Loop() {
			if _, err := decoder.Masks(payload); err != nil {
				b.Fatal(err)
			}
		}
	})
}

// BenchmarkFrame writes the whole masks of a sample as a Zstandard frame: zstdframe from the
// removed positions, the library's encoder from the packed masks, which have to be laid out for it.
func BenchmarkFrame(b *testing.B) {
	removed := yeastLike(yeastPositions)
	run := func(writer string, write func(dst []byte) []byte) {
		b.Run("writer="+writer, func(b *testing.B) {
			var frame []byte
			for b.Loop() {
				frame = write(frame[:0])
			}
			b.ReportMetric(float64(len(frame)), "frame-bytes")
		})
	}
	frames, packer := newBitsZstdEncoder(yeastPositions), newBitsEncoder(yeastPositions)
	run("zstdframe", func(dst []byte) []byte { return frames.Append(dst, removed) })
	for _, level := range []zstd.EncoderLevel{zstd.SpeedFastest, zstd.SpeedDefault, zstd.SpeedBestCompression} {
		library, err := zstd.NewWriter(nil, zstd.WithEncoderLevel(level), zstd.WithEncoderConcurrency(1), zstd.WithEncoderCRC(false))
		if err != nil {
			b.Fatal(err)
		}
		var packed []byte
		run("klauspost-"+level.String(), func(dst []byte) []byte {
			packed = packer.Append(packed[:0], removed)
			return library.EncodeAll(packed, dst)
		})
	}
}
