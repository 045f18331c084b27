package fault

import (
	"fmt"
	"strconv"
	"strings"
	"unicode/utf8"

	"github.com/dustin/go-humanize"
)

const (
	longestQuote = 120 // bytes of a value that a message quotes
	longestList  = 20  // names that a message lists
)

// Quote quotes a value from a file for a message: it escapes control characters, and shortens a
// long value to its beginning.
func Quote[T string | []byte](value T) string {
	if len(value) <= longestQuote {
		return strconv.Quote(string(value))
	}
	end := longestQuote
	for end > longestQuote-utf8.UTFMax && !utf8.RuneStart(value[end]) {
		end--
	}
	return fmt.Sprintf("%s… (%s bytes)", strconv.Quote(string(value[:end])), humanize.Comma(int64(len(value))))
}

// List lists names for a message: only the first if there are many, and only the beginning of a
// long name.
func List(names []string) string {
	var shown []string
	for _, name := range names[:min(len(names), longestList)] {
		if len(name) > longestQuote || strings.ContainsFunc(name, func(r rune) bool { return !strconv.IsPrint(r) }) {
			name = Quote(name)
		}
		shown = append(shown, name)
	}
	if more := len(names) - len(shown); more > 0 {
		shown = append(shown, fmt.Sprintf("and %s more", humanize.Comma(int64(more))))
	}
	return strings.Join(shown, ", ")
}
