package parquetfile

import (
	"encoding/binary"
	"runtime"
	"strings"
	"testing"

	"github.com/apache/arrow/go/v17/parquet/compress"

	"tcbuild/fault"
	"tcbuild/ingest/table/rows"
)

// A page that states another size than its header does not get memory of that size: it may be 64
// GB.
func TestPageOfAnotherSize(t *testing.T) {
	const stated = 1 << 30
	zstdFrame := append([]byte{0x28, 0xb5, 0x2f, 0xfd, 0xc0, 0x50}, binary.LittleEndian.AppendUint64(nil, stated)...)
	for compression, page := range map[compress.Compression][]byte{
		compress.Codecs.Zstd:   append(zstdFrame, make([]byte, 20)...),
		compress.Codecs.Snappy: append(binary.AppendUvarint(nil, stated), make([]byte, 20)...),
	} {
		codec, err := compress.GetCodec(compression)
		if err != nil {
			t.Fatal(err)
		}
		var before, after runtime.MemStats
		runtime.ReadMemStats(&before)
		err = rows.Guard(func() error { codec.Decode(make([]byte, 10), page); return nil })
		runtime.ReadMemStats(&after)
		if err == nil || after.TotalAlloc-before.TotalAlloc > stated/2 {
			t.Errorf("%s: took %d bytes, and got the error %v", compression, after.TotalAlloc-before.TotalAlloc, err)
		}
	}
}

// A compression that cannot be read has its name in the error, and is not called damage.
func TestUnknownCompression(t *testing.T) {
	for compression, want := range map[compress.Compression]string{
		compress.Codecs.Lz4: "found compression LZ4 (codec 5 of Parquet), expected one of BROTLI, GZIP, LZ4_RAW, SNAPPY, UNCOMPRESSED, ZSTD",
		compress.Codecs.Lzo: "found compression LZO",
		9:                   "found compression <UNSET> (codec 9 of Parquet), expected",
	} {
		if err := checkCodec(compression); fault.KindOf(err) != fault.Input || !strings.Contains(err.Error(), want) {
			t.Errorf("got %v, want %s", err, want)
		}
	}
}
