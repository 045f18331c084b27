package main

import (
	"encoding/json"
	"fmt"
	"io"
	"log/slog"
	"os"
	"strings"
	"sync"
	"text/tabwriter"
	"unicode"
	"unicode/utf16"
	"unicode/utf8"

	"github.com/dustin/go-humanize"
	"golang.org/x/term"

	"tcbuild/conf"
)

// env is passed to every command: where and how to print.
type env struct {
	stdout, stderr *printable
	screen         io.Writer // unfiltered stderr, for the progress bar's control sequences
	terminal       bool      // whether stderr is a terminal
	log            *slog.Logger

	settings *conf.Settings // of the command that runs

	// The persistent flags.
	config    string
	logFormat string
	quiet     bool
}

func newEnv(stdout, stderr io.Writer) *env {
	file, isFile := stderr.(*os.File)
	return &env{
		stdout: &printable{out: stdout}, stderr: &printable{out: stderr}, screen: stderr,
		terminal: isFile && term.IsTerminal(int(file.Fd())),
	}
}

// table prints rows of cells in columns.
func (e *env) table(rows ...[]string) error {
	out := tabwriter.NewWriter(e.stdout, 0, 0, 2, ' ', 0)
	for _, row := range rows {
		fmt.Fprintln(out, strings.Join(row, "\t"))
	}
	return out.Flush()
}

// json prints a value as JSON.
func (e *env) json(value any) error {
	encoder := json.NewEncoder(e.stdout)
	encoder.SetIndent("", "  ")
	return encoder.Encode(value)
}

// say prints lines to stdout, unless --quiet.
func (e *env) say(lines ...string) {
	if e.quiet {
		return
	}
	for _, line := range lines {
		fmt.Fprintln(e.stdout, clip(line))
	}
}

// humanBytes formats a number of bytes with three digits: 999 B, 1.00 kB, 42.0 GB. A kB is 1,000
// bytes.
func humanBytes(n int64) string { return humanize.BytesN(uint64(n), 3) }

// humanCount formats a number with thousands separators: 332,313.
func humanCount(n int) string { return humanize.Comma(int64(n)) }

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
	return fmt.Sprintf("%s… (%s bytes left out) …%s", head,
		humanCount(len(message)-len(head)-len(tail)), tail)
}

var lineBreakers = strings.NewReplacer("\t", `\t`, "\n", `\n`)

// oneLine makes a text that contains names from the input fit on one line.
func oneLine(text string) string { return clip(lineBreakers.Replace(text)) }
