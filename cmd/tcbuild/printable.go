package main

import (
	"fmt"
	"io"
	"regexp"
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

// The longest value, such as a number from the input, and the longest message that are shown in
// full, in bytes.
const (
	longestValue   = 400
	longestMessage = 2000
)

var valuePattern = regexp.MustCompile(`"(?:[^"\\]|\\.)*"|[^\s"]+`)

// clip shortens a message to a few lines: first each word or quoted value, then the whole.
func clip(message string) string { return cutMiddle(clipValues(message), longestMessage) }

func clipValues(text string) string {
	if len(text) <= longestValue {
		return text
	}
	return valuePattern.ReplaceAllStringFunc(text, func(value string) string { return cutMiddle(value, longestValue) })
}

var lineBreakers = strings.NewReplacer("\t", `\t`, "\n", `\n`)

// oneLine makes a text that contains names from the input fit on one line or in one cell.
func oneLine(text string) string { return clipValues(lineBreakers.Replace(text)) }

// oneName does the same for a single name.
func oneName(name string) string { return cutMiddle(lineBreakers.Replace(name), longestValue) }

// cutMiddle shortens a text to about longest bytes: it keeps the beginning and the end, and says
// how much was left out.
func cutMiddle(text string, longest int) string {
	if len(text) <= longest {
		return text
	}
	head := strings.ToValidUTF8(text[:longest/2], "")
	tail := strings.ToValidUTF8(text[len(text)-longest/4:], "")
	return fmt.Sprintf("%s… (%s bytes left out) …%s", head, humanCount(len(text)-len(head)-len(tail)), tail)
}
