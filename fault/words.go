package fault

import (
	"fmt"
	"slices"
	"strconv"
	"strings"
	"unicode/utf8"

	"github.com/dustin/go-humanize"
	"github.com/dustin/go-humanize/english"
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
	return fmt.Sprintf("%s… (%s bytes)", strconv.Quote(string(value[:end])),
		humanize.Comma(int64(len(value))))
}

// List lists names for a message: only the first if there are many, and only the beginning of a
// long name.
func List(names []string) string {
	var shown []string
	for _, name := range names[:min(len(names), longestList)] {
		breaks := func(r rune) bool { return !strconv.IsPrint(r) }
		if len(name) > longestQuote || strings.ContainsFunc(name, breaks) {
			name = Quote(name)
		}
		shown = append(shown, name)
	}
	if more := len(names) - len(shown); more > 0 {
		shown = append(shown, fmt.Sprintf("and %s more", humanize.Comma(int64(more))))
	}
	return strings.Join(shown, ", ")
}

// DidYouMean is the hint for an unknown word: its Nearest, or else the given text.
func DidYouMean(word string, valid []string, otherwise string) string {
	if nearest := Nearest(word, valid); nearest != "" {
		return "did you mean " + nearest + "?"
	}
	return otherwise
}

// OneOf returns a Usage error that begins with place, unless a setting has one of the values.
func OneOf[T ~string](place string, found T, values ...T) error {
	if slices.Contains(values, found) {
		return nil
	}
	var names []string
	for _, value := range values {
		names = append(names, string(value))
	}
	return New(Usage, DidYouMean(string(found), names, "choose one of them"),
		"%s: found %q, expected %s", place, found, english.WordSeries(names, "or"))
}
