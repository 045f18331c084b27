// Package encodetest shows encoded bytes with their meaning, for golden files that people can read.
package encodetest

import (
	"encoding/binary"
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

var update = flag.Bool("update", false, "rewrite the golden files")

// Dump shows bytes from their beginning on, a line for every eight: offset, hex, meaning.
type Dump struct {
	title string
	data  []byte
	at    int
	parts []part
	inner *Dump // shown below
}

type part struct {
	size    int
	meaning string
}

// NewDump makes a dump of data below a title.
func NewDump(data []byte, title string, args ...any) *Dump {
	return &Dump{title: fmt.Sprintf(title, args...), data: data}
}

// Next shows the next n bytes.
func (d *Dump) Next(n int, format string, args ...any) {
	d.parts = append(d.parts, part{len(d.data[d.at : d.at+n]), fmt.Sprintf(format, args...)})
	d.at += n
}

// Inner is a dump, to be shown below this one, of what is compressed in its data.
func (d *Dump) Inner(data []byte, title string, args ...any) *Dump {
	d.inner = NewDump(data, title, args...)
	return d.inner
}

// Left is how many bytes have not been shown.
func (d *Dump) Left() int { return len(d.data) - d.at }

// Peek is the next n bytes.
func (d *Dump) Peek(n int) []byte { return d.data[d.at : d.at+n] }

// U8, U16 and U32 are the number that comes next.
func (d *Dump) U8() int  { return int(d.data[d.at]) }
func (d *Dump) U16() int { return int(binary.LittleEndian.Uint16(d.data[d.at:])) }
func (d *Dump) U32() int { return int(binary.LittleEndian.Uint32(d.data[d.at:])) }

// text is the whole dump.
func (d *Dump) text(t *testing.T) string {
	if d.Left() > 0 {
		t.Errorf("%s: %d of %d bytes have no meaning", d.title, d.Left(), len(d.data))
	}
	var text strings.Builder
	text.WriteString(d.title + "\n")
	at := 0
	for _, part := range d.parts {
		end := at + part.size
		for ; at < end; at += 8 {
			line := fmt.Sprintf("%04x  %-24s%s", at, fmt.Sprintf("% x", d.data[at:min(at+8, end)]), part.meaning)
			text.WriteString(strings.TrimRight(line, " ") + "\n")
			part.meaning = ""
		}
		at = end
	}
	if d.inner != nil {
		text.WriteString(d.inner.text(t))
	}
	return text.String()
}

// Golden compares the dump, of all bytes, with testdata/name.golden.
func (d *Dump) Golden(t *testing.T, name string) {
	t.Helper()
	found, path := d.text(t), filepath.Join("testdata", name+".golden")
	if *update {
		if err := os.WriteFile(path, []byte(found), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	want, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	if found != string(want) {
		t.Errorf("%s changed; if that is meant, it is a new format version: run with -update and read the diff; found:\n%s", path, found)
	}
}
