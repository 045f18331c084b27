package fault

import (
	"cmp"
	"regexp"
	"slices"
	"strings"
	"unicode/utf8"
)

// Nearest returns the first of the Closest valid words, "" if more than a third of the word, and
// more than two edits, would change.
func Nearest(word string, valid []string) string {
	limit := max(2, utf8.RuneCountInString(word)/3)
	return append(Closest(word, valid, limit), "")[0]
}

// Closest returns the valid words that take the fewest edits (insert, delete, replace or swap a
// character) to reach from word, at most limit; of them, those that share the longest prefix with
// it. Case and the leading zeros of numbers take no edit: YAL1C is YAL001C. A word with other
// digits, and as many, is never close: RAD55 is not RAD50 misspelled. Cost: len(valid) * len(word)
// * len(valid word). For a word of more than longestWord bytes it returns none.
func Closest(word string, valid []string, limit int) (closest []string) {
	if len(word) > longestWord {
		return nil
	}
	best, longest := limit, 0
	word = strings.ToLower(word)
	for _, candidate := range valid {
		other := strings.ToLower(candidate)
		edits, prefix := edits(word, other), commonPrefix(word, other)
		order := cmp.Or(cmp.Compare(edits, best), cmp.Compare(longest, prefix))
		// Replacing every letter turns any short word into any other.
		if order > 0 || edits >= utf8.RuneCountInString(other) || replacesDigit(word, other) {
			continue
		}
		if order < 0 {
			best, longest, closest = edits, prefix, nil
		}
		closest = append(closest, candidate)
	}
	return closest
}

const longestWord = 100

var leadingZeros = regexp.MustCompile(`(^|[^0-9])0+([0-9])`)

func edits(a, b string) int {
	withoutZeros := func(word string) string { return leadingZeros.ReplaceAllString(word, "$1$2") }
	if withoutZeros(a) == withoutZeros(b) {
		return 0
	}
	return editDistance([]rune(a), []rune(b))
}

// replacesDigit reports whether words have as many digits, and different ones.
func replacesDigit(a, b string) bool {
	x, y := digits(a), digits(b)
	return len(x) == len(y) && !slices.Equal(x, y)
}

// digits returns the digits of a word, ascending.
func digits(word string) []byte {
	notDigit := func(c byte) bool { return c < '0' || c > '9' }
	return slices.Sorted(slices.Values(slices.DeleteFunc([]byte(word), notDigit)))
}

// commonPrefix returns the number of characters with which both words begin.
func commonPrefix(a, b string) (n int) {
	x, y := []rune(a), []rune(b)
	for n < min(len(x), len(y)) && x[n] == y[n] {
		n++
	}
	return n
}

// editDistance is the optimal string alignment distance: the Levenshtein
// distance in which swapping two neighbours counts once.
func editDistance(a, b []rune) int {
	beforeLast, last, row := make([]int, len(b)+1), make([]int, len(b)+1), make([]int, len(b)+1)
	for j := range last {
		last[j] = j
	}
	for i := range a {
		row[0] = i + 1
		for j := range b {
			replace := last[j]
			if a[i] != b[j] {
				replace++
			}
			row[j+1] = min(replace, last[j+1]+1, row[j]+1)
			swaps := i > 0 && j > 0 && a[i] == b[j-1]
			if swaps && a[i-1] == b[j] {
				row[j+1] = min(row[j+1], beforeLast[j-1]+1)
			}
		}
		beforeLast, last, row = last, row, beforeLast
	}
	return last[len(b)]
}
