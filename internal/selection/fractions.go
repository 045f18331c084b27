package selection

import (
	"regexp"
	"strconv"
	"strings"

	"tcbuild/fault"
)

// Fraction is a part of a split, and how much of the whole it gets.
type Fraction struct {
	Part       string
	Billionths int64 // of the whole: exact, so that every machine computes the same
}

const whole = 1_000_000_000

// unplaced is the name of the file with the samples that no part can have.
const unplaced = "unplaced"

var (
	partName = regexp.MustCompile(`^[A-Za-z0-9][A-Za-z0-9_-]*$`)
	decimal  = regexp.MustCompile(`^(0|1)?(\.[0-9]{1,9})?$`)
)

const fractionsHint = "write them as in train=0.8,val=0.1,test=0.1"

// ParseFractions reads fractions written as PART=NUMBER, which add up to 1. A number is decimal and
// has up to nine digits behind its point.
func ParseFractions(words []string) ([]Fraction, error) {
	var fractions []Fraction
	sum := int64(0)
	seen := make(map[string]bool)
	for _, word := range words {
		part, number, _ := strings.Cut(word, "=")
		part, number = strings.TrimSpace(part), strings.TrimSpace(number)
		switch {
		case !partName.MatchString(part) || part == unplaced:
			return nil, fault.New(fault.Usage, fractionsHint,
				"read --fractions: found %s, expected a name of letters, digits, _ and -, which is not %s, before =",
				fault.Quote(word), unplaced)
		case seen[strings.ToLower(part)]: // names of files, which some disks take without their case
			return nil, fault.New(fault.Usage, "name each part once", "read --fractions: found part %s twice", part)
		case number == "" || number == "." || !decimal.MatchString(number):
			return nil, fault.New(fault.Usage, fractionsHint,
				"read --fractions: part %s: found %s, expected a decimal number up to 1 with at most 9 digits behind the point",
				part, fault.Quote(number))
		}
		seen[strings.ToLower(part)] = true
		ones, digits, _ := strings.Cut(number, ".")
		billionths, _ := strconv.ParseInt(ones+digits+strings.Repeat("0", 9-len(digits)), 10, 64)
		if billionths == 0 {
			return nil, fault.New(fault.Usage, fractionsHint+", or leave the part out",
				"read --fractions: part %s: found %s, expected more than 0", part, number)
		}
		fractions = append(fractions, Fraction{part, billionths})
		sum += billionths
	}
	if sum != whole {
		return nil, fault.New(fault.Usage, fractionsHint, "read --fractions: found %s, which add up to %s, expected 1",
			strings.Join(words, ","), formatFraction(sum))
	}
	return fractions, nil
}

func formatFraction(billionths int64) string {
	return strconv.FormatFloat(float64(billionths)/whole, 'f', -1, 64)
}

// FormatFractions is the text that ParseFractions reads, in one form for equal fractions.
func FormatFractions(fractions []Fraction) string {
	var words []string
	for _, f := range fractions {
		words = append(words, f.Part+"="+formatFraction(f.Billionths))
	}
	return strings.Join(words, ",")
}

// partIndex is the number of a part.
func partIndex(fractions []Fraction, name string) (index int, hint string) {
	var names []string
	for i, f := range fractions {
		if f.Part == name {
			return i, ""
		}
		names = append(names, f.Part)
	}
	return -1, fault.DidYouMean(name, names, "the parts are "+strings.Join(names, ", "))
}
