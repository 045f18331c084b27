package conf

import (
	"bytes"
	"errors"
	"fmt"
	"strings"
	"unicode"
	"unicode/utf8"

	"go.yaml.in/yaml/v4"
)

// SyntaxHint says how to mend most errors of YAML's syntax.
const SyntaxHint = "indent with spaces, the same within a list or mapping; quote text with signs such as [ { : # @"

// DescribeSyntax describes an error that the YAML library found in text: where, as ":LINE" counted
// from 1 or empty, and what, with the line itself.
func DescribeSyntax(text []byte, err error) (where, what string) {
	what = strings.TrimPrefix(err.Error(), "yaml: ")
	syntax, ok := errors.AsType[*yaml.LoadError](err)
	if !ok {
		return "", what
	}
	what = syntax.Message
	lines := bytes.Split(bytes.TrimRight(text, " \r\n"), []byte("\n"))
	line := syntax.Mark.Line
	if line == 0 { // the library does not say where it cannot read a character
		if at := bytes.IndexFunc(text, unreadable); at >= 0 {
			line = 1 + bytes.Count(text[:at], []byte("\n"))
		}
	}
	if start := syntax.ContextMark.Line; start > 0 {
		what += ", " + syntax.ContextMsg
		if line > len(lines) { // the error is what the last lines lack
			line = start
		}
		if start < line {
			what += fmt.Sprintf(" that starts in line %d", start)
		}
	}
	if line == 0 {
		return "", what
	}
	line = min(line, len(lines))
	return fmt.Sprintf(":%d", line), fmt.Sprintf("at %.100q: %s", bytes.TrimSpace(lines[line-1]), what)
}

// unreadable reports whether YAML refuses a character.
func unreadable(r rune) bool {
	return r == utf8.RuneError || unicode.IsControl(r) && !strings.ContainsRune("\t\r\n\u0085", r)
}
