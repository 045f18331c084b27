package main

import (
	"fmt"
	"io"
	"strings"
	"sync"
	"unicode"
	"unicode/utf16"
	"unicode/utf8"
)

// printable writes text so that nothing in it, such as an id from the input, can control the
// terminal or disguise other text: every character that is not printable, except line ends and
// tabs, is written as an escape such as \u001b. In JSON the escape means the same character.
//
// A write has whole characters.
type printable struct {
	mu  sync.Mutex
	out io.Writer
	err error // of the first write that failed; nothing is written after it
}

func (p *printable) Write(text []byte) (int, error) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.err == nil && len(text) > 0 {
		_, p.err = p.out.Write(appendPrintable(nil, text))
	}
	return len(text), p.err
}

// Failed is the error of the first write that failed.
func (p *printable) Failed() error {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.err
}

// appendPrintable appends text with everything that is not printable escaped.
func appendPrintable(to, text []byte) []byte {
	start := 0 // of the printable text not yet appended
	for i := 0; i < len(text); {
		b := text[i]
		if b >= ' ' && b <= '~' || b == '\n' || b == '\t' {
			i++
			continue
		}
		r, size := utf8.DecodeRune(text[i:])
		if (r != utf8.RuneError || size > 1) && unicode.IsPrint(r) {
			i += size
			continue
		}
		to = append(to, text[start:i]...)
		switch high, low := utf16.EncodeRune(r); {
		case r == utf8.RuneError && size == 1:
			to = fmt.Appendf(to, `\x%02x`, b)
		case high != unicode.ReplacementChar:
			to = fmt.Appendf(to, `\u%04x\u%04x`, high, low)
		default:
			to = fmt.Appendf(to, `\u%04x`, r)
		}
		i += size
		start = i
	}
	return append(to, text[start:]...)
}

// longestMessage is the longest message or cell that is shown in full, in bytes.
const longestMessage = 2000

// clip shortens a message to a few lines: it keeps the beginning and the end, and says how much was
// left out.
func clip(message string) string {
	if len(message) <= longestMessage {
		return message
	}
	head := strings.ToValidUTF8(message[:longestMessage/2], "")
	tail := strings.ToValidUTF8(message[len(message)-longestMessage/4:], "")
	return fmt.Sprintf("%s… (%s bytes left out) …%s", head, humanCount(len(message)-len(head)-len(tail)), tail)
}

var lineBreakers = strings.NewReplacer("\t", `\t`, "\n", `\n`)

// oneLine makes a text that contains names from the input fit on one line.
func oneLine(text string) string { return clip(lineBreakers.Replace(text)) }
