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
	partName     = regexp.MustCompile(`^[A-Za-z0-9][A-Za-z0-9_-]*$`)
	partFraction = regexp.MustCompile(
		`^\s*([A-Za-z0-9][A-Za-z0-9_-]*)\s*=\s*([01]?)(?:\.([0-9]{1,9}))?\s*$`)
)

const fractionsHint = "write them as in train=0.8,val=0.1,test=0.1"

// ParseFractions reads fractions written as PART=NUMBER, which add up to 1. A number is decimal and
// has up to nine digits after its point.
func ParseFractions(words []string) ([]Fraction, error) {
	var fractions []Fraction
	sum := int64(0)
	seen := make(map[string]bool)
	for _, word := range words {
		var part string
		var billionths int64
		if match := partFraction.FindStringSubmatch(word); match != nil && match[1] != unplaced {
			part = match[1]
			billionths, _ = strconv.ParseInt(match[2]+match[3]+strings.Repeat("0", 9-len(match[3])),
				10, 64)
		}
		switch {
		case billionths == 0:
			return nil, fault.New(fault.Usage,
				fractionsHint+", without parts of 0; "+unplaced+" is no part's name",
				"read --fractions: found %s, expected PART=NUMBER: a name of letters, "+
					"digits, _ and -, "+
					"and a decimal number above 0 with at most 9 digits after the point",
				fault.Quote(word))
		// names of files, which some disks take without their case
		case seen[strings.ToLower(part)]:
			return nil, fault.New(fault.Usage, "name each part once",
				"read --fractions: found part %s twice", part)
		}
		seen[strings.ToLower(part)] = true
		fractions = append(fractions, Fraction{part, billionths})
		sum += billionths
	}
	if sum != whole {
		return nil, fault.New(fault.Usage, fractionsHint,
			"read --fractions: found %s, which add up to %s, expected 1",
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
